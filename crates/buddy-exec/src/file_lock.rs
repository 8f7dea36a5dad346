//! Locks between processes: kernel locks on files, which die with their process.
//!
//! A lock file has no content and stays when its lock is gone: one that is removed while another process waits
//! for it would guard nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

/// The pause between two tries: the kernel has no lock with a timeout.
const PAUSE: Duration = Duration::from_millis(10);

/// Who may hold a lock beside this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    /// All who share it too.
    Shared,
    /// Nobody.
    Exclusive,
}

/// A held lock.
///
/// It is released explicitly and not only by closing: a child process that is just being started has the open
/// file too, until it becomes its program.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Takes the lock of a file, which is made when missing; `None` if another process is in the way.
    pub fn try_take(path: &Path, kind: LockKind) -> io::Result<Option<Self>> {
        try_lock(open(path)?, kind)
    }

    /// The same after waiting for it up to this long.
    pub fn take_within(path: &Path, kind: LockKind, wait: Duration) -> io::Result<Option<Self>> {
        let until = Instant::now() + wait;
        loop {
            match Self::try_take(path, kind)? {
                None if Instant::now() < until => thread::sleep(PAUSE),
                taken => return Ok(taken),
            }
        }
    }

    /// Waits for the lock of a file for as long as it takes: only for locks that are held for a few steps.
    pub fn take(path: &Path, kind: LockKind) -> io::Result<Self> {
        let file = open(path)?;
        match kind {
            LockKind::Shared => file.lock_shared()?,
            LockKind::Exclusive => file.lock()?,
        }
        Ok(Self(file))
    }

    /// The locked file.
    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing releases it as well, if a little later.
        let _ = self.0.unlock();
    }
}

/// Opens a lock file. A planted link is not followed, and a planted pipe is not waited for.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(path)
}

fn try_lock(file: File, kind: LockKind) -> io::Result<Option<FileLock>> {
    let tried = match kind {
        LockKind::Shared => file.try_lock_shared(),
        LockKind::Exclusive => file.try_lock(),
    };
    match tried {
        Ok(()) => Ok(Some(FileLock(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn one_holds_a_lock_alone_or_many_share_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let take = |kind| FileLock::try_take(&path, kind).unwrap();
        let alone = take(LockKind::Exclusive).unwrap();
        assert!(take(LockKind::Exclusive).is_none() && take(LockKind::Shared).is_none());
        drop(alone);
        let shared = take(LockKind::Shared).unwrap();
        assert!(take(LockKind::Shared).is_some() && take(LockKind::Exclusive).is_none());
        drop(shared);
        assert!(take(LockKind::Exclusive).is_some());
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_lock_is_waited_for_up_to_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = FileLock::take(&path, LockKind::Exclusive).unwrap();
        let within = |wait| FileLock::take_within(&path, LockKind::Shared, wait).unwrap();
        assert!(within(Duration::ZERO).is_none());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| within(Duration::from_mins(1)).is_some());
            drop(held);
            assert!(waiting.join().unwrap());
        });
    }

    #[test]
    fn a_planted_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (folder.path().join("lock"), folder.path().join("elsewhere"));
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        FileLock::try_take(&path, LockKind::Exclusive).unwrap_err();
        assert!(!elsewhere.exists());
    }
}
