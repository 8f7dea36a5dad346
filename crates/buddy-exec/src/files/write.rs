//! Replacing a file in one step.
//!
//! The content goes to a new file in the same directory, which is synced and then renamed over the old one, and the
//! directory is synced too: after a crash or a power cut there is the old content or the new. A hard link to the old
//! file keeps the old content.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, Gid, Uid, access, fchown};
use tempfile::NamedTempFile;

use super::{read, require_file};
use crate::TargetError;

/// How much of the previous content is handed back: more than anyone reads as a diff.
pub const BEFORE_CAP: u64 = 1024 * 1024;

/// How many links in a row are followed, as the kernel does it.
const MAX_LINKS: usize = 40;

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The size of the new content.
    pub bytes: u64,
    /// Whether there was no file before.
    pub created: bool,
    /// The previous content, unless there was none, it could not be read, or it was larger than [`BEFORE_CAP`].
    pub before: Option<Vec<u8>>,
}

/// Replaces or creates the file at `path`, or the one that a link at `path` leads to.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<Written, TargetError> {
    let error = |error| TargetError::from_io("write", path, error);
    let path = follow_links(path).map_err(error)?;
    let existing = existing_file(&path)?;
    let directory = path.parent().ok_or_else(|| error(io::ErrorKind::IsADirectory.into()))?;
    let durable_from = make_parents(directory).map_err(error)?;
    let before = existing.as_ref().and_then(|_| read_before(&path));
    replace(&path, directory, content, existing.as_ref()).map_err(error)?;
    sync_directories(directory, &durable_from).map_err(error)?;
    Ok(Written { bytes: content.len() as u64, created: existing.is_none(), before })
}

/// The path behind the last component's links. The end of the chain need not exist.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = path.parent().unwrap_or(Path::new("/")).join(link),
            // Not a link, or nothing there yet: both are the end of the chain.
            Err(_) => return Ok(path),
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}

/// The file to be replaced, if there is one and it may be written. Nothing is opened, so nothing can wait.
fn existing_file(path: &Path) -> Result<Option<Metadata>, TargetError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(TargetError::from_io("write", path, error)),
    };
    require_file(path, &metadata)?;
    // A rename asks for rights on the directory only, but a read-only file is meant to stay as it is.
    access(path, Access::WRITE_OK).map_err(|error| TargetError::from_io("write", path, error.into()))?;
    Ok(Some(metadata))
}

fn read_before(path: &Path) -> Option<Vec<u8>> {
    let content = read(path, BEFORE_CAP).ok()?;
    (!content.truncated).then_some(content.bytes)
}

/// Makes the directory and returns its nearest ancestor that was there already.
fn make_parents(directory: &Path) -> io::Result<PathBuf> {
    let present = directory.ancestors().find(|ancestor| ancestor.exists()).unwrap_or(directory).to_owned();
    fs::create_dir_all(directory)?;
    Ok(present)
}

fn replace(path: &Path, directory: &Path, content: &[u8], existing: Option<&Metadata>) -> io::Result<()> {
    let mut temporary = temporary_in(directory, existing.is_some())?;
    temporary.write_all(content)?;
    if let Some(existing) = existing {
        take_over(temporary.as_file(), existing)?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(path)?;
    Ok(())
}

/// A new file that nobody else has made (`O_EXCL`). It is removed again unless it is renamed.
fn temporary_in(directory: &Path, is_private: bool) -> io::Result<NamedTempFile> {
    // The mode of a new file follows the umask, as with any program; what replaces a file stays closed until it has the
    // old one's mode.
    let mode = if is_private { 0o600 } else { 0o666 };
    tempfile::Builder::new()
        .prefix(".buddy-")
        .suffix(".tmp")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(directory)
}

/// Gives the new file owner and mode of the old one.
fn take_over(file: &File, existing: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (existing.uid(), existing.gid()) {
        // Only root may give files away; for others the content matters more than the owner.
        let _ = fchown(file, Some(Uid::from_raw(existing.uid())), Some(Gid::from_raw(existing.gid())));
    }
    // After the owner, as changing that clears the set-id bits.
    file.set_permissions(Permissions::from_mode(existing.mode() & 0o7777))
}

/// Makes the new name durable, and those of the directories that were made for it.
fn sync_directories(directory: &Path, present: &Path) -> io::Result<()> {
    for ancestor in directory.ancestors() {
        File::open(ancestor)?.sync_all()?;
        if ancestor == present {
            break;
        }
    }
    Ok(())
}
