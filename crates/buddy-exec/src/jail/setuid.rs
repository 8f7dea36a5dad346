//! Takes the setuid bit from files that a command has made: the filter of system calls does not see the mode that `openat2` is given.

use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat, chmod, fstat, lstat, openat2};
use rustix::process::geteuid;

use super::walk::{Budget, Go, Listed, Visited, Visitor, walk};

/// Takes the bit from files of this account beneath the roots that were made or changed since then.
pub(super) fn strip(roots: &[PathBuf], past: &[PathBuf], since: (i64, i64)) {
    let mut budget = Budget::usual();
    for root in roots {
        walk(root, &mut budget, &mut Stripper { past, since, is_changed: false });
    }
}

struct Stripper<'a> {
    past: &'a [PathBuf],
    since: (i64, i64),
    /// Whether names were added to the directory that was entered, or taken from it, since then.
    is_changed: bool,
}

impl Visitor for Stripper<'_> {
    fn enter(&mut self, visited: &Visited<'_>) {
        // The bit comes with a new file, as the filter sees every change of a mode. A new name changes the time of its directory, which
        // nobody can set back. One that cannot be read is searched.
        self.is_changed = lstat(visited.path).map_or(true, |found| changed(&found) >= self.since);
    }

    fn see(&mut self, visited: &Visited<'_>, entry: &Listed) -> Go {
        match entry.kind {
            FileType::RegularFile if self.is_changed => {
                // A file that is gone meanwhile, or belongs to another account, needs nothing.
                let _ = self.strip_one(&visited.path.join(&entry.name));
                Go::Past
            }
            FileType::Directory if !self.past.contains(&visited.path.join(&entry.name)) => Go::Into,
            _ => Go::Past,
        }
    }
}

/// The time of the last change of an object or of its names.
fn changed(found: &Stat) -> (i64, i64) {
    (found.st_ctime, i64::try_from(found.st_ctime_nsec).unwrap_or_default())
}

impl Stripper<'_> {
    fn strip_one(&self, path: &Path) -> rustix::io::Result<()> {
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat2(CWD, path, flags, Mode::empty(), resolve)?;
        let found = fstat(&file)?;
        let mode = Mode::from_raw_mode(found.st_mode);
        let is_its = found.st_uid == geteuid().as_raw() && changed(&found) >= self.since;
        if is_its
            && mode.contains(Mode::SUID)
            && FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
        {
            chmod(format!("/proc/self/fd/{}", file.as_raw_fd()), mode - Mode::SUID)?;
        }
        Ok(())
    }
}
