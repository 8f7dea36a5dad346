//! One buddy at a time uses a session: a kernel lock, which dies with its process.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use crate::{FileLock, LockKind, PaneError, TargetError};

/// Takes the lock of a session, or returns that another process has it.
pub(super) fn take(directory: &Path, session: &str) -> Result<FileLock, TargetError> {
    let path = directory.join(format!("{session}.lock"));
    let failed = |source| TargetError::from_io("lock", &path, source);
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(failed)?;
    let lock = FileLock::try_take(&path, LockKind::Exclusive).map_err(failed)?;
    lock.ok_or_else(|| PaneError::InUse { session: session.to_owned() }.into())
}
