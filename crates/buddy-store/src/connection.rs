//! Connections to the database and the settings that make them safe.

use std::path::Path;
use std::time::Duration;

use buddy_protocol::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::from_sqlite;

/// The first `SQLite` without the race between a checkpoint and a commit that corrupts WAL databases.
const OLDEST_SQLITE: i32 = 3_051_003;

/// The timeout for another process's transaction.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The size of a connection's statement cache: room for every statement of this crate.
const STATEMENTS: usize = 32;

/// The maximum number of problems of a damaged database in one report.
const PROBLEMS: usize = 20;

const WRITER: &str = "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = 1000";

/// The only connection that writes.
pub(crate) fn open_writer(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let mode = connection
        .execute_batch(WRITER)
        .and_then(|()| {
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
        })
        .map_err(|error| name_damage(path, &error))?;
    if mode != "wal" {
        return Err(StoreError::Io(format!(
            "the file system of `{}` cannot hold a database that is written and read at once",
            path.display()
        )));
    }
    Ok(connection)
}

/// A connection that only reads. It is still opened for writing: readers share the index of the write-ahead
/// log and may have to create it.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.execute_batch("PRAGMA query_only = ON").map_err(|error| name_damage(path, &error))?;
    Ok(connection)
}

/// A connection that reads as much as possible of a database that may be damaged.
pub(crate) fn open_salvager(path: &Path) -> Result<Connection, StoreError> {
    let connection = open_reader(path)?;
    // Without this, `SQLite` refuses all of a file that is shorter than its header says, and of one with a damaged schema.
    // Nothing is written, since the connection only reads.
    connection.execute_batch("PRAGMA writable_schema = ON").map_err(|error| name_damage(path, &error))?;
    Ok(connection)
}

/// A connection to a finished file that nobody writes to, such as a backup.
pub(crate) fn open_finished(path: &Path) -> Result<Connection, StoreError> {
    open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// A connection that may write to a file that is being created.
pub(crate) fn open_target(path: &Path) -> Result<Connection, StoreError> {
    open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

#[expect(clippy::disallowed_methods, reason = "this crate contains the SQL")]
fn open(path: &Path, access: OpenFlags) -> Result<Connection, StoreError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        let version = rusqlite::version();
        return Err(StoreError::Io(format!(
            "SQLite {version} can corrupt a database; 3.51.3 or newer is needed"
        )));
    }
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // The end of a short run costs no sync; the writer limits the size of the write-ahead log.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(connection)
    });
    opened.map_err(|error| name_damage(path, &error))
}

/// `SQLite`'s quick check: everything except the agreement of indexes with their tables.
pub(crate) fn quick_check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let problems = problems(connection, "PRAGMA quick_check").map_err(|error| name_damage(path, &error))?;
    match problems.first() {
        None => Ok(()),
        Some(first) => Err(damaged(path, &format!("{first} ({} problems in all)", problems.len()))),
    }
}

/// The problems that a check pragma reports.
pub(crate) fn problems(connection: &Connection, pragma: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare(pragma)?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
    rows.filter(|row| !matches!(row, Ok(text) if text == "ok")).take(PROBLEMS).collect()
}

/// Like [`from_sqlite`], but names the file if it is damaged.
pub(crate) fn name_damage(path: &Path, error: &rusqlite::Error) -> StoreError {
    match from_sqlite(error) {
        StoreError::Corrupt(reason) => damaged(path, &reason),
        other => other,
    }
}

fn damaged(path: &Path, reason: &str) -> StoreError {
    StoreError::Corrupt(format!(
        "`{}`: {reason}; the file was left as it is, and can still be opened for reading",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_sqlite_is_new_enough() {
        assert!(rusqlite::version_number() >= OLDEST_SQLITE, "{}", rusqlite::version());
    }
}
