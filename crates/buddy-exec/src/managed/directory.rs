//! The directory of one managed process: `<processes>/proc-<id>/` with `meta.json` and the output.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use buddy_protocol::Ids;
use serde::{Deserialize, Serialize};

use super::Record;
use crate::{FileMode, FileSync, Reach, replace_file};

/// The prefix of every id.
const PREFIX: &str = "proc-";

/// The longest id that is looked for.
const MAX_ID_CHARS: usize = 64;

/// The largest record that is read.
const MAX_META_BYTES: u64 = 16 * 1024 * 1024;

/// Retries when a new id is taken.
const NAME_TRIES: usize = 16;

/// The directory with all files of one managed process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// Makes a new directory that only its owner can enter, and names it.
    pub(super) fn make(all: &Path, ids: &dyn Ids) -> io::Result<(String, Self)> {
        private_directory(all)?;
        for _ in 0..NAME_TRIES {
            // The lower bits are the random ones, and short ids can be typed.
            let id = format!("{PREFIX}{:08x}", ids.next() & u128::from(u32::MAX));
            let path = all.join(&id);
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    fs::set_permissions(&path, Permissions::from_mode(0o700))?;
                    return Ok((id, Self(path)));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// The directory of this id. A text that cannot be an id has none, so that no id leads
    /// elsewhere.
    pub(super) fn find(all: &Path, id: &str) -> Option<Self> {
        let rest = id.strip_prefix(PREFIX)?;
        let is_id = !rest.is_empty() && id.len() <= MAX_ID_CHARS;
        let is_plain = rest.chars().all(|char| char.is_ascii_alphanumeric());
        (is_id && is_plain).then(|| Self(all.join(id))).filter(|directory| directory.0.is_dir())
    }

    /// All existing ids, in no order.
    pub(super) fn ids(all: &Path) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(all) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        Ok(names.filter(|name| name.starts_with(PREFIX)).collect())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// The keepers, here and beside it, of processes that the user approved.
    pub(super) fn approved_keepers(&self) -> Vec<i32> {
        let all = self.0.parent().unwrap_or(&self.0);
        let ids = Self::ids(all).unwrap_or_default();
        let records = ids.iter().filter_map(|id| Self::find(all, id)?.read().ok());
        let approved = records.filter(|record| record.unasked_writes == Reach::Nothing);
        approved.map(|record| record.keeper.pid).collect()
    }

    fn meta(&self) -> PathBuf {
        self.0.join("meta.json")
    }

    /// Reads the record.
    pub(super) fn read(&self) -> io::Result<Record> {
        let meta = self.meta();
        if fs::metadata(&meta)?.len() > MAX_META_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(serde_json::from_slice(&fs::read(meta)?)?)
    }

    /// Replaces the record in one step: a reader sees the old one or the new one.
    pub(super) fn write(&self, record: &Record) -> io::Result<()> {
        let content = serde_json::to_vec_pretty(record)?;
        replace_file(&self.meta(), &content, FileMode::PRIVATE, FileSync::Now)
    }

    pub(super) fn remove(&self) -> io::Result<()> {
        fs::remove_dir_all(&self.0)
    }
}

fn private_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counted(std::sync::atomic::AtomicU32);

    impl Ids for Counted {
        fn next(&self) -> u128 {
            u128::from(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) / 2)
        }
    }

    #[test]
    fn ids_are_new_and_lead_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let all = folder.path().join("processes");
        let ids = Counted(0.into());
        let made: Vec<String> = (0..3).map(|_| Directory::make(&all, &ids).unwrap().0).collect();
        assert_eq!(made, ["proc-00000000", "proc-00000001", "proc-00000002"]);
        assert_eq!(fs::metadata(&all).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(Directory::find(&all, "proc-00000001").is_some());
        fs::create_dir(folder.path().join("proc-outside")).unwrap();
        for id in ["proc-00000009", "proc-", "proc-../proc-outside", "../proc-outside", "", "/"] {
            assert_eq!(Directory::find(&all, id), None, "{id}");
        }
    }
}
