//! Files that are written in one step, most of them for the user's eyes only.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// The mode that a file gets.
#[derive(Debug, Clone, Copy)]
enum Mode {
    /// This one.
    Exactly(u32),
    /// What the mask of the process leaves of this one.
    Masked(u32),
}

/// That of a file for the user alone.
const PRIVATE: Mode = Mode::Exactly(0o600);
/// That of any other new file.
const NEW: Mode = Mode::Masked(0o666);

/// Makes a directory and those above it, for the user alone. One that is there stays as it is.
pub(crate) fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Locks the file `NAME.lock` beside a file, for one small change of it, so that waiting for it is short.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    if let Some(directory) = path.parent() {
        make_directory(directory)?;
    }
    let lock = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path.with_extension("lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Makes a file. Whoever comes second fails with `AlreadyExists`, and nobody ever sees half of it.
pub(crate) fn create(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let draft = draft(path, content.as_ref(), PRIVATE)?;
    let made = std::fs::hard_link(&draft, path);
    std::fs::remove_file(&draft)?;
    made
}

/// Replaces a file. A symbolic link is written through, as people keep configuration in other places.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    replace_with(path, text, PRIVATE)
}

/// The same for a file that is as open as it was, or as files of the user usually are.
pub(crate) fn replace_usual(path: &Path, text: &str) -> io::Result<()> {
    let mode = std::fs::metadata(path).map(|metadata| metadata.permissions().mode() & 0o777);
    replace_with(path, text, mode.map_or(NEW, Mode::Exactly))
}

fn replace_with(path: &Path, text: &str, mode: Mode) -> io::Result<()> {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let draft = draft(&path, text.as_bytes(), mode)?;
    std::fs::rename(&draft, &path).inspect_err(|_| drop(std::fs::remove_file(&draft)))
}

fn draft(path: &Path, content: &[u8], mode: Mode) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}", uuid::Uuid::now_v7().simple()));
    let (Mode::Exactly(bits) | Mode::Masked(bits)) = mode;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(bits).open(&draft)?;
    let written = file.write_all(content).and_then(|()| {
        // The mask of the process can only take bits away, and a file of the user must be readable to the user.
        if let Mode::Exactly(bits) = mode {
            file.set_permissions(std::fs::Permissions::from_mode(bits))?;
        }
        file.sync_all()
    });
    written.inspect_err(|_| drop(std::fs::remove_file(&draft)))?;
    Ok(draft)
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
