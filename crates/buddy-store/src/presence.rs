//! The processes that have the store open, and whether the last one closed it cleanly.
//!
//! Every process that may write holds a shared lock on `run/store.lock`. A process that can get it
//! exclusively is the first to open or the last to close. The first removes the clean mark, the last puts it
//! back. Opening and closing happen behind the lock `run/gate.lock`, one process at a time, so that no two
//! can both be first or both be last.
//!
//! The mark names the boot of the machine in which it was written. Neither writing nor removing it is synced.
//! After a power cut a removed mark may be back, but it names another boot and is ignored.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use buddy_protocol::StoreError;

use crate::directory::{StoreDirectory, create_new, open_private};
use crate::error::from_io;
use crate::lock::{LockAttempt, wait_exclusive};

/// The timeout for opening at the gate: another process may be checking a large database.
const OPEN_PATIENCE: Duration = Duration::from_mins(2);

/// The timeout for closing at the gate. Without the mark nothing is lost: the next opener checks the
/// database.
const CLOSE_PATIENCE: Duration = Duration::from_secs(5);

/// The presence of this process among those that have the store open.
#[derive(Debug)]
pub(crate) struct Presence {
    gate: PathBuf,
    mark: PathBuf,
    boot: Option<String>,
    store: File,
}

/// The gate, held while the store is being opened.
pub(crate) struct Arrival {
    presence: Presence,
    _gate: File,
    /// The state in which the store was found.
    pub(crate) found: FoundStore,
}

/// The state in which an opener finds the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoundStore {
    /// Others have it open.
    Open,
    /// No process has it open; the last one closed it.
    Clean,
    /// No process has it open, and the last one did not close it.
    Abandoned,
}

impl Presence {
    /// Enters the gate. Others wait there until [`Arrival::settle`].
    pub(crate) fn arrive(directory: &StoreDirectory, boot: Option<String>) -> Result<Arrival, StoreError> {
        let run = directory.run();
        let gate = run.join("gate.lock");
        let held = match wait_exclusive(&gate, OPEN_PATIENCE)? {
            LockAttempt::Locked(file) => file,
            LockAttempt::Held { .. } => {
                return Err(StoreError::Io(
                    "another process has been opening the store for too long".to_owned(),
                ));
            }
        };
        let path = run.join("store.lock");
        let store = open_private(&path).map_err(|error| from_io("open the lock", &path, &error))?;
        let presence = Self { gate, mark: run.join("clean"), boot, store };
        let found = presence.look().map_err(|error| from_io("lock", &path, &error))?;
        Ok(Arrival { presence, _gate: held, found })
    }

    fn look(&self) -> io::Result<FoundStore> {
        let is_alone = alone(&self.store)?;
        let mark = fs::read_to_string(&self.mark).ok();
        // Every opener removes the mark, not only the first: a lock can look held for a moment after its last
        // holder left, while a child process still has its descriptors.
        match fs::remove_file(&self.mark) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        if !is_alone {
            return Ok(FoundStore::Open);
        }
        let clean = self.boot.is_some() && mark.as_deref() == self.boot.as_deref();
        Ok(if clean { FoundStore::Clean } else { FoundStore::Abandoned })
    }

    /// Leaves. The last process marks the store as clean, unless `clean` is false.
    pub(crate) fn leave(self, clean: bool) -> Result<(), StoreError> {
        let LockAttempt::Locked(gate) = wait_exclusive(&self.gate, CLOSE_PATIENCE)? else {
            return Ok(());
        };
        let outcome = self.mark_when_last(clean).map_err(|error| from_io("write", &self.mark, &error));
        // Release the shared lock before the gate opens.
        drop(self);
        drop(gate);
        outcome
    }

    fn mark_when_last(&self, clean: bool) -> io::Result<()> {
        let Some(boot) = self.boot.as_deref().filter(|_| clean) else { return Ok(()) };
        self.store.unlock()?;
        if alone(&self.store)? {
            create_new(&self.mark)?.write_all(boot.as_bytes())?;
        }
        Ok(())
    }
}

impl Arrival {
    /// Opens the gate for others; from here on the store counts as open.
    pub(crate) fn settle(self) -> Result<Presence, StoreError> {
        let Self { presence, _gate, .. } = self;
        let shared = presence.store.unlock().and_then(|()| presence.store.lock_shared());
        shared.map_err(|error| from_io("lock", &presence.gate, &error))?;
        Ok(presence)
    }

    /// Gives up because the store is unusable. The next opener finds the store in the same state.
    pub(crate) fn turn_round(self) {
        if self.found == FoundStore::Clean {
            let _ = self.presence.mark_when_last(true);
        }
    }
}

/// The kernel's id for this boot of the machine.
pub(crate) fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Whether no other process holds the lock. If so, it is now held exclusively.
fn alone(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
