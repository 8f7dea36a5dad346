//! Opening by `openat2`: the kernel resolves the whole path in one step and refuses paths that lead out, so
//! that there is nothing between a check and its use.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

/// Retries of an open when the kernel could not be sure because of a rename at the same time.
const TRIES: usize = 128;

/// Opens a path relative to a directory. An empty path is the directory itself.
pub(super) fn open(at: impl AsFd, path: &Path, flags: OFlags, resolve: ResolveFlags) -> io::Result<OwnedFd> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    // The kernel refuses flags that have no meaning together with `O_PATH`.
    let always =
        if flags.contains(OFlags::PATH) { OFlags::CLOEXEC } else { OFlags::CLOEXEC | OFlags::NOCTTY };
    let flags = flags | always;
    let resolve = resolve | ResolveFlags::NO_MAGICLINKS;
    let mut tried = 0;
    loop {
        match openat2(at.as_fd(), path, flags, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) if tried < TRIES => tried += 1,
            opened => return Ok(opened?),
        }
    }
}

/// Whether the kernel refused because the path leads out.
pub(super) fn leads_out(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::XDEV)
}

/// Whether the kernel refused because there is a link where none is allowed, or too many of them.
pub(super) fn is_link(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::LOOP)
}

/// The path of an open file or directory, without links.
pub(super) fn real_path(fd: impl AsFd) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()))
}
