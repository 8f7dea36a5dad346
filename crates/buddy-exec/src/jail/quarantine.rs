//! Quarantine: the directory for files that a command left where another program would take orders from them.
//!
//! Each entry has a directory of its own, with the file in it under its name, and beside it a file that
//! records its old path. A command may still be changing the place that a file is taken from, so every step
//! begins at a directory that was opened without following a link.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{AtFlags, statat};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::closed::{Unlocked, open_bare, unlock_way};
use super::raw_path::RawPath;
use super::walk::{Budget, Go, Listed, Unseen, Visited, Visitor, as_text, walk};

/// The most entries that are kept; the oldest go first.
const MAX_KEPT: usize = 200;

/// The most that is copied if an entry cannot be moved in one step: its files, their bytes, and their depth.
const MAX_COPIED_FILES: usize = 5000;
const MAX_COPIED_BYTES: u64 = 64 * 1024 * 1024;
const MAX_COPIED_DEPTH: usize = 32;

/// The directory of the quarantine. Without it, files are removed.
#[derive(Debug, Clone)]
pub(super) struct Quarantine(pub(super) Option<PathBuf>);

/// A note of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SweepNote {
    /// A file or directory was moved away.
    Moved(Moved),
    /// A directory was not searched.
    Unseen(Unseen),
    /// A file was not changed.
    Kept {
        /// Which one.
        path: PathBuf,
        /// Why: what follows "because".
        why: String,
    },
}

impl SweepNote {
    /// The moved file or directory, if the note is about one.
    pub fn moved(&self) -> Option<&Moved> {
        match self {
            Self::Moved(moved) => Some(moved),
            Self::Unseen(_) | Self::Kept { .. } => None,
        }
    }
}

impl fmt::Display for SweepNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moved(moved) => moved.fmt(f),
            Self::Unseen(unseen) => unseen.fmt(f),
            Self::Kept { path, why } => write!(f, "buddy left `{}` as it was, because {why}", path.display()),
        }
    }
}

/// A file or directory that was moved away after a command, so that no program takes orders from
/// it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Its old path.
    pub from: PathBuf,
    /// Its new path; `None` if it could not be kept.
    pub to: Option<PathBuf>,
    /// The reason, as a clause that follows "because".
    pub why: String,
}

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, why } = self;
        match to {
            Some(to) => write!(f, "buddy moved `{}` to `{}`, because {why}", from.display(), to.display()),
            None => write!(f, "buddy removed `{}`, because {why}", from.display()),
        }
    }
}

impl Quarantine {
    /// Moves a file or directory away.
    pub(super) fn take(&self, from: &Path, why: &str) -> io::Result<Moved> {
        let at = Spot::of(from)?;
        let kept = match self.take_from(&at, from) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let _unlocked = at.unlock();
                unlock_beneath(from);
                self.take_from(&at, from)?
            }
            other => other?,
        };
        Ok(Moved { from: as_text(from), to: kept.as_deref().map(as_text), why: why.to_owned() })
    }

    fn take_from(&self, at: &Spot, from: &Path) -> io::Result<Option<PathBuf>> {
        let kept = match &self.0 {
            None => None,
            Some(directory) => keep(directory, at, from)?,
        };
        if kept.is_none() {
            at.remove()?;
        }
        Ok(kept)
    }
}

/// Opens directories that are about to be moved or removed, for good.
fn unlock_beneath(path: &Path) {
    struct Opener;
    impl Visitor for Opener {
        fn enter(&mut self, visited: &Visited<'_>) {
            if let Some(unlocked) = open_bare(visited.path).ok().and_then(Unlocked::new) {
                unlocked.keep();
            }
        }
        fn see(&mut self, _: &Visited<'_>, _: &Listed) -> Go {
            Go::Into
        }
    }
    if let Some(unlocked) = open_bare(path).ok().and_then(Unlocked::new) {
        unlocked.keep();
    }
    walk(path, &mut Budget::small(MAX_COPIED_FILES, MAX_COPIED_DEPTH), &mut Opener);
}

fn keep(directory: &Path, at: &Spot, from: &Path) -> io::Result<Option<PathBuf>> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    evict(directory);
    let own = directory.join(entry_name());
    DirBuilder::new().mode(0o700).create(&own)?;
    fs::write(own.with_extension("from"), from.as_os_str().as_encoded_bytes())?;
    let to = own.join(from.file_name().unwrap_or_default());
    match fs::rename(at.path(), &to) {
        Ok(()) => Ok(Some(to)),
        Err(error) if Errno::from_io_error(&error) == Some(Errno::XDEV) => {
            let mut left = Left { files: MAX_COPIED_FILES, bytes: MAX_COPIED_BYTES };
            let copied = copy(&at.path(), &to, &mut left, MAX_COPIED_DEPTH);
            at.remove()?;
            Ok(copied.is_ok().then_some(to))
        }
        Err(error) => {
            let _ = fs::remove_dir(&own);
            let _ = fs::remove_file(own.with_extension("from"));
            Err(error)
        }
    }
}

/// A name that sorts by age.
fn entry_name() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let now = file_time();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{:011}.{:09}-{}-{number}", now.0, now.1, std::process::id())
}

/// Whether a path is that of an entry, by its name.
fn is_entry(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit))
}

/// Makes room for one more entry.
fn evict(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let mut names: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| is_entry(path) && path.is_dir()).collect();
    names.sort();
    let surplus = (names.len() + 1).saturating_sub(MAX_KEPT);
    for old in names.iter().take(surplus) {
        let _ = fs::remove_dir_all(old);
        let _ = fs::remove_file(old.with_extension("from"));
    }
}

struct Left {
    files: usize,
    bytes: u64,
}

fn copy(from: &Path, to: &Path, left: &mut Left, depth: usize) -> io::Result<()> {
    left.files = left.files.checked_sub(1).ok_or(io::ErrorKind::FileTooLarge)?;
    let found = fs::symlink_metadata(from)?;
    if found.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    if found.is_dir() {
        let depth = depth.checked_sub(1).ok_or(io::ErrorKind::FileTooLarge)?;
        DirBuilder::new().mode(0o700).create(to)?;
        for entry in fs::read_dir(from)?.flatten() {
            copy(&entry.path(), &to.join(entry.file_name()), left, depth)?;
        }
        return Ok(());
    }
    if !found.is_file() {
        return Ok(());
    }
    let source = open_file(from)?;
    let mut target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    let copied = io::copy(&mut source.take(left.bytes), &mut target)?;
    left.bytes -= copied;
    Ok(())
}

/// Opens a file, never through a link, and without waiting for the other end of a pipe.
fn open_file(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(file)
}

/// A name in a directory that was reached without a link.
pub(super) struct Spot {
    directory: OwnedFd,
    name: PathBuf,
    /// Directories on the way that a command has closed.
    _way: Vec<Unlocked>,
}

impl Spot {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let enters = |directory: &OwnedFd| statat(directory, ".", AtFlags::empty()).is_ok();
        let (directory, way) = match open_bare(parent) {
            Ok(directory) if enters(&directory) => (directory, Vec::new()),
            _ => {
                let way = unlock_way(path);
                (open_bare(parent)?, way)
            }
        };
        Ok(Self { directory, name: name.into(), _way: way })
    }

    /// Opens the directory itself, for as long as the value is held.
    pub(super) fn unlock(&self) -> Option<Unlocked> {
        self.directory.try_clone().ok().and_then(Unlocked::new)
    }

    /// A path that begins at the open directory, even if that is moved meanwhile.
    fn path(&self) -> PathBuf {
        Path::new("/proc/self/fd").join(self.directory.as_raw_fd().to_string()).join(&self.name)
    }

    fn remove(&self) -> io::Result<()> {
        let path = self.path();
        if fs::symlink_metadata(&path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
    }

    /// The content of the file here, up to a size.
    pub(super) fn read(&self, limit: u64) -> io::Result<Vec<u8>> {
        let file = open_file(&self.path())?;
        if file.metadata()?.len() > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut content = Vec::new();
        file.take(limit).read_to_end(&mut content)?;
        Ok(content)
    }

    /// The target of the link here.
    pub(super) fn read_link(&self) -> io::Result<PathBuf> {
        fs::read_link(self.path())
    }

    pub(super) fn metadata(&self) -> io::Result<fs::Metadata> {
        fs::symlink_metadata(self.path())
    }

    /// Makes a file if nothing is at the path.
    pub(super) fn write_new(&self, content: &[u8], mode: u32) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.path())?;
        file.write_all(content)?;
        file.set_permissions(fs::Permissions::from_mode(mode & 0o777))
    }

    /// Makes a directory if nothing is at the path.
    pub(super) fn make_directory(&self) -> io::Result<()> {
        fs::create_dir(self.path())
    }

    pub(super) fn link_new(&self, target: &Path) -> io::Result<()> {
        std::os::unix::fs::symlink(target, self.path())
    }
}

/// The time now by the clock that stamps files.
pub(super) fn file_time() -> (i64, i64) {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    (now.tv_sec, now.tv_nsec)
}

/// Whether an object was made, moved or changed since then, or is gone.
pub(super) fn is_since(path: &Path, then: (i64, i64)) -> bool {
    fs::symlink_metadata(path).map_or(true, |found| (found.ctime(), found.ctime_nsec()) >= then)
}

/// The content of a file or a link, which can be put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Content {
    File(Vec<u8>, u32),
    Link(RawPath),
}

/// The properties of a file that show that it was changed or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    object: (u64, u64),
    size: u64,
    changed: (i64, i64),
}

impl Stamp {
    pub(super) fn of(found: &fs::Metadata) -> Self {
        Self {
            object: (found.dev(), found.ino()),
            size: found.size(),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }
}
