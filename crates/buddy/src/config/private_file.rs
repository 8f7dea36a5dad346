//! Files that are written in one step, most of them for the user's eyes only.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use buddy_exec::{FileLock, FileMode, FileSync, LockKind, create_file, replace_file};

/// Makes a directory and those above it, for the user alone. One that is there stays as it is.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Locks the file `NAME.lock` beside a file, for one small change of it, so that waiting for it is short.
pub(crate) fn lock(path: &Path) -> io::Result<FileLock> {
    if let Some(directory) = path.parent() {
        make_directory(directory)?;
    }
    FileLock::take(&path.with_extension("lock"), LockKind::Exclusive)
}

/// Makes a file. Whoever comes second fails with `AlreadyExists`, and nobody ever sees half of it.
pub(crate) fn create(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    create_file(path, content.as_ref(), FileMode::PRIVATE, FileSync::Now)
}

/// Replaces a file. A symbolic link is written through, as people keep configuration in other places.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    replace_through(path, text, FileMode::PRIVATE)
}

/// The same for a file that is as open as it was, or as files of the user usually are.
pub(crate) fn replace_usual(path: &Path, text: &str) -> io::Result<()> {
    let mode = std::fs::metadata(path).map(|metadata| metadata.permissions().mode() & 0o777);
    replace_through(path, text, mode.map_or(FileMode::Masked(0o666), FileMode::Exactly))
}

fn replace_through(path: &Path, text: &str, mode: FileMode) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    replace_file(&path, text.as_bytes(), mode, FileSync::Now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_made_is_private_and_leaves_nothing_behind() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("a/b");
        make_directory(&directory).unwrap();
        let file = directory.join("f");
        create(&file, "one").unwrap();
        assert_eq!((mode(&directory), mode(&file)), (0o700, 0o600));
        replace(&file, "two").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
    }

    #[test]
    fn what_is_there_is_not_made_again() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("f");
        std::fs::write(&file, "mine").unwrap();
        assert_eq!(create(&file, "other").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_is_written_through() {
        let home = tempfile::tempdir().unwrap();
        let (file, link) = (home.path().join("real"), home.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&link, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
    }
}
