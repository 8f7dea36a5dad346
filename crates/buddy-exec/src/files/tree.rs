//! A tree that is looked at as a whole: directories below its top, through no link and no mount.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat};

use super::beneath;

/// The top of a tree.
pub(crate) struct TreeTop(OwnedFd);

/// Opens the top of a tree.
pub(crate) fn open_tree(root: &Path) -> io::Result<TreeTop> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(TreeTop(openat(CWD, root, flags, Mode::empty())?))
}

impl TreeTop {
    /// A directory below the top; the empty path is the top itself.
    pub(crate) fn directory(&self, below: &Path) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        beneath::open(&self.0, below, OFlags::RDONLY | OFlags::DIRECTORY, resolve)
    }
}
