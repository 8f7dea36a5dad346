//! What `SQLite`'s and the file system's failures mean for the store.

use std::io;
use std::path::Path;

use buddy_protocol::StoreError;
use rusqlite::ErrorCode;
use rusqlite::ffi;

/// What a failed transaction means for those that come after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing was written and the next attempt stands on its own.
    Transient,
    /// One of the appends may be at fault: they are to be tried one by one.
    Suspect,
    /// The kernel may have dropped what it failed to write, so nothing that this instance believes about the file
    /// can be trusted any more.
    Fatal,
}

/// Judges a failed write.
pub(crate) fn verdict(error: &rusqlite::Error) -> Verdict {
    let Some(failure) = error.sqlite_error() else { return Verdict::Suspect };
    match failure.code {
        ErrorCode::DiskFull | ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Verdict::Transient,
        // The shared index cannot grow on a full disk; it is no part of what is durable.
        ErrorCode::SystemIoFailure if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
            Verdict::Transient
        }
        ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Verdict::Fatal,
        _ => Verdict::Suspect,
    }
}

/// The store's word for a failure of `SQLite`.
pub(crate) fn from_sqlite(error: &rusqlite::Error) -> StoreError {
    let Some(failure) = error.sqlite_error() else { return StoreError::Io(error.to_string()) };
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

/// The store's word for a failure of the file system.
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
        assert_eq!(verdict(&failure(ffi::SQLITE_IOERR_FSYNC)), Verdict::Fatal);
        assert_eq!(verdict(&failure(ffi::SQLITE_IOERR_WRITE)), Verdict::Fatal);
        assert_eq!(verdict(&failure(ffi::SQLITE_FULL)), Verdict::Transient);
        assert_eq!(verdict(&failure(ffi::SQLITE_BUSY)), Verdict::Transient);
        assert_eq!(verdict(&failure(ffi::SQLITE_CONSTRAINT_PRIMARYKEY)), Verdict::Suspect);
    }

    #[test]
    fn a_full_disk_has_its_own_word() {
        assert!(matches!(from_sqlite(&failure(ffi::SQLITE_FULL)), StoreError::Full));
        assert!(matches!(from_sqlite(&failure(ffi::SQLITE_IOERR_SHMSIZE)), StoreError::Full));
        assert!(matches!(from_sqlite(&failure(ffi::SQLITE_NOTADB)), StoreError::Corrupt(_)));
    }
}
