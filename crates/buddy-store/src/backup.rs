//! Backup: a consistent copy, made while others write and read back before it gets its name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use buddy_protocol::StoreError;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::connection::{BUSY_TIMEOUT, open_finished, open_target, quick_check};
use crate::directory::{create_new, sync_directory};
use crate::error::{from_io, from_sqlite};

/// Copies all pages in one step, so that the copy is consistent and no writer makes it start over.
const ALL_PAGES: i32 = -1;

/// The contents of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupReport {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// The sessions in it.
    pub sessions: u64,
    /// The events in it.
    pub events: u64,
}

/// Copies the database to `target`, which must not exist. The file appears only once the copy is whole and
/// durable.
pub(crate) fn backup(source: &Connection, target: &Path) -> Result<BackupReport, StoreError> {
    let Some(name) = target.file_name() else {
        return Err(StoreError::Io(format!("`{}` is no name for a file", target.display())));
    };
    if fs::symlink_metadata(target).is_ok() {
        return Err(StoreError::Io(format!("`{}` exists and is not overwritten", target.display())));
    }
    let parent = match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let parent = parent.canonicalize().map_err(|error| from_io("find", parent, &error))?;
    let partial = parent.join(format!(".{}.partial", name.to_string_lossy()));
    let target = parent.join(name);
    create_new(&partial).map_err(|error| from_io("make", &partial, &error))?;
    let report = copy(source, &partial).and_then(|report| {
        publish(&partial, &target, &parent).map_err(|error| from_io("make", &target, &error))?;
        Ok(BackupReport { path: target, ..report })
    });
    if report.is_err() {
        let _ = fs::remove_file(&partial);
    }
    report
}

fn copy(source: &Connection, partial: &Path) -> Result<BackupReport, StoreError> {
    let sql = |error: rusqlite::Error| from_sqlite(&error);
    let mut target = open_target(partial)?;
    let step = Backup::new(source, &mut target).and_then(|backup| backup.step(ALL_PAGES)).map_err(sql)?;
    if step != StepResult::Done {
        return Err(StoreError::Io("the store is too busy to be copied".to_owned()));
    }
    // A single file without a write-ahead log beside it. The store switches back when it opens the copy.
    target
        .pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get::<_, String>(0))
        .and_then(|_| target.close().map_err(|(_, error)| error))
        .map_err(sql)?;
    read_back(partial)
}

fn read_back(partial: &Path) -> Result<BackupReport, StoreError> {
    let copy = open_finished(partial)?;
    copy.busy_timeout(BUSY_TIMEOUT).map_err(|error| from_sqlite(&error))?;
    quick_check(&copy, partial)?;
    let count = |sql: &str| {
        copy.query_row(sql, [], |row| row.get::<_, i64>(0))
            .map(i64::cast_unsigned)
            .map_err(|error| from_sqlite(&error))
    };
    let sessions = count("SELECT count(*) FROM logs")?;
    let events = count("SELECT count(*) FROM events")?;
    let bytes = fs::metadata(partial).map_err(|error| from_io("look at", partial, &error))?.len();
    Ok(BackupReport { path: partial.to_owned(), bytes, sessions, events })
}

fn publish(partial: &Path, target: &Path, parent: &Path) -> io::Result<()> {
    fs::File::open(partial)?.sync_all()?;
    renameat_with(CWD, partial, CWD, target, RenameFlags::NOREPLACE)?;
    sync_directory(parent)
}
