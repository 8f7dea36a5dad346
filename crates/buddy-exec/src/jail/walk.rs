//! A bounded walk over a directory that a command may be changing: by descriptors, and never through a link.
//!
//! It goes level by level, so that where it ends early it has seen what lies nearest to the root.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use buddy_protocol::fold_name;
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, ResolveFlags, open, openat2};

/// How many entries one look at the write roots takes in: about ten times what a large repository with its packages has.
const MAX_ENTRIES: usize = 1_000_000;

/// How long one look may take, so that a slow disk does not keep a command from starting.
const MAX_TIME: Duration = Duration::from_secs(3);

/// Directories further down than this are not looked into.
const MAX_DEPTH: usize = 64;

/// What is left of the bounds of one look.
#[derive(Debug)]
pub(super) struct Budget {
    entries: usize,
    until: Instant,
    depth: usize,
    /// Whether nothing was left out so far.
    pub(super) is_whole: bool,
}

impl Budget {
    pub(super) fn usual() -> Self {
        Self { entries: MAX_ENTRIES, until: Instant::now() + MAX_TIME, depth: MAX_DEPTH, is_whole: true }
    }

    /// A smaller one, for places that are looked at beside.
    pub(super) fn small(entries: usize, depth: usize) -> Self {
        Self { entries, depth, ..Self::usual() }
    }
}

/// A directory of the walk with what is in it.
pub(super) struct Visited<'a> {
    pub(super) path: &'a Path,
    /// Folded names below the root.
    pub(super) names: &'a [String],
    pub(super) entries: &'a [Listed],
}

/// An entry of a directory.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) name: OsString,
    pub(super) folded: String,
    pub(super) kind: FileType,
}

impl Listed {
    pub(super) fn is_directory(&self) -> bool {
        self.kind == FileType::Directory
    }
}

impl Visited<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name == OsStr::new(name))
    }

    /// The folded names of an entry.
    pub(super) fn names_of(&self, entry: &Listed) -> Vec<String> {
        self.names.iter().cloned().chain([entry.folded.clone()]).collect()
    }
}

/// A directory without following a link at its end.
pub(super) fn open_directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// Who is shown what a walk finds.
pub(super) trait Visitor {
    /// A directory, before its entries.
    fn enter(&mut self, visited: &Visited<'_>);
    /// An entry of the directory that was entered last. Says whether the walk goes into it.
    fn see(&mut self, visited: &Visited<'_>, entry: &Listed) -> Go;
}

/// Shows every directory beneath a root.
pub(super) fn walk(root: &Path, budget: &mut Budget, visitor: &mut dyn Visitor) {
    let Ok(top) = open_directory(root) else { return };
    let mut queue: VecDeque<(PathBuf, Vec<String>)> = VecDeque::from([(PathBuf::new(), Vec::new())]);
    while let Some((below, names)) = queue.pop_front() {
        if budget.entries == 0 || Instant::now() > budget.until {
            budget.is_whole = false;
            return;
        }
        let Some(directory) = open_below(&top, &below) else { continue };
        let entries = list(&directory, budget);
        let path = if below.as_os_str().is_empty() { root.to_owned() } else { root.join(&below) };
        let visited = Visited { path: &path, names: &names, entries: &entries };
        visitor.enter(&visited);
        for entry in &entries {
            if visitor.see(&visited, entry) == Go::Into && entry.is_directory() {
                if names.len() < budget.depth {
                    queue.push_back((below.join(&entry.name), visited.names_of(entry)));
                } else {
                    budget.is_whole = false;
                }
            }
        }
    }
}

/// Whether a walk goes into an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Go {
    Into,
    Past,
}

fn open_below(top: &OwnedFd, below: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
    openat2(top, below, flags, Mode::empty(), resolve).ok()
}

fn list(directory: &OwnedFd, budget: &mut Budget) -> Vec<Listed> {
    let mut entries = Vec::new();
    let Ok(listing) = Dir::read_from(directory) else { return entries };
    for entry in listing.flatten() {
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        if budget.entries == 0 {
            budget.is_whole = false;
            return entries;
        }
        budget.entries -= 1;
        let name = OsStr::from_bytes(name).to_owned();
        let kind = match entry.file_type() {
            FileType::Unknown => kind_of(directory, &name),
            kind => kind,
        };
        entries.push(Listed { folded: fold_name(&name.to_string_lossy()), name, kind });
    }
    entries
}

/// For file systems that do not tell it in a listing.
fn kind_of(directory: &OwnedFd, name: &OsStr) -> FileType {
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    rustix::fs::statat(directory, name, flags)
        .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}

/// Whether anything is at a path, a link included.
pub(super) fn is_there(path: &Path) -> bool {
    rustix::fs::statat(CWD, path, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).is_ok()
}
