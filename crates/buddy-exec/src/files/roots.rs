//! Roots: the directories that an access is confined to, opened once and kept.
//!
//! A root is the directory that was there when it was first used. When another directory takes its name
//! later, accesses beneath that name are refused: the user no longer sees there the directory that the agent
//! was given.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, openat, statat};

use super::beneath::real_path;
use crate::TargetError;

/// Roots kept at most. They come from the configuration, which names a handful.
const MAX_ROOTS: usize = 256;

/// All roots that a target has opened.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    pinned: Mutex<BTreeMap<PathBuf, Arc<Root>>>,
}

/// A directory that was opened once.
#[derive(Debug)]
pub(crate) struct Root {
    pub(super) fd: OwnedFd,
    /// As the bounds name it.
    pub(super) named: PathBuf,
    /// The path of the directory when it was opened, without links.
    real: PathBuf,
}

impl Roots {
    /// Refuses a name that leads elsewhere than when it was first used. A missing directory is no error.
    pub(crate) fn check(&self, path: &Path) -> Result<(), TargetError> {
        match self.pin(path) {
            Err(error @ TargetError::Replaced { .. }) if path.symlink_metadata().is_ok() => Err(error),
            _ => Ok(()),
        }
    }

    /// The root of this name, opened now or earlier.
    pub(super) fn pin(&self, path: &Path) -> Result<Arc<Root>, TargetError> {
        let mut pinned = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(root) = pinned.get(path) {
            return if root.is_in_place() {
                Ok(root.clone())
            } else {
                Err(TargetError::Replaced { path: path.to_owned() })
            };
        }
        if pinned.len() == MAX_ROOTS {
            return Err(TargetError::TooMany { what: "roots", limit: MAX_ROOTS });
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let failed = |error: std::io::Error| TargetError::from_io("open the root", path, error);
        let fd = openat(CWD, path, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
        let real = real_path(&fd).map_err(failed)?;
        let root = Arc::new(Root { fd, named: path.to_owned(), real });
        pinned.insert(path.to_owned(), root.clone());
        Ok(root)
    }
}

impl Root {
    /// Whether its name still leads to it.
    fn is_in_place(&self) -> bool {
        let (Ok(pinned), Ok(named)) = (fstat(&self.fd), statat(CWD, &self.named, AtFlags::empty())) else {
            return false;
        };
        (pinned.st_dev, pinned.st_ino) == (named.st_dev, named.st_ino)
    }

    /// The current path, without links: a root that was moved is still the root.
    pub(super) fn real(&self) -> PathBuf {
        real_path(&self.fd).unwrap_or_else(|_| self.real.clone())
    }

    /// The rest of a path that is beneath this root by name. A name is compared whole: `/srv/wsx` is not beneath `/srv/ws`.
    pub(super) fn below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.strip_prefix(&self.named).or_else(|_| path.strip_prefix(&self.real)).ok()
    }
}
