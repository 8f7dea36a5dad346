//! Files with secrets that commands in the background are kept from.
//!
//! A cover is a mount over one file. If somebody outside puts another file in its place, as editors do when they save, the kernel takes the
//! cover away, and a command that runs can read the new file. This finds out; it does not prevent it.

use std::collections::BTreeMap;
use std::fs::symlink_metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The most files that are watched. A jail seals fewer.
const MAX_FILES: usize = 2_000;

/// Files, with the objects that they were.
#[derive(Debug, Default)]
pub struct SealWatch(BTreeMap<PathBuf, (u64, u64)>);

impl SealWatch {
    /// Adds files as they are now. One that is known already stays what it was.
    pub fn add(&mut self, files: Vec<PathBuf>) {
        for file in files {
            if self.0.len() >= MAX_FILES {
                return;
            }
            if let Some(object) = object(&file) {
                self.0.entry(file).or_insert(object);
            }
        }
    }

    /// A file that is another object now. One that is missing may be on its way.
    pub fn replaced(&self) -> Option<&Path> {
        let is_other =
            |(file, known): &(&PathBuf, &(u64, u64))| object(file).is_some_and(|now| now != **known);
        self.0.iter().find(is_other).map(|(file, _)| file.as_path())
    }
}

fn object(file: &Path) -> Option<(u64, u64)> {
    symlink_metadata(file).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_another_takes_the_place_of_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join(".env"), folder.path().join("new"));
        fs::write(&file, "a").unwrap();
        let mut watch = SealWatch::default();
        watch.add(vec![file.clone(), folder.path().join("missing")]);
        fs::write(&file, "written in place").unwrap();
        assert_eq!(watch.replaced(), None);
        fs::write(&other, "b").unwrap();
        fs::rename(&other, &file).unwrap();
        watch.add(vec![file.clone()]);
        assert_eq!(watch.replaced(), Some(file.as_path()));
        fs::remove_file(&file).unwrap();
        assert_eq!(watch.replaced(), None);
    }
}
