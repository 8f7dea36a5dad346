//! Listing a directory, and those below it.

use std::collections::VecDeque;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::TargetError;

/// How many names of one directory are looked at. Directories with more are cut rather than held in memory.
const MAX_NAMES: usize = 100_000;

/// What is in a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Sorted by path.
    pub entries: Vec<Entry>,
    /// Whether there is more than `entries`.
    pub truncated: bool,
    /// Directories below the first that could not be read.
    pub unreadable: u32,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the directory that was listed.
    pub path: PathBuf,
    /// What it is; links are not followed.
    pub kind: EntryKind,
    /// Size in bytes.
    pub size: u64,
    /// When the content last changed, in milliseconds since 1970.
    pub modified_unix_ms: i64,
}

/// What a name in a directory stands for.
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

/// Lists up to `limit` entries. A `depth` of 1 (or 0) means the directory itself only. Nearer ones come first, so that
/// a limit cuts what is deep down and not what is late in the alphabet.
pub(crate) fn list(path: &Path, depth: u32, limit: usize) -> Result<Listing, TargetError> {
    let mut listing = Listing::default();
    let mut queue = VecDeque::from([(PathBuf::new(), 1)]);
    while let Some((below, level)) = queue.pop_front() {
        let names = match names_in(&path.join(&below)) {
            Ok(names) => names,
            Err(error) if level == 1 => return Err(TargetError::from_io("list", path, error)),
            Err(_) => {
                listing.unreadable += 1;
                continue;
            }
        };
        listing.truncated |= names.len() > MAX_NAMES;
        for name in names.into_iter().take(MAX_NAMES) {
            // Gone since the directory was read.
            let Ok(metadata) = name.metadata() else { continue };
            if listing.entries.len() == limit {
                listing.truncated = true;
                break;
            }
            let entry = entry_of(below.join(name.file_name()), &metadata);
            if entry.kind == EntryKind::Directory && level < depth {
                queue.push_back((entry.path.clone(), level + 1));
            }
            listing.entries.push(entry);
        }
    }
    listing.entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listing)
}

/// One more than [`MAX_NAMES`] at most.
fn names_in(directory: &Path) -> io::Result<Vec<DirEntry>> {
    let mut names = fs::read_dir(directory)?.take(MAX_NAMES + 1).collect::<io::Result<Vec<_>>>()?;
    names.sort_by_key(DirEntry::file_name);
    Ok(names)
}

fn entry_of(path: PathBuf, metadata: &Metadata) -> Entry {
    let kind = match metadata.file_type() {
        kind if kind.is_file() => EntryKind::File,
        kind if kind.is_dir() => EntryKind::Directory,
        kind if kind.is_symlink() => EntryKind::Symlink,
        _ => EntryKind::Other,
    };
    Entry { path, kind, size: metadata.len(), modified_unix_ms: modified_unix_ms(metadata) }
}

fn modified_unix_ms(metadata: &Metadata) -> i64 {
    let Ok(modified) = metadata.modified() else { return 0 };
    match modified.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    }
}
