//! The lease: the right to write to one session, which one holder has among all processes.
//!
//! A lease is a kernel lock on `run/leases/<session>.lock`. The file is removed while its lock is still held, so that
//! lease files do not pile up. Whoever had it open by then locks a file that is no longer there, notices that the
//! path leads elsewhere, and tries anew.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use buddy_protocol::{Clock, SessionId, StoreError};

use crate::append::LogState;
use crate::directory::Directory;
use crate::error::from_io;
use crate::lock::{Attempt, try_exclusive, write_holder};

/// How often a lease is tried when its file is removed just then. Each miss means that somebody else had the lease
/// in between, so that only heavy contention gets near the bound.
const ATTEMPTS: usize = 100;

/// How many files of dead holders are removed at once; the rest have their turn the next time.
const SWEPT: usize = 1000;

/// The right to write to one session. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) session: SessionId,
    /// What the writer thread knows about the log. True as long as the lease is held, because nobody else can write;
    /// none until the first append and after a failed one. Only the writer thread locks it.
    pub(crate) state: Mutex<Option<LogState>>,
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Lease {
    pub(crate) fn take(
        directory: &Directory,
        session: &SessionId,
        clock: &dyn Clock,
    ) -> Result<Self, StoreError> {
        let path = directory.leases().join(format!("{session}.lock"));
        for _ in 0..ATTEMPTS {
            let mut file = match try_exclusive(&path)? {
                Attempt::Locked(file) => file,
                Attempt::Held { holder } => {
                    return Err(StoreError::Busy { session: session.clone(), holder });
                }
            };
            if leads_to(&path, &file) {
                write_holder(&mut file, clock).map_err(|error| from_io("write", &path, &error))?;
                return Ok(Self { session: session.clone(), state: Mutex::new(None), path, _file: file });
            }
        }
        Err(StoreError::Busy { session: session.clone(), holder: "other processes, by turns".to_owned() })
    }
}

/// Removes lease files whose holders died.
pub(crate) fn sweep(directory: &Directory) {
    let Ok(entries) = fs::read_dir(directory.leases()) else { return };
    for entry in entries.flatten().take(SWEPT) {
        let path = entry.path();
        match try_exclusive(&path) {
            Ok(Attempt::Locked(file)) if leads_to(&path, &file) => drop(fs::remove_file(&path)),
            _ => {}
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "cannot remove a lease file");
        }
    }
}

fn leads_to(path: &Path, file: &File) -> bool {
    match (fs::symlink_metadata(path), file.metadata()) {
        (Ok(there), Ok(here)) => there.dev() == here.dev() && there.ino() == here.ino(),
        _ => false,
    }
}
