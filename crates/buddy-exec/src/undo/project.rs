//! The lock of a project: calls that change files share it, and an undo has it alone.
//!
//! It is a kernel lock on a file in the store, so it holds between processes and dies with them.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::blobs::make_private;
use super::digest::digest_of;
use super::folder::Shared;
use crate::{FileLock, LockKind};

/// How long a call waits for an undo to end. Undoing takes seconds even in a large tree.
const CALL_WAIT: Duration = Duration::from_mins(1);

/// The right to change files of a project, for a call or for an undo.
#[derive(Debug)]
pub struct ProjectLock(#[expect(dead_code, reason = "held for its lock")] FileLock);

/// The top of the repository that a directory is in, or the directory itself.
pub fn project_root(directory: &Path) -> PathBuf {
    let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let top = real.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok());
    top.unwrap_or(&real).to_owned()
}

impl Shared {
    /// The right of an undo to have a project alone; `None` if calls still change its files when the time is over.
    pub(super) fn claim(&self, directory: &Path, wait: Duration) -> io::Result<Option<ProjectLock>> {
        let lock = FileLock::take_within(&self.project_file(directory)?, LockKind::Exclusive, wait)?;
        Ok(lock.map(ProjectLock))
    }

    /// The right of a call to change files.
    pub(super) fn enter(&self, directory: &Path) -> io::Result<ProjectLock> {
        let lock = FileLock::take_within(&self.project_file(directory)?, LockKind::Shared, CALL_WAIT)?;
        if let Some(lock) = lock {
            return Ok(ProjectLock(lock));
        }
        let seconds = CALL_WAIT.as_secs();
        let text =
            format!("an undo has restored files of this project for {seconds} s; try again when it ended");
        Err(io::Error::new(io::ErrorKind::WouldBlock, text))
    }

    fn project_file(&self, directory: &Path) -> io::Result<PathBuf> {
        let folder = self.folder.join("projects");
        make_private(&self.folder)?;
        make_private(&folder)?;
        let name = digest_of(project_root(directory).as_os_str().as_bytes());
        Ok(folder.join(format!("{name}.lock")))
    }
}
