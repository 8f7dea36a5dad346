//! A bounded walk over a directory that a command may be changing: by descriptors, and never through a link.
//!
//! It goes level by level, so that a walk that ends early has seen the entries nearest to the root.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use buddy_protocol::{fold_name, fold_path};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::closed::{Unlocked, is_writable, open_bare};

/// The most entries of one search of the write roots: about ten times as many as a large repository with its
/// packages has.
const MAX_ENTRIES: usize = 1_000_000;

/// The time limit of one search, so that a slow disk does not keep a sweep from its end.
const MAX_TIME: Duration = Duration::from_secs(3);

/// The time limit of a search for secrets. It is not cut short: a command that has to be kept from them does not start without it. A million
/// names take some 10 seconds.
const MAX_SECRETS_TIME: Duration = Duration::from_secs(20);

/// Directories further down than this are not searched.
const MAX_DEPTH: usize = 64;

/// The most closed directories that are open at a time: each takes a descriptor.
const MAX_UNLOCKED: usize = 500;

/// The rest of the bounds of one search.
#[derive(Debug)]
pub(super) struct Budget {
    entries: usize,
    until: Instant,
    depth: usize,
    /// The first place that was left out.
    pub(super) unseen: Option<Unseen>,
    /// The first directories that lie too deep.
    pub(super) too_deep: Vec<PathBuf>,
    /// Directories that were not listed, or not to their end, since the budget was used up.
    pub(super) unsearched: Vec<PathBuf>,
}

/// The most directories that lie too deep and are listed one by one.
const MAX_TOO_DEEP: usize = 100;

/// A directory that was not searched, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unseen {
    /// The directory, or the one being searched when the search ended.
    pub at: PathBuf,
    /// Why it was not searched.
    pub why: UnseenReason,
}

/// The reason why a directory was not searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnseenReason {
    /// The search met its limit of names.
    TooManyNames,
    /// The directories below lie deeper than the search goes.
    TooDeep,
    /// The search met its limit of time.
    TooSlow,
    /// The directory cannot be listed.
    NotListed,
}

/// A clause that follows "because".
impl fmt::Display for UnseenReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooManyNames => "there are too many names",
            Self::TooDeep => "directories further down are too deep",
            Self::TooSlow => "it took too long",
            Self::NotListed => "that directory cannot be listed",
        })
    }
}

impl Unseen {
    /// Whether names were left out because there are so many that the search or its time did not go so far. A command can make that so.
    pub(super) fn is_flood(&self) -> bool {
        matches!(self.why, UnseenReason::TooManyNames | UnseenReason::TooSlow)
    }
}

impl fmt::Display for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "buddy did not look through all files for secrets and for files that run code later: it stopped at `{}`, \
             because {}",
            self.at.display(),
            self.why
        )
    }
}

impl Budget {
    pub(super) fn usual() -> Self {
        Self {
            entries: MAX_ENTRIES,
            until: Instant::now() + MAX_TIME,
            depth: MAX_DEPTH,
            unseen: None,
            too_deep: Vec::new(),
            unsearched: Vec::new(),
        }
    }

    /// The same with the time that a search for secrets has.
    pub(super) fn for_secrets() -> Self {
        Self { until: Instant::now() + MAX_SECRETS_TIME, ..Self::usual() }
    }

    /// A smaller one, for places that are searched beside.
    pub(super) fn small(entries: usize, depth: usize) -> Self {
        Self { entries, depth, ..Self::usual() }
    }

    /// The same for less time.
    pub(super) fn within(self, time: Duration) -> Self {
        self.not_after(Instant::now() + time)
    }

    /// The same, and it ends at this time.
    pub(super) fn not_after(self, end: Instant) -> Self {
        Self { until: self.until.min(end), ..self }
    }

    /// Notes a directory that lies too deep.
    fn end_at(&mut self, at: &Path, directory: PathBuf) {
        self.leave_out(at, UnseenReason::TooDeep);
        if self.too_deep.len() < MAX_TOO_DEEP {
            self.too_deep.push(directory);
        }
    }

    fn leave_out(&mut self, at: &Path, why: UnseenReason) {
        self.unseen.get_or_insert_with(|| Unseen { at: as_text(at), why });
    }
}

/// A directory of the walk with its entries.
pub(super) struct Visited<'a> {
    pub(super) path: &'a Path,
    /// Folded names, those of the root first.
    pub(super) names: &'a [String],
    /// The number of names of the root.
    pub(super) depth: usize,
    pub(super) entries: &'a [Listed],
}

/// A path that can be sent to another process, even if it is not UTF-8.
pub(super) fn as_text(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().into_owned())
}

/// An entry of a directory.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) name: OsString,
    pub(super) folded: String,
    pub(super) kind: FileType,
    /// The inode number of the object.
    pub(super) number: u64,
}

impl Listed {
    pub(super) fn is_directory(&self) -> bool {
        self.kind == FileType::Directory
    }
}

impl Visited<'_> {
    /// The folded names below the root.
    pub(super) fn names_below(&self) -> &[String] {
        self.names.get(self.depth..).unwrap_or_default()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.name == OsStr::new(name))
    }

    /// The folded names of an entry.
    pub(super) fn names_of(&self, entry: &Listed) -> Vec<String> {
        self.names.iter().cloned().chain([entry.folded.clone()]).collect()
    }
}

/// Opens a directory without following a link at its end.
pub(super) fn open_directory(path: &Path) -> rustix::io::Result<OwnedFd> {
    open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// A receiver of the directories and entries of a walk.
pub(super) trait Visitor {
    /// A directory, before its entries.
    fn enter(&mut self, visited: &Visited<'_>);
    /// An entry of the directory that was entered last. Returns whether the walk goes into it.
    fn see(&mut self, visited: &Visited<'_>, entry: &Listed) -> Go;
}

/// Shows every directory beneath a root, which is named without links.
pub(super) fn walk(root: &Path, budget: &mut Budget, visitor: &mut dyn Visitor) {
    // Closed again at the end, as the directories below are reached through them.
    let mut unlocked = Vec::new();
    if open_directory(root).is_err_and(|error| error == Errno::ACCESS) {
        unlocked.extend(open_bare(root).ok().and_then(Unlocked::new));
    }
    let Ok(top) = open_directory(root) else { return };
    // Some protected names begin above the root.
    let above = fold_path(root);
    let depth = above.len();
    let mut queue: VecDeque<(PathBuf, Vec<String>)> = VecDeque::from([(PathBuf::new(), above)]);
    while let Some((below, names)) = queue.pop_front() {
        let path = if below.as_os_str().is_empty() { root.to_owned() } else { root.join(&below) };
        let end = if budget.entries == 0 {
            Some(UnseenReason::TooManyNames)
        } else {
            (Instant::now() > budget.until).then_some(UnseenReason::TooSlow)
        };
        if let Some(why) = end {
            budget.leave_out(&path, why);
            budget.unsearched.push(path);
            budget.unsearched.extend(queue.into_iter().map(|(below, _)| root.join(below)));
            return;
        }
        let Some(directory) = open_closed(&top, &below, &path, &mut unlocked, budget) else { continue };
        let entries = list(directory, &path, budget);
        let visited = Visited { path: &path, names: &names, depth, entries: &entries };
        visitor.enter(&visited);
        for entry in &entries {
            if visitor.see(&visited, entry) == Go::Into && entry.is_directory() {
                if visited.names_below().len() < budget.depth {
                    queue.push_back((below.join(&entry.name), visited.names_of(entry)));
                } else {
                    budget.end_at(&path, path.join(&entry.name));
                }
            }
        }
    }
}

/// Opens a directory below another one, even if its mode forbids it.
fn open_closed(
    top: &OwnedFd,
    below: &Path,
    path: &Path,
    unlocked: &mut Vec<Unlocked>,
    budget: &mut Budget,
) -> Option<OwnedFd> {
    let listed = OFlags::RDONLY | OFlags::DIRECTORY;
    match open_below(top, below, listed) {
        Ok(directory) => return Some(directory),
        Err(Errno::ACCESS) => {}
        Err(Errno::NAMETOOLONG) => {
            budget.end_at(path, path.to_owned());
            return None;
        }
        // It is gone, or another object by now.
        Err(_) => return None,
    }
    let bare = open_below(top, below, OFlags::PATH | OFlags::DIRECTORY).ok();
    if unlocked.len() < MAX_UNLOCKED {
        unlocked.extend(bare.and_then(Unlocked::new));
    }
    let opened = open_below(top, below, listed).ok();
    // No command of this account makes anything in a directory of another one that is closed to it.
    if opened.is_none() && is_writable(path) {
        budget.leave_out(path, UnseenReason::NotListed);
    }
    opened
}

/// Whether a walk goes into an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Go {
    Into,
    Past,
}

fn open_below(top: &OwnedFd, below: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
    openat2(top, below, flags, Mode::empty(), resolve)
}

/// The entries of a directory. The descriptor is listed itself, since opening the directory once more costs as much again.
fn list(directory: OwnedFd, path: &Path, budget: &mut Budget) -> Vec<Listed> {
    let mut entries = Vec::new();
    let Ok(mut listing) = Dir::new(directory) else { return entries };
    while let Some(Ok(entry)) = listing.read() {
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        if budget.entries == 0 {
            budget.leave_out(path, UnseenReason::TooManyNames);
            budget.unsearched.push(path.to_owned());
            return entries;
        }
        budget.entries -= 1;
        let name = OsStr::from_bytes(name).to_owned();
        let kind = match entry.file_type() {
            FileType::Unknown => {
                listing.fd().map_or(FileType::Unknown, |directory| kind_of(directory, &name))
            }
            kind => kind,
        };
        entries.push(Listed { folded: fold_name(&name.to_string_lossy()), name, kind, number: entry.ino() });
    }
    entries
}

/// The kind of an entry, for file systems that do not tell it in a listing.
fn kind_of(directory: BorrowedFd<'_>, name: &OsStr) -> FileType {
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    rustix::fs::statat(directory, name, flags)
        .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}

/// Whether any object is at a path, a link included.
pub(super) fn is_there(path: &Path) -> bool {
    rustix::fs::statat(CWD, path, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct Seen(Vec<String>);

    impl Visitor for Seen {
        fn enter(&mut self, _: &Visited<'_>) {}
        fn see(&mut self, visited: &Visited<'_>, entry: &Listed) -> Go {
            self.0.push(visited.names_of(entry)[visited.depth..].join("/"));
            Go::Into
        }
    }

    /// The names that a walk sees in a tree with `a/b/c`, and where and why it ends.
    fn check(mut budget: Budget, seen: &[&str], unseen: Option<(&str, UnseenReason)>) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("a/b/c")).unwrap();
        let mut visitor = Seen(Vec::new());
        walk(folder.path(), &mut budget, &mut visitor);
        assert_eq!(visitor.0, seen);
        let told = budget.unseen.map(|unseen| (unseen.at, unseen.why));
        assert_eq!(told, unseen.map(|(at, why)| (folder.path().join(at), why)));
    }

    #[test]
    fn a_look_that_ends_early_says_where_and_why() {
        check(Budget::usual(), &["a", "a/b", "a/b/c"], None);
        check(Budget::small(3, 9), &["a", "a/b", "a/b/c"], Some(("a/b/c", UnseenReason::TooManyNames)));
        check(Budget::small(1, 9), &["a"], Some(("a", UnseenReason::TooManyNames)));
        check(Budget::small(9, 1), &["a", "a/b"], Some(("a", UnseenReason::TooDeep)));
        check(Budget { until: Instant::now(), ..Budget::usual() }, &[], Some(("", UnseenReason::TooSlow)));
    }

    #[test]
    fn a_directory_with_too_many_names_is_looked_at_as_far_as_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..5 {
            fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        let (mut budget, mut visitor) = (Budget::small(3, 9), Seen(Vec::new()));
        walk(folder.path(), &mut budget, &mut visitor);
        assert_eq!(visitor.0.len(), 3);
        assert_eq!(budget.unseen.map(|unseen| unseen.at).as_deref(), Some(folder.path()));
    }
}
