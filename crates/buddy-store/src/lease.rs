//! The lease: the right to write to one session, which one holder has among all processes.
//!
//! A lease is a kernel lock on `run/leases/<session>.lock`. The holder removes the file while it still has
//! the lock, so that lease files do not pile up. A process that had the file open by then locks a deleted
//! file, notices that the path leads elsewhere, and tries again.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use buddy_protocol::{Clock, SessionId, StoreError};

use crate::directory::StoreDirectory;
use crate::error::from_io;
use crate::lock::{LockAttempt, try_exclusive, write_holder};
use crate::log_state::WriterLogState;

/// The number of attempts to take a lease whose file is removed at that moment. Each miss means that another
/// process had the lease in between, so only heavy contention gets near the bound.
const ATTEMPTS: usize = 100;

/// The maximum number of files of dead holders to remove at once; the next sweep removes the rest.
const SWEPT: usize = 1000;

/// The right to write to one session. Dropping it releases it.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) session: SessionId,
    /// The writer thread's cached state of the log. It is valid while the lease is held, because nobody else
    /// can write. `None` until the first append and after a failed one. Only the writer thread locks it.
    pub(crate) state: Mutex<Option<WriterLogState>>,
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Lease {
    pub(crate) fn take(
        directory: &StoreDirectory,
        session: &SessionId,
        clock: &dyn Clock,
    ) -> Result<Self, StoreError> {
        let path = directory.leases().join(format!("{session}.lock"));
        for _ in 0..ATTEMPTS {
            let mut file = match try_exclusive(&path)? {
                LockAttempt::Locked(file) => file,
                LockAttempt::Held { holder } => {
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

/// Whether a process that lives holds the lease of a session.
///
/// The note in the file names the holder. Only if that process is gone is the lock itself tried, because a look that holds the lock
/// for a moment would turn away a process that takes the lease.
pub(crate) fn is_held(directory: &StoreDirectory, session: &SessionId) -> bool {
    let path = directory.leases().join(format!("{session}.lock"));
    let Ok(note) = fs::read_to_string(&path) else { return false };
    let holder = note.split_whitespace().next().and_then(|pid| pid.parse::<u32>().ok());
    if holder.is_some_and(|pid| Path::new("/proc").join(pid.to_string()).exists()) {
        return true;
    }
    File::open(&path).is_ok_and(|file| file.try_lock_shared().is_err())
}

/// Removes lease files whose holders died.
pub(crate) fn sweep(directory: &StoreDirectory) {
    let Ok(entries) = fs::read_dir(directory.leases()) else { return };
    for entry in entries.flatten().take(SWEPT) {
        let path = entry.path();
        match try_exclusive(&path) {
            Ok(LockAttempt::Locked(file)) if leads_to(&path, &file) => drop(fs::remove_file(&path)),
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
