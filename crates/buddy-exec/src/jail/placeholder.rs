//! Placeholders: empty directories at protected names that do not exist, so that a mount can stand there.
//!
//! A placeholder is a directory and never a file, because removing a directory checks in the same step that it is still
//! empty. It is known by its mode, which nobody else gives a directory. Every jail that uses one holds a shared lock on it;
//! who can have it alone at the end was the last, and removes it. Removing it earlier would take the mount away from
//! under the others. One that was left by a supervisor that was killed is taken up by the next jail.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Sticky, and writable by nobody: the mark of a placeholder. Given at its making, so that it is never seen without.
const MODE: u32 = 0o1555;
const STICKY: u32 = 0o1000;
const WRITABLE: u32 = 0o222;

/// How often a placeholder may vanish between being found and being locked, as its last user goes.
const MAX_TRIES: usize = 100;

/// A placeholder that stays as long as this value.
#[derive(Debug)]
pub(super) struct Placeholder {
    path: PathBuf,
    /// Holds the shared lock.
    directory: File,
}

impl Placeholder {
    /// Makes one, or shares one that is there. `None` when something else is there by now.
    pub(super) fn at(path: &Path) -> io::Result<Option<Self>> {
        for _ in 0..MAX_TRIES {
            match fs::DirBuilder::new().mode(MODE).create(path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Ok(()) | Err(_) => {}
            }
            match Self::share(path) {
                Ok(Some(placeholder)) => return Ok(Some(placeholder)),
                Ok(None) if is_placeholder_at(path) || !path.exists() => {}
                Ok(None) => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("the placeholder vanishes again and again"))
    }

    /// Shares the placeholder at a path. `None` when there is none, or another one by now.
    fn share(path: &Path) -> io::Result<Option<Self>> {
        if !is_placeholder_at(path) {
            return Ok(None);
        }
        let directory = File::open(path)?;
        directory.lock_shared()?;
        let (ours, there) = (directory.metadata()?, fs::symlink_metadata(path)?);
        let is_same = (ours.dev(), ours.ino()) == (there.dev(), there.ino());
        Ok(is_same.then(|| Self { path: path.to_owned(), directory }))
    }
}

impl Drop for Placeholder {
    fn drop(&mut self) {
        match self.directory.try_lock() {
            // Fails when it is no longer empty, and then it is no longer ours.
            Ok(()) if is_placeholder_at(&self.path) => drop(fs::remove_dir(&self.path)),
            Ok(()) | Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
        }
    }
}

/// Whether a placeholder of this account is at a path, so that nothing is really there.
pub fn is_placeholder_at(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| is_placeholder(&found))
}

/// Whether this describes a placeholder, ours or that of another jail of the same account.
pub(super) fn is_placeholder(found: &Metadata) -> bool {
    found.is_dir() && is_placeholder_by(found.permissions().mode(), found.uid())
}

/// Whether a directory with this mode and owner is a placeholder.
pub(crate) fn is_placeholder_by(mode: u32, owner: u32) -> bool {
    owner == rustix::process::geteuid().as_raw() && mode & STICKY != 0 && mode & WRITABLE == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_user_removes_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("name");
        let first = Placeholder::at(&path).unwrap().unwrap();
        let second = Placeholder::at(&path).unwrap().unwrap();
        drop(first);
        assert!(path.is_dir());
        drop(second);
        assert!(!path.exists());
    }

    #[test]
    fn what_was_there_before_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("name");
        fs::create_dir(&path).unwrap();
        assert!(Placeholder::at(&path).unwrap().is_none());
        assert!(path.is_dir());
        fs::remove_dir(&path).unwrap();
        fs::write(&path, "").unwrap();
        assert!(Placeholder::at(&path).unwrap().is_none());
        assert!(path.is_file());
    }

    #[test]
    fn what_is_no_longer_empty_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("name");
        let placeholder = Placeholder::at(&path).unwrap().unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(path.join("file"), "kept").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(MODE)).unwrap();
        drop(placeholder);
        assert_eq!(fs::read(path.join("file")).unwrap(), b"kept");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    }

    #[test]
    fn one_that_was_left_behind_is_taken_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("name");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(MODE)).unwrap();
        drop(Placeholder::at(&path).unwrap().unwrap());
        assert!(!path.exists());
    }
}
