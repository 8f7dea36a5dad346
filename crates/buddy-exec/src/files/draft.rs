//! A draft: a new file beside the one it is to replace, which takes its place in one step or is removed
//! again.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Stat, Uid, fchown, fstat, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::spot::Spot;
use crate::random::random;

/// The number of names that are tried before giving up. A name has 64 random bits.
const TRIES: usize = 16;

/// A file under a name of its own, which no other process has made (`O_EXCL`). Dropping it removes
/// it.
pub(crate) struct Draft {
    pub(crate) file: File,
    directory: Arc<OwnedFd>,
    name: OsString,
    is_kept: bool,
}

impl Draft {
    /// A new draft in the directory of the spot. The mode is cut by the account's mask.
    pub(crate) fn beside(spot: &Spot, mode: u32) -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..TRIES {
            let name = random_name()?;
            match openat(spot.directory(), &name, flags, Mode::from_raw_mode(mode)) {
                Ok(file) => {
                    let directory = spot.directory().clone();
                    return Ok(Self { file: File::from(file), directory, name, is_kept: false });
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Gives the draft owner and mode of the file that it is to replace.
    pub(crate) fn take_over(&self, existing: &Stat) -> io::Result<()> {
        let own = fstat(&self.file)?;
        if (own.st_uid, own.st_gid) != (existing.st_uid, existing.st_gid) {
            let (owner, group) = (Uid::from_raw(existing.st_uid), Gid::from_raw(existing.st_gid));
            // Only root may give files away; for others the content matters more than the owner.
            let _ = fchown(&self.file, Some(owner), Some(group));
        }
        // After the owner, as changing that clears the set-id bits.
        self.set_mode(existing.st_mode)
    }

    /// Gives the draft exactly this mode.
    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.file.set_permissions(Permissions::from_mode(mode & 0o7777))
    }

    /// Puts the draft in its place. An existing link is replaced and not followed.
    pub(crate) fn keep(mut self, spot: &Spot) -> io::Result<()> {
        renameat(&self.directory, &self.name, spot.directory(), spot.name())?;
        self.is_kept = true;
        spot.sync()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_kept {
            // An error has no reader; the name says whose file it is.
            let _ = unlinkat(&self.directory, &self.name, AtFlags::empty());
        }
    }
}

fn random_name() -> io::Result<OsString> {
    Ok(format!(".buddy-{:016x}.tmp", u64::from_ne_bytes(random()?)).into())
}
