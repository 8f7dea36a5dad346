//! The findings of earlier snapshots, so that an unchanged file is neither read nor kept again.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use buddy_protocol::PathText;
use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use super::blobs::make_private;
use super::digest::digest_of;
use crate::{FileMode, FileSync, replace_file};

/// A file that changed so shortly before it was read may change again with the same time stamp, so it is not
/// trusted.
const SETTLED_NANOS: i64 = 20_000_000;
/// The largest cache that is read.
const MAX_CACHE: u64 = 256 * 1024 * 1024;

/// The properties by which a file is known to be unchanged, as in git's index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Meta {
    device: u64,
    inode: u64,
    pub(super) size: u64,
    mode: u32,
    modified_nanos: i64,
    changed_nanos: i64,
}

impl From<&Stat> for Meta {
    fn from(stat: &Stat) -> Self {
        let nanos = |seconds: i64, nanos: u64| {
            seconds.saturating_mul(1_000_000_000).saturating_add(i64::try_from(nanos).unwrap_or(0))
        };
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mode: stat.st_mode,
            modified_nanos: nanos(stat.st_mtime, stat.st_mtime_nsec),
            changed_nanos: nanos(stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}

impl Meta {
    /// Whether a file that had these properties when it was read at that time is taken for unchanged while it
    /// keeps them.
    pub(super) fn is_settled(&self, read_at_nanos: i64) -> bool {
        self.changed_nanos.saturating_add(SETTLED_NANOS) < read_at_nanos
    }
}

/// The cached state of one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Known {
    pub(super) meta: Meta,
    pub(super) digest: String,
    pub(super) read_at_nanos: i64,
}

/// The cached states below one root.
#[derive(Debug, Default, Clone)]
pub(super) struct Cache {
    pub(super) files: HashMap<PathBuf, Known>,
    /// Whether there are changes to save.
    pub(super) is_changed: bool,
}

#[derive(Serialize, Deserialize)]
struct CacheLine {
    path: PathText,
    known: Known,
}

impl Cache {
    /// The digest of a file, if it is known and the file is still the same.
    pub(super) fn digest(&self, path: &Path, meta: Meta) -> Option<&str> {
        let known = self.files.get(path)?;
        (known.meta == meta && meta.is_settled(known.read_at_nanos)).then_some(known.digest.as_str())
    }

    /// Reads the saved cache; one that cannot be read is an empty one.
    pub(super) fn load(folder: &Path, root: &Path) -> Self {
        let path = file_of(folder, root);
        if path.metadata().map_or(0, |metadata| metadata.len()) > MAX_CACHE {
            return Self::default();
        }
        let text = fs::read_to_string(path).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<CacheLine>(line).ok());
        Self { files: lines.map(|CacheLine { path, known }| (path.0, known)).collect(), is_changed: false }
    }

    /// Saves it. It need not survive a crash.
    pub(super) fn save(&self, folder: &Path, root: &Path) -> io::Result<()> {
        make_private(folder)?;
        let mut lines = Vec::new();
        for (path, known) in &self.files {
            serde_json::to_writer(
                &mut lines,
                &CacheLine { path: PathText(path.clone()), known: known.clone() },
            )?;
            lines.push(b'\n');
        }
        replace_file(&file_of(folder, root), &lines, FileMode::PRIVATE, FileSync::Later)
    }
}

fn file_of(folder: &Path, root: &Path) -> PathBuf {
    folder.join(format!("{}.jsonl", digest_of(root.as_os_str().as_encoded_bytes())))
}
