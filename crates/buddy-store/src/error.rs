//! The translation of `SQLite` and file system failures into store errors.

use std::io;
use std::path::Path;

use buddy_protocol::StoreError;
use rusqlite::ErrorCode;
use rusqlite::ffi;

/// The consequence of a failed transaction for later ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionVerdict {
    /// Nothing was written, and the next attempt is independent.
    Transient,
    /// One of the appends may be at fault, so the writer tries them one by one.
    Suspect,
    /// The kernel may have dropped the data that it failed to write, so this instance can no longer trust its
    /// view of the file.
    Fatal,
}

/// Classifies a failed write.
pub(crate) fn verdict(error: &rusqlite::Error) -> TransactionVerdict {
    let Some(failure) = error.sqlite_error() else { return TransactionVerdict::Suspect };
    match failure.code {
        ErrorCode::DiskFull | ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            TransactionVerdict::Transient
        }
        // The shared index cannot grow on a full disk; it is not part of the durable data.
        ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
            TransactionVerdict::Transient
        }
        ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            TransactionVerdict::Fatal
        }
        _ => TransactionVerdict::Suspect,
    }
}

/// The store error for an `SQLite` failure.
pub(crate) fn from_sqlite(error: &rusqlite::Error) -> StoreError {
    let Some(failure) = error.sqlite_error() else {
        let reason = error.to_string();
        return if is_bad_value(error) { StoreError::Corrupt(reason) } else { StoreError::Io(reason) };
    };
    match failure.code {
        ErrorCode::DiskFull => StoreError::Full,
        ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => StoreError::Full,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => StoreError::Corrupt(error.to_string()),
        ErrorCode::DatabaseBusy => {
            StoreError::Io("another process keeps the store locked for too long".to_owned())
        }
        _ => StoreError::Io(error.to_string()),
    }
}

/// Whether a row has a value that buddy never writes there. A row of which a part is missing has zeros instead.
fn is_bad_value(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    )
}

/// The store error for a file system failure.
pub(crate) fn from_io(what: &str, path: &Path, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full,
        _ => StoreError::Io(format!("cannot {what} `{}`: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(extended: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(extended), None)
    }

    #[test]
    fn only_a_failed_write_to_the_file_is_fatal() {
        assert_eq!(verdict(&failure(ffi::SQLITE_IOERR_FSYNC)), TransactionVerdict::Fatal);
        assert_eq!(verdict(&failure(ffi::SQLITE_IOERR_WRITE)), TransactionVerdict::Fatal);
        assert_eq!(verdict(&failure(ffi::SQLITE_FULL)), TransactionVerdict::Transient);
        assert_eq!(verdict(&failure(ffi::SQLITE_BUSY)), TransactionVerdict::Transient);
        assert_eq!(verdict(&failure(ffi::SQLITE_CONSTRAINT_PRIMARYKEY)), TransactionVerdict::Suspect);
    }

    #[test]
    fn a_full_disk_has_its_own_word() {
        assert!(matches!(from_sqlite(&failure(ffi::SQLITE_FULL)), StoreError::Full));
        assert!(matches!(from_sqlite(&failure(ffi::SQLITE_IOERR_SHMSIZE)), StoreError::Full));
        assert!(matches!(from_sqlite(&failure(ffi::SQLITE_NOTADB)), StoreError::Corrupt(_)));
    }
}
