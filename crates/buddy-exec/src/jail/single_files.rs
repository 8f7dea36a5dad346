//! Single files that a command may write outside of its write roots.
//!
//! A kernel layer opens an object and no name, so a missing file is made before the command starts. It is empty and has
//! [`MARK`] as its time; if it still has both when the last process of the command is gone, nobody wrote it, and it is
//! removed. A file that a killed supervisor left is empty and does no harm.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::OFlags;

/// The time of a file that nobody wrote yet: one that no clock shows.
const MARK: Duration = Duration::from_secs(1);

/// The files that may be written, and those that were made for it.
#[derive(Debug, Default)]
pub(super) struct SingleFiles {
    pub(super) files: Vec<PathBuf>,
    made: Vec<MadeFile>,
}

/// A file that is removed unless it was written.
#[derive(Debug)]
struct MadeFile {
    path: PathBuf,
    object: (u64, u64),
}

impl SingleFiles {
    /// Makes the missing ones. A path that is anything but a plain file with one name, at its real place, opens nothing.
    pub(super) fn make(paths: &[PathBuf]) -> Self {
        let mut single = Self::default();
        for path in paths {
            single.made.extend(make(path));
            if is_single(path) {
                single.files.push(path.clone());
            }
        }
        single
    }
}

impl Drop for SingleFiles {
    fn drop(&mut self) {
        for made in &self.made {
            let is_untouched = fs::symlink_metadata(&made.path).is_ok_and(|found| {
                let is_marked = found.modified().is_ok_and(|time| time == SystemTime::UNIX_EPOCH + MARK);
                (found.dev(), found.ino()) == made.object && found.len() == 0 && is_marked
            });
            if is_untouched {
                let _ = fs::remove_file(&made.path);
            }
        }
    }
}

fn make(path: &Path) -> Option<MadeFile> {
    if !is_in_place(path.parent()?) {
        return None;
    }
    // The mode follows the mask of the account, as with any program.
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let file = OpenOptions::new().write(true).create_new(true).custom_flags(flags).open(path).ok()?;
    let object = mark(&file);
    object.map(|object| MadeFile { path: path.to_owned(), object })
}

fn mark(file: &File) -> Option<(u64, u64)> {
    let time = SystemTime::UNIX_EPOCH + MARK;
    file.set_times(FileTimes::new().set_modified(time).set_accessed(time)).ok()?;
    let found = file.metadata().ok()?;
    Some((found.dev(), found.ino()))
}

/// A file with a second name could be a protected one.
fn is_single(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.nlink() == 1)
        && path.parent().is_some_and(is_in_place)
}

/// Whether no link is on the way.
fn is_in_place(directory: &Path) -> bool {
    directory.canonicalize().is_ok_and(|real| real == directory)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn missing_files_are_made_and_go_unless_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let paths = ["written", "emptied", "untouched", "there"].map(|name| root.join(name));
        fs::write(&paths[3], "").unwrap();
        let single = SingleFiles::make(&paths);
        assert_eq!(single.files, paths);
        fs::write(&paths[0], "x").unwrap();
        fs::write(&paths[1], "").unwrap();
        drop(single);
        assert_eq!(paths.map(|path| path.exists()), [true, true, false, true]);
    }

    #[test]
    fn links_directories_and_files_with_two_names_are_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join("file"), "").unwrap();
        fs::hard_link(root.join("file"), root.join("second")).unwrap();
        symlink("file", root.join("link")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        symlink(".", root.join("here")).unwrap();
        let paths = ["file", "link", "dangling", "here/new", "missing/new", "."].map(|name| root.join(name));
        assert_eq!(SingleFiles::make(&paths).files, Vec::<PathBuf>::new());
        assert!(!root.join("nowhere").exists() && !root.join("new").exists());
    }
}
