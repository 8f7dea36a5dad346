//! The lock of a project: calls that change files share it, and an undo has it alone.
//!
//! It is a kernel lock on a file in the store, so it holds between processes and dies with them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::blobs::make_private;
use super::digest::digest_of;
use super::folder::Shared;

/// How long a call waits for an undo to end. Undoing takes seconds even in a large tree.
const CALL_WAIT: Duration = Duration::from_mins(1);
/// How often a lock is tried: the kernel has no lock with a timeout.
const RETRY: Duration = Duration::from_millis(20);

/// The right to change files of a project, for a call or for an undo.
#[derive(Debug)]
pub struct ProjectLock {
    _file: File,
}

/// The top of the repository that a directory is in, or the directory itself.
pub fn project_root(directory: &Path) -> PathBuf {
    let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
    let top = real.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok());
    top.unwrap_or(&real).to_owned()
}

impl Shared {
    /// The right of an undo to have a project alone; `None` if calls still change its files when the time is over.
    pub(super) fn claim(&self, directory: &Path, wait: Duration) -> io::Result<Option<ProjectLock>> {
        let file = self.project_file(directory)?;
        let is_locked = lock_within(&file, FlockOperation::NonBlockingLockExclusive, wait)?;
        Ok(is_locked.then_some(ProjectLock { _file: file }))
    }

    /// The right of a call to change files.
    pub(super) fn enter(&self, directory: &Path) -> io::Result<ProjectLock> {
        let file = self.project_file(directory)?;
        if lock_within(&file, FlockOperation::NonBlockingLockShared, CALL_WAIT)? {
            return Ok(ProjectLock { _file: file });
        }
        let seconds = CALL_WAIT.as_secs();
        let text =
            format!("an undo has restored files of this project for {seconds} s; try again when it ended");
        Err(io::Error::new(io::ErrorKind::WouldBlock, text))
    }

    fn project_file(&self, directory: &Path) -> io::Result<File> {
        let folder = self.folder.join("projects");
        make_private(&self.folder)?;
        make_private(&folder)?;
        let name = digest_of(project_root(directory).as_os_str().as_bytes());
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        options.open(folder.join(format!("{name}.lock")))
    }
}

/// Tries a lock until it is had or the time is over.
fn lock_within(file: &File, operation: FlockOperation, wait: Duration) -> io::Result<bool> {
    let deadline = Instant::now() + wait;
    loop {
        match flock(file, operation) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) if Instant::now() < deadline => std::thread::sleep(RETRY),
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
}
