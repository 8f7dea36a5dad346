//! Takes the setuid bit from files that a command has made: the filter of system calls does not see the mode that `openat2` is given.

use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, chmod, fstat, openat2};
use rustix::process::geteuid;

use super::walk::{Budget, Go, Listed, Visited, Visitor, walk};

/// Takes the bit from files of this account beneath the roots that were made or changed since then.
pub(super) fn strip(roots: &[PathBuf], past: &[PathBuf], since: (i64, i64)) {
    let mut budget = Budget::usual();
    for root in roots {
        walk(root, &mut budget, &mut Stripper { past, since });
    }
}

struct Stripper<'a> {
    past: &'a [PathBuf],
    since: (i64, i64),
}

impl Visitor for Stripper<'_> {
    fn enter(&mut self, _: &Visited<'_>) {}

    fn see(&mut self, visited: &Visited<'_>, entry: &Listed) -> Go {
        let path = visited.path.join(&entry.name);
        if entry.kind == FileType::RegularFile {
            // A file that is gone meanwhile, or belongs to another account, needs nothing.
            let _ = self.strip_one(&path);
        }
        if entry.is_directory() && self.past.contains(&path) { Go::Past } else { Go::Into }
    }
}

impl Stripper<'_> {
    fn strip_one(&self, path: &Path) -> rustix::io::Result<()> {
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat2(CWD, path, flags, Mode::empty(), resolve)?;
        let found = fstat(&file)?;
        let mode = Mode::from_raw_mode(found.st_mode);
        let changed = (found.st_ctime, i64::try_from(found.st_ctime_nsec).unwrap_or_default());
        let is_its = found.st_uid == geteuid().as_raw() && changed >= self.since;
        if is_its
            && mode.contains(Mode::SUID)
            && FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
        {
            chmod(format!("/proc/self/fd/{}", file.as_raw_fd()), mode - Mode::SUID)?;
        }
        Ok(())
    }
}
