//! The lock under which the file changes: a kernel lock, which is gone when its process is.

use std::time::Duration;

use buddy_exec::{FileLock, LockKind};
use tokio::time::{Instant, sleep};

use super::contents::AuthContents;
use super::file::{AuthStore, AuthStoreError};

/// How long the lock is waited for: somebody else's refresh may take its full time.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long to wait before asking again: long enough to cost nothing, short enough not to be felt.
const POLL: Duration = Duration::from_millis(10);

/// The file, with the right to change it.
#[derive(Debug)]
pub(crate) struct Locked {
    store: AuthStore,
    _lock: FileLock,
}

impl AuthStore {
    /// Waits for the lock.
    pub(crate) async fn lock(&self) -> Result<Locked, AuthStoreError> {
        let path = self.directory().join("auth.lock");
        let cannot = |error: &dyn std::fmt::Display| AuthStoreError::new("lock", &path, error);
        self.make_directory().map_err(|error| cannot(&error))?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match FileLock::try_take(&path, LockKind::Exclusive).map_err(|error| cannot(&error))? {
                Some(lock) => {
                    self.recover().map_err(|error| cannot(&error))?;
                    return Ok(Locked { store: self.clone(), _lock: lock });
                }
                None if Instant::now() < deadline => sleep(POLL).await,
                None => return Err(cannot(&"another buddy has been changing it for a minute")),
            }
        }
    }
}

impl Locked {
    /// The present content of the file.
    pub(crate) fn read(&self) -> Result<AuthContents, AuthStoreError> {
        self.store.read()
    }

    /// Replaces it; durable when this returns.
    pub(crate) fn write(&self, contents: &AuthContents) -> Result<(), AuthStoreError> {
        self.store.write(contents)
    }
}
