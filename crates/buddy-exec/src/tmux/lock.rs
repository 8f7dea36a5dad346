//! One buddy at a time uses a session: a kernel lock, which dies with its process.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::{PaneError, TargetError};

/// A held lock.
///
/// It is released explicitly and not only by closing: a child process that is just being started has the open
/// file too, until it becomes its program.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing releases it as well, if a little later.
        let _ = self.0.unlock();
    }
}

/// Takes the lock of a session, or returns that another process has it.
pub(super) fn take(directory: &Path, session: &str) -> Result<Lock, TargetError> {
    let path = directory.join(format!("{session}.lock"));
    let failed = |source| TargetError::from_io("lock", &path, source);
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => Err(PaneError::InUse { session: session.to_owned() }.into()),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}
