//! Removing a file, a link, or a directory with all that is in it.
//!
//! A link is removed and never followed. Everything in a directory is looked at before anything is removed:
//! one thing that must stay, a mount in the midst, or too many entries, and nothing is removed at all.
//! Another file system, or the same one mounted again, is never gone into: to remove it, name it.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, OFlags, ResolveFlags, statat, unlinkat};

use super::beneath;
use super::spot::{Parents, Spot};
use super::view::View;
use crate::TargetError;
use crate::undo::{Recorder, State};

/// Entries that one call removes at most.
const MAX_ENTRIES: usize = 200_000;
/// The greatest depth of a tree.
const MAX_DEPTH: usize = 256;

/// The extent of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// A file, a link or an empty directory.
    Single,
    /// A directory with everything in it.
    Recursive,
}

/// The result of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deleted {
    /// Files, links and directories, the named one included.
    pub entries: u64,
}

/// Removes the object at `path`. `keep` is a directory that must stay, with everything above it.
pub(crate) fn delete(
    view: &View,
    recorder: &Recorder,
    path: &Path,
    deletion: Deletion,
    keep: &Path,
) -> Result<Deleted, TargetError> {
    let failed = |error: io::Error| TargetError::from_io("remove", path, error);
    if keep.starts_with(path) {
        return Err(TargetError::IsRoot { path: path.to_owned() });
    }
    let (spot, _) = view.spot_itself(path, Parents::Need)?;
    view.check_not_root(path, &spot.real())?;
    let Some(stat) = spot.stat().map_err(failed)? else {
        return Err(TargetError::NotFound { path: path.to_owned() });
    };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        recorder.changing(&spot, || State::Absent)?;
        spot.remove_file().and_then(|()| spot.sync()).map_err(failed)?;
        return Ok(Deleted { entries: 1 });
    }
    if keep.canonicalize().is_ok_and(|keep| keep.starts_with(spot.real())) {
        return Err(TargetError::IsRoot { path: path.to_owned() });
    }
    view.protected.check_holder(path, &spot.real())?;
    let tree = Tree::scan(view, &spot)?;
    if deletion == Deletion::Single && !tree.entries.is_empty() {
        return Err(TargetError::NotEmpty { path: path.to_owned() });
    }
    recorder.removing_tree(&spot, tree.entries.iter().map(|entry| entry.path.as_path()))?;
    tree.remove(&spot).map_err(failed)?;
    spot.remove_directory().and_then(|()| spot.sync()).map_err(failed)?;
    Ok(Deleted { entries: tree.entries.len() as u64 + 1 })
}

/// The entries of a directory, outer before inner.
struct Tree {
    top: OwnedFd,
    entries: Vec<Inner>,
}

struct Inner {
    /// Relative to the directory.
    path: PathBuf,
    is_directory: bool,
}

impl Tree {
    fn scan(view: &View, spot: &Spot) -> Result<Self, TargetError> {
        let failed = |error: io::Error| TargetError::from_io("look into", &spot.named, error);
        let top = spot.open_directory().map_err(failed)?;
        let real = spot.real();
        let mut entries: Vec<Inner> = Vec::new();
        let mut queue = vec![(PathBuf::new(), 0)];
        while let Some((below, depth)) = queue.pop() {
            if depth > MAX_DEPTH {
                return Err(TargetError::TooMany { what: "levels of directories", limit: MAX_DEPTH });
            }
            let directory = open_inner(&top, &below).map_err(|error| crossing(&spot.named, &below, error))?;
            for (name, is_directory) in names_in(&directory).map_err(failed)? {
                let path = below.join(OsStr::from_bytes(&name));
                view.protected.check_removal(&spot.named.join(&path), &real.join(&path))?;
                if entries.len() == MAX_ENTRIES {
                    return Err(TargetError::TooMany { what: "entries to remove", limit: MAX_ENTRIES });
                }
                if is_directory {
                    queue.push((path.clone(), depth + 1));
                }
                entries.push(Inner { path, is_directory });
            }
        }
        Ok(Self { top, entries })
    }

    /// Removes the entries, inner before outer.
    fn remove(&self, spot: &Spot) -> io::Result<()> {
        let mut holder: Option<(&Path, OwnedFd)> = None;
        let mut order: Vec<&Inner> = self.entries.iter().collect();
        order.sort_by(|first, second| second.path.cmp(&first.path));
        for entry in order {
            let parent = entry.path.parent().unwrap_or(Path::new(""));
            if holder.as_ref().is_none_or(|(path, _)| *path != parent) {
                holder = Some((parent, open_inner(&self.top, parent)?));
            }
            let Some((_, directory)) = &holder else { continue };
            let name = entry.path.file_name().unwrap_or(OsStr::new(""));
            let flags = if entry.is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
            unlinkat(directory, name, flags)?;
        }
        spot.sync()
    }
}

fn open_inner(top: &OwnedFd, below: &Path) -> io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    beneath::open(top, below, OFlags::RDONLY | OFlags::DIRECTORY, resolve)
}

fn crossing(named: &Path, below: &Path, error: io::Error) -> TargetError {
    let path = named.join(below);
    if beneath::leads_out(&error) {
        TargetError::Mount { path }
    } else {
        TargetError::from_io("look into", &path, error)
    }
}

fn names_in(directory: &OwnedFd) -> io::Result<Vec<(Vec<u8>, bool)>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = statat(directory, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            kind => kind,
        };
        names.push((name.to_vec(), kind == FileType::Directory));
    }
    Ok(names)
}
