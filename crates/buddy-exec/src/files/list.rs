//! Listing a directory, and those below it.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, OFlags, Stat, statat};

use super::ignored::Ignored;
use super::view::{Opened, View};
use crate::TargetError;

/// The most names of one directory that are looked at. Directories with more are cut rather than held in
/// memory.
const MAX_NAMES: usize = 100_000;

/// Options of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListOptions {
    /// The number of levels; 1 (or 0) is the directory itself only.
    pub depth: u32,
    /// The most entries.
    pub limit: usize,
    /// Whether files that `.gitignore` names are listed too.
    pub with_ignored: bool,
}

/// The entries of a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Sorted by path.
    pub entries: Vec<Entry>,
    /// Whether there is more than `entries`.
    pub truncated: bool,
    /// Directories below the first that could not be read.
    pub unreadable: u32,
    /// Entries left out because `.gitignore` names them.
    pub ignored: u32,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the directory that was listed.
    pub path: PathBuf,
    /// Its kind; links are not followed.
    pub kind: EntryKind,
    /// Size in bytes.
    pub size: u64,
    /// The time of the last change of the content, in milliseconds since 1970.
    pub modified_unix_ms: i64,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A pipe, socket or device.
    Other,
}

/// Lists a directory. Nearer entries come first, so that a limit cuts entries deep down and not those late in
/// the alphabet.
pub(crate) fn list(view: &View, path: &Path, options: ListOptions) -> Result<Listing, TargetError> {
    let top = view.open_directory(path)?;
    let above = (!options.with_ignored).then(|| Ignored::above(view, &top));
    let mut work = ListWork { view, top: &top, options, listing: Listing::default(), queue: VecDeque::new() };
    work.queue.push_back(ListJob { below: PathBuf::new(), level: 1, ignored: above });
    while let Some(job) = work.queue.pop_front() {
        let is_top = job.level == 1;
        match work.one(job) {
            Err(error) if is_top => return Err(TargetError::from_io("list", path, error)),
            Err(_) => work.listing.unreadable += 1,
            Ok(()) => {}
        }
    }
    let mut listing = work.listing;
    listing.entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listing)
}

struct ListJob {
    below: PathBuf,
    level: u32,
    /// `None` when everything is listed.
    ignored: Option<Arc<Ignored>>,
}

struct ListWork<'a> {
    view: &'a View,
    top: &'a Opened,
    options: ListOptions,
    listing: Listing,
    queue: VecDeque<ListJob>,
}

impl ListWork<'_> {
    fn one(&mut self, job: ListJob) -> std::io::Result<()> {
        let directory = self.top.open_below(&job.below, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let names = names_in(&directory)?;
        let has = |name: &str| names.binary_search_by(|other| other.as_slice().cmp(name.as_bytes())).is_ok();
        let ignored = job.ignored.map(|above| above.enter(&directory, &job.below, has));
        self.listing.truncated |= names.len() > MAX_NAMES;
        for name in names.into_iter().take(MAX_NAMES) {
            // Gone since the directory was read.
            let Ok(stat) = statat(&directory, &*name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let entry = entry_of(job.below.join(OsStr::from_bytes(&name)), &stat);
            let is_directory = entry.kind == EntryKind::Directory;
            if self.view.hides_object((stat.st_dev, stat.st_ino))
                || self.view.hides(&self.top.real.join(&entry.path))
            {
                continue;
            }
            if ignored.as_ref().is_some_and(|ignored| ignored.covers(&entry.path, is_directory)) {
                self.listing.ignored += 1;
                continue;
            }
            if self.listing.entries.len() == self.options.limit {
                self.listing.truncated = true;
                break;
            }
            if is_directory && job.level < self.options.depth {
                self.queue.push_back(ListJob {
                    below: entry.path.clone(),
                    level: job.level + 1,
                    ignored: ignored.clone(),
                });
            }
            self.listing.entries.push(entry);
        }
        Ok(())
    }
}

/// One more than [`MAX_NAMES`] at most, sorted.
fn names_in(directory: &OwnedFd) -> std::io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(name.to_vec());
        }
        if names.len() > MAX_NAMES {
            break;
        }
    }
    names.sort();
    Ok(names)
}

fn entry_of(path: PathBuf, stat: &Stat) -> Entry {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Directory,
        FileType::Symlink => EntryKind::Symlink,
        _ => EntryKind::Other,
    };
    let milliseconds = i64::try_from(stat.st_mtime_nsec / 1_000_000).unwrap_or(0);
    let modified_unix_ms = stat.st_mtime.saturating_mul(1_000).saturating_add(milliseconds);
    Entry { path, kind, size: u64::try_from(stat.st_size).unwrap_or(0), modified_unix_ms }
}
