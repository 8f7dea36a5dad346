//! Caches of package managers that a command changes in a layer of its workspace and not for everybody.
//!
//! Where the kernel allows it, the layer is mounted over the cache (`overlays.rs`): the command reads the
//! existing cache, and its changes go to the layer. Elsewhere, and where a cache does not exist yet, a
//! variable leads the package manager to a directory in the layer.
//!
//! Two mounts must not share a layer, so each running jail holds a slot of its own by a lock.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, accessat, futimens};

use super::ground::Ground;
use super::mounts::{Cover, Mount, Mounts};
use super::raw_path::RawPath;
use super::words::{Covered, PlannedOverlay};
use crate::bounds::{CacheLayers, CachePlace};
use crate::{FileLock, LockKind};

/// The number of jails of a workspace that have a layer at the same time. Others find the caches
/// read-only.
const SLOTS: usize = 8;

/// The file that the user of a slot holds locked.
pub(crate) const LOCK: &str = "lock";

/// Parts of a cache in a slot: the changed files, the work directory that the kernel needs beside them, and a
/// directory for caches that are not mounted.
const UPPER: &str = "upper";
const WORK: &str = "work";
const ALONE: &str = "alone";

/// Access for the owner only.
const MODE: u32 = 0o700;

/// The technique that layers a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// By mounts, where the cache exists.
    Mounted,
    /// By variables.
    Redirected,
}

/// The command that a slot is for.
pub(super) struct SlotUser<'a> {
    pub(super) cwd: &'a Path,
    /// The directories of its `PATH`, without links.
    pub(super) program_places: &'a [PathBuf],
    pub(super) manner: Manner,
}

/// The slot of one jail.
pub(super) struct Slot {
    directory: PathBuf,
    pub(super) overlays: Vec<PlannedOverlay>,
    /// Directories that variables lead to.
    alone: Vec<PathBuf>,
    variables: Vec<(String, String)>,
    /// Held until the last process of the command is gone.
    pub(super) lock: FileLock,
}

impl Slot {
    /// Takes a free slot. `None` if none is free, or there is nothing to layer: the caches then stay
    /// read-only.
    pub(super) fn take(caches: &CacheLayers, ground: &Ground, user: &SlotUser<'_>) -> Option<Self> {
        let is_ours = !ground.is_writable(&caches.directory) && !ground.is_hidden(&caches.directory);
        if !is_ours || ground.write.is_empty() {
            return None;
        }
        let (directory, lock) = (1..=SLOTS).find_map(|number| {
            let directory = caches.directory.join(number.to_string());
            lock(&directory).ok().flatten().map(|lock| (directory, lock))
        })?;
        let directory = directory.canonicalize().ok()?;
        let mut slot =
            Self { directory, overlays: Vec::new(), alone: Vec::new(), variables: Vec::new(), lock };
        for place in &caches.places {
            // A cache that cannot be layered is read-only, as without a layer.
            let _ = slot.add(place, ground, user);
        }
        (!slot.overlays.is_empty() || !slot.alone.is_empty()).then_some(slot)
    }

    fn add(&mut self, place: &CachePlace, ground: &Ground, user: &SlotUser<'_>) -> io::Result<()> {
        let part = |name: &str| self.directory.join(&place.name).join(name);
        let there = place.at.canonicalize().ok().filter(|at| at.is_dir());
        if let Some(at) = &there {
            if ground.is_writable(at) || accessat(CWD, at, Access::WRITE_OK, AtFlags::EACCESS).is_err() {
                return Ok(());
            }
            let holds = |inner: &Path| inner.starts_with(at);
            let is_needed =
                ground.write.iter().any(|root| holds(root)) || holds(user.cwd) || holds(&self.directory);
            let is_inside = self.overlays.iter().any(|overlay| at.starts_with(overlay.at.to_path()));
            if is_inside {
                return Ok(());
            }
            // Nobody could tell a program of the user's from one that a command has put there.
            let is_program_place = user.program_places.contains(at);
            if user.manner == Manner::Mounted && !is_needed && !is_program_place && !ground.is_hidden(at) {
                let (upper, work) = (part(UPPER), part(WORK));
                make(&upper)?;
                make(&work)?;
                let program_places = user.program_places.iter().filter(|inner| holds(inner));
                self.overlays.push(PlannedOverlay {
                    at: at.into(),
                    upper: upper.into(),
                    work: work.into(),
                    program_places: program_places.map(RawPath::from).collect(),
                });
                return Ok(());
            }
        }
        let Some((variable, value)) = &place.redirect else { return Ok(()) };
        let alone = part(ALONE);
        make(&alone)?;
        for (name, from) in place.linked.iter().filter_map(|name| Some((name, there.as_ref()?.join(name)))) {
            if from.exists() && !alone.join(name).exists() {
                symlink(from, alone.join(name))?;
            }
        }
        let text = alone.to_str().ok_or(io::ErrorKind::InvalidFilename)?;
        self.variables.push((variable.clone(), value.replace("{}", text)));
        self.alone.push(alone);
        Ok(())
    }

    /// Adds to the variables of a command those that lead into the slot.
    pub(super) fn tell(&self, env: &mut Vec<(String, String)>) {
        for (variable, value) in &self.variables {
            let there = env.iter_mut().find(|(name, _)| name == variable);
            match there {
                // Options go behind those that are there.
                Some((_, old)) if value.starts_with('-') && !old.is_empty() => {
                    old.push(' ');
                    old.push_str(value);
                }
                Some((_, old)) => value.clone_into(old),
                None => env.push((variable.clone(), value.clone())),
            }
        }
    }

    /// The directory that has all its changes.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The paths that the command may write because of the slot.
    pub(super) fn writable(&self) -> impl Iterator<Item = RawPath> {
        let mounted = self.overlays.iter().map(|overlay| overlay.at.clone());
        mounted.chain(self.alone.iter().map(RawPath::from))
    }

    /// Shows the slot, and removes the covers that have to be put over the mounts from it.
    pub(super) fn arrange(&self, mounts: &mut Mounts) -> Vec<Covered> {
        let places: Vec<PathBuf> = self.overlays.iter().map(|overlay| overlay.at.to_path()).collect();
        let is_over = |mount: &Mount| places.iter().any(|place| mount.at.starts_with(place));
        let (over, list) = std::mem::take(&mut mounts.list).into_iter().partition(is_over);
        mounts.list = list;
        mounts.list.push(Mount { at: self.directory.clone(), cover: Cover::Writable });
        let over: Vec<Mount> = over;
        over.iter().map(|mount| Covered { at: RawPath::from(&mount.at), cover: mount.cover }).collect()
    }
}

fn make(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(MODE).create(directory)
}

/// The lock of a slot, unless another jail holds it.
fn lock(directory: &Path) -> io::Result<Option<FileLock>> {
    make(directory)?;
    let path = directory.join(LOCK);
    let Some(lock) = FileLock::try_take(&path, LockKind::Exclusive)? else { return Ok(None) };
    // A lock file that was removed meanwhile guards nothing.
    if fs::metadata(&path).is_err() {
        return Ok(None);
    }
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    futimens(lock.file(), &Timestamps { last_access: now, last_modification: now })?;
    Ok(Some(lock))
}
