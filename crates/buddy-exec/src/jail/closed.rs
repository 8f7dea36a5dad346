//! Directories of this account that a command has closed to it: they are opened for a search, and then closed
//! again.
//!
//! A mode does not keep the owner out of a directory, so it must not keep a search out either.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags, ResolveFlags, accessat, chmod, fstat, openat2};
use rustix::process::geteuid;

/// A directory by itself, which can be opened without a right to read it.
const BARE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A directory that the owner has all rights in for as long as this value lives.
#[derive(Debug)]
pub(super) struct Unlocked {
    directory: OwnedFd,
    mode: Mode,
}

impl Unlocked {
    /// `None` if the directory is not of this account, or lacks no right.
    pub(super) fn new(directory: OwnedFd) -> Option<Self> {
        let found = fstat(&directory).ok()?;
        let mode = Mode::from_raw_mode(found.st_mode);
        let is_closed = found.st_uid == geteuid().as_raw() && !mode.contains(Mode::RWXU);
        if !is_closed || chmod(by_number(&directory), mode | Mode::RWXU).is_err() {
            return None;
        }
        Some(Self { directory, mode })
    }

    /// Leaves it open.
    pub(super) fn keep(mut self) {
        self.mode |= Mode::RWXU;
    }
}

impl Drop for Unlocked {
    fn drop(&mut self) {
        // If it is gone meanwhile, there is nothing to close.
        let _ = chmod(by_number(&self.directory), self.mode);
    }
}

fn by_number(directory: &OwnedFd) -> PathBuf {
    Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string())
}

/// Opens a directory by itself, without a link on the way.
pub(super) fn open_bare(path: &Path) -> io::Result<OwnedFd> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(CWD, path, BARE, Mode::empty(), resolve)?)
}

/// Opens all closed directories on the way to a directory.
pub(super) fn unlock_way(to: &Path) -> Vec<Unlocked> {
    let mut unlocked = Vec::new();
    let mut above: Vec<&Path> = to.ancestors().skip(1).collect();
    above.reverse();
    for directory in above {
        let Ok(directory) = open_bare(directory) else { break };
        let can_enter =
            fstat(&directory).is_ok_and(|found| Mode::from_raw_mode(found.st_mode).contains(Mode::XUSR));
        if !can_enter {
            unlocked.extend(Unlocked::new(directory));
        }
    }
    unlocked
}

/// Whether this account could create a file in a directory that it cannot list.
pub(super) fn is_writable(path: &Path) -> bool {
    accessat(CWD, path, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW)
        .is_ok()
}
