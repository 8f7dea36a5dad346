//! Files that are written in one step: a reader, a crash and a full disk find the old content or the new.
//!
//! The content goes to a *draft*, a new file under a random name in the same directory, which then takes the
//! place of the file. A draft that does not get there is removed. Directories are opened once, so that a draft
//! and its place are in the same one.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, fsync, linkat, openat, renameat, unlinkat};
use rustix::io::Errno;

use crate::random::random;

/// The beginning of the random part of a draft's name, which says whose file it is.
const OURS: &str = ".buddy-";

/// The number of names that are tried before giving up. A name has 64 random bits.
const TRIES: usize = 16;

/// The mode of a file that is written in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileMode {
    /// This one.
    Exactly(u32),
    /// What the mask of the process leaves of this one.
    Masked(u32),
}

impl FileMode {
    /// The mode of a file for this account alone.
    pub const PRIVATE: Self = Self::Exactly(0o600);
}

/// The time by which content and name of a file have to be on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSync {
    /// When the call returns: they survive a power cut.
    Now,
    /// When the kernel gets to it: they survive the end of this process.
    Later,
}

/// Replaces a file, or makes it. A link at this name is replaced and not followed.
pub fn replace_file(path: &Path, content: &[u8], mode: FileMode, sync: FileSync) -> io::Result<()> {
    FileDraft::written(path, content, mode, sync)?.replace(path, sync)
}

/// Makes a file. If something has the name already, that is left as it is, and this fails with `AlreadyExists`.
pub fn create_file(path: &Path, content: &[u8], mode: FileMode, sync: FileSync) -> io::Result<()> {
    let draft = FileDraft::written(path, content, mode, sync)?;
    // A link in the file system fails where a rename would replace.
    linkat(&draft.directory, &draft.name, &draft.directory, name_of(path)?, AtFlags::empty())?;
    draft.sync_directory(sync)
}

/// A file under a name of its own, which no other process has made (`O_EXCL`). Dropping it removes it.
#[derive(Debug)]
pub struct FileDraft {
    pub(crate) file: File,
    directory: Arc<OwnedFd>,
    name: OsString,
    is_kept: bool,
}

impl FileDraft {
    /// A draft for a file, with its content. Its name begins with a dot and that of the file.
    pub fn written(path: &Path, content: &[u8], mode: FileMode, sync: FileSync) -> io::Result<Self> {
        let mut prefix = OsString::from(".");
        prefix.push(name_of(path)?);
        prefix.push(OURS);
        let (FileMode::Exactly(bits) | FileMode::Masked(bits)) = mode;
        let mut draft = Self::create_as(Arc::new(directory_of(path)?), &prefix, bits)?;
        draft.file.write_all(content)?;
        if let FileMode::Exactly(bits) = mode {
            // The mask of the process may have taken rights away.
            draft.set_mode(bits)?;
        }
        if sync == FileSync::Now {
            draft.file.sync_all()?;
        }
        Ok(draft)
    }

    /// An empty draft in an open directory. The mode is cut by the account's mask.
    pub(crate) fn create_in(directory: Arc<OwnedFd>, mode: u32) -> io::Result<Self> {
        Self::create_as(directory, OsStr::new(OURS), mode)
    }

    fn create_as(directory: Arc<OwnedFd>, prefix: &OsStr, mode: u32) -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..TRIES {
            let mut name = prefix.to_owned();
            name.push(format!("{:016x}.tmp", u64::from_ne_bytes(random()?)));
            match openat(&directory, &name, flags, Mode::from_raw_mode(mode)) {
                Ok(file) => return Ok(Self { file: File::from(file), directory, name, is_kept: false }),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Gives the draft exactly this mode.
    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        self.file.set_permissions(Permissions::from_mode(mode & 0o7777))
    }

    /// Puts the draft in the place of the file that it was made for.
    pub fn replace(mut self, path: &Path, sync: FileSync) -> io::Result<()> {
        renameat(&self.directory, &self.name, &self.directory, name_of(path)?)?;
        self.is_kept = true;
        self.sync_directory(sync)
    }

    /// Puts the draft at a name of an open directory. An existing link is replaced and not followed.
    pub(crate) fn move_to(mut self, directory: impl AsFd, name: &OsStr) -> io::Result<()> {
        renameat(&self.directory, &self.name, directory, name)?;
        self.is_kept = true;
        Ok(())
    }

    fn sync_directory(&self, sync: FileSync) -> io::Result<()> {
        if sync == FileSync::Now { sync_directory(&self.directory) } else { Ok(()) }
    }
}

impl Drop for FileDraft {
    fn drop(&mut self) {
        if !self.is_kept {
            // An error has no reader; the name says whose file it is.
            let _ = unlinkat(&self.directory, &self.name, AtFlags::empty());
        }
    }
}

/// Makes the names in an open directory durable.
pub(crate) fn sync_directory(directory: impl AsFd) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat(directory, ".", flags, Mode::empty()) {
        Ok(directory) => Ok(fsync(directory)?),
        // A directory that may be written and not read cannot be synced.
        Err(Errno::ACCESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The directory of a file, opened without the right to list it, which it need not give.
fn directory_of(path: &Path) -> io::Result<OwnedFd> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(CWD, parent, flags, Mode::empty())?)
}

fn name_of(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn names(directory: &Path) -> Vec<OsString> {
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_file_is_made_once_and_replaced_with_exactly_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        create_file(&file, b"one", FileMode::PRIVATE, FileSync::Now).unwrap();
        let again = create_file(&file, b"two", FileMode::PRIVATE, FileSync::Now).unwrap_err();
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!((fs::read(&file).unwrap(), mode(&file)), (b"one".to_vec(), 0o600));
        for sync in [FileSync::Now, FileSync::Later] {
            replace_file(&file, b"three", FileMode::Exactly(0o666), sync).unwrap();
            assert_eq!((fs::read(&file).unwrap(), mode(&file)), (b"three".to_vec(), 0o666));
        }
        assert_eq!(names(folder.path()), ["f"]);
    }

    #[test]
    fn a_draft_that_gets_nowhere_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("d");
        fs::create_dir_all(directory.join("full")).unwrap();
        replace_file(&directory, b"x", FileMode::PRIVATE, FileSync::Now).unwrap_err();
        drop(FileDraft::written(&directory.join("f"), b"x", FileMode::PRIVATE, FileSync::Now).unwrap());
        assert_eq!((names(folder.path()), names(&directory)), (vec!["d".into()], vec!["full".into()]));
    }

    #[test]
    fn a_link_is_replaced_and_what_it_leads_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("f"), folder.path().join("l"));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        replace_file(&link, b"new", FileMode::PRIVATE, FileSync::Later).unwrap();
        assert!(!link.is_symlink());
        assert_eq!((fs::read(&file).unwrap(), fs::read(&link).unwrap()), (b"old".to_vec(), b"new".to_vec()));
    }

    #[test]
    fn a_directory_that_cannot_be_listed_is_written_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("d");
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, Permissions::from_mode(0o300)).unwrap();
        replace_file(&directory.join("f"), b"x", FileMode::PRIVATE, FileSync::Now).unwrap();
        assert_eq!(fs::read(directory.join("f")).unwrap(), b"x");
        fs::set_permissions(&directory, Permissions::from_mode(0o700)).unwrap();
        assert_eq!(names(&directory), ["f"]);
    }
}
