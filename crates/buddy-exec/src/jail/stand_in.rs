//! Stand-ins: harmless files at names in a repository's own directory that are missing, so that a mount can
//! stand there.
//!
//! git works the same with them, in every command of 2.39 and 2.47 that was tried, so that one that a killed
//! supervisor left does no harm; the next jail takes it up. Nothing is put into a work tree. Every jail that
//! uses a stand-in holds a shared lock on it. A jail that gets the exclusive lock at the end was the last,
//! and removes it. Removing it earlier would take the mount away from under the others.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::{FileMode, FileSync, create_file};

/// Names that get a stand-in, and its content; a directory if there is none. `.` makes git look for the files
/// that work trees share in the same directory, which it does without the file too.
const STAND_INS: &[(&str, Option<&[u8]>)] = &[
    ("commondir", Some(b".\n")),
    ("config.worktree", Some(b"# held by buddy while a command runs\n")),
    ("hooks", None),
];

/// Sticky, and writable by nobody: the mode that marks a directory that only holds a name.
const HELD: u32 = 0o1555;
const MODE_BITS: u32 = 0o7777;

/// Retries when a stand-in vanishes between being found and being locked, as its last user ends.
const MAX_TRIES: usize = 100;

/// A stand-in that stays as long as this value.
#[derive(Debug)]
pub(super) struct StandIn {
    path: PathBuf,
    /// Holds the shared lock.
    held: File,
}

impl StandIn {
    /// Puts a stand-in at a missing part of a repository's own directory, or shares the existing one. `None`
    /// for parts that need none, and if another object is there by now.
    pub(super) fn at(git: &Path, part: &str) -> io::Result<Option<Self>> {
        let Some((_, content)) = STAND_INS.iter().find(|(name, _)| *name == part) else { return Ok(None) };
        let path = git.join(part);
        for _ in 0..MAX_TRIES {
            match make(&path, *content) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Ok(()) | Err(_) => {}
            }
            match Self::share(&path) {
                Ok(Some(shared)) => return Ok(Some(shared)),
                Ok(None) if is_stand_in(&path) => {}
                Ok(None) => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("the stand-in vanishes again and again"))
    }

    /// Shares the stand-in at a path. `None` if there is none, or another one by now.
    fn share(path: &Path) -> io::Result<Option<Self>> {
        if !is_stand_in(path) {
            return Ok(None);
        }
        let held = File::open(path)?;
        held.lock_shared()?;
        let (ours, there) = (held.metadata()?, fs::symlink_metadata(path)?);
        let is_same = (ours.dev(), ours.ino()) == (there.dev(), there.ino());
        Ok(is_same.then(|| Self { path: path.to_owned(), held }))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        if self.held.try_lock().is_ok() && is_stand_in(&self.path) {
            let _ = remove(&self.path);
        }
    }
}

/// Makes it in one step, so that git never finds a half.
fn make(path: &Path, content: Option<&[u8]>) -> io::Result<()> {
    let Some(content) = content else { return DirBuilder::new().mode(HELD).create(path) };
    create_file(path, content, FileMode::Masked(0o444), FileSync::Later)
}

fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) }
}

/// Whether a stand-in of this account is at a path, so that nothing is really there.
pub(crate) fn is_stand_in(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let Some((_, content)) = STAND_INS.iter().find(|(part, _)| name == *part) else { return false };
    match content {
        None => is_held_directory(path),
        Some(content) => {
            let is_file = fs::symlink_metadata(path)
                .is_ok_and(|found| found.is_file() && found.len() == content.len() as u64 && is_ours(&found));
            let mut there = Vec::new();
            let limit = content.len() as u64;
            is_file
                && File::open(path).and_then(|file| file.take(limit).read_to_end(&mut there)).is_ok()
                && there == *content
        }
    }
}

fn is_ours(found: &fs::Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}

fn is_held_directory(path: &Path) -> bool {
    let is_marked = fs::symlink_metadata(path).is_ok_and(|found| {
        found.is_dir() && found.permissions().mode() & MODE_BITS == HELD && is_ours(&found)
    });
    is_marked && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Removes the stand-ins in a repository's own directory that no jail uses any more.
pub(super) fn clear_stand_ins(git: &Path) {
    for (part, _) in STAND_INS {
        // If this was its last user, the stand-in goes with this value.
        drop(StandIn::share(&git.join(part)));
    }
}

/// Removes an empty directory that an older version left at a protected name. Returns whether there was one.
pub(super) fn clear_left_behind(path: &Path) -> bool {
    // Held by a lock while it is in use; removing checks that it is empty.
    is_held_directory(path)
        && File::open(path).is_ok_and(|directory| directory.try_lock().is_ok())
        && fs::remove_dir(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_user_removes_it() {
        for part in ["commondir", "config.worktree", "hooks"] {
            let folder = tempfile::tempdir().unwrap();
            let first = StandIn::at(folder.path(), part).unwrap().unwrap();
            let second = StandIn::at(folder.path(), part).unwrap().unwrap();
            drop(first);
            assert!(folder.path().join(part).exists());
            drop(second);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{part}");
        }
    }

    #[test]
    fn existing_files_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("commondir"), "../..\n").unwrap();
        assert!(StandIn::at(folder.path(), "commondir").unwrap().is_none());
        assert_eq!(fs::read(folder.path().join("commondir")).unwrap(), b"../..\n");
        assert!(StandIn::at(folder.path(), "config").unwrap().is_none());
    }

    #[test]
    fn one_that_was_left_behind_is_taken_up() {
        let folder = tempfile::tempdir().unwrap();
        std::mem::forget(StandIn::at(folder.path(), "config.worktree").unwrap());
        // The lock of the forgotten one is this process's own, so the test only looks.
        assert!(is_stand_in(&folder.path().join("config.worktree")));
        let old = folder.path().join(".mcp.json");
        DirBuilder::new().mode(HELD).create(&old).unwrap();
        assert!(clear_left_behind(&old) && !old.exists());
    }
}
