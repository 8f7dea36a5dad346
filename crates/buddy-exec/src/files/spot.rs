//! A spot: one name in a directory that was opened within the bounds. All changes happen here, relative to that
//! directory, so that no path is resolved a second time.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    Access, AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, accessat, fchmod, mkdirat, openat,
    readlinkat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::beneath::{self, real_path};
use super::view::View;
use crate::TargetError;
use crate::file_draft::sync_directory;

/// Directories made for one file at most.
const MAX_PARENTS: usize = 256;

/// One name in an open directory.
pub(crate) struct Spot {
    directory: Arc<OwnedFd>,
    /// The path of the directory, without links.
    place: PathBuf,
    name: OsString,
    /// The requested path.
    pub(super) named: PathBuf,
}

/// The handling of missing parent directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parents {
    /// Create them.
    Make,
    /// Return an error.
    Need,
}

impl View {
    /// The spot of a path to change. Directories that had to be made on the way are returned, outermost
    /// first. No link is followed, in any mode: a change lands on the path that was judged.
    pub(super) fn spot(&self, path: &Path, parents: Parents) -> Result<(Spot, Vec<Spot>), TargetError> {
        let (spot, made) = self.spot_itself(path, parents)?;
        if spot.is_link()? {
            return Err(TargetError::Link { path: path.to_owned(), to: self.leads_to(path) });
        }
        Ok((spot, made))
    }

    /// The spot of a name itself, also when it is a link: for objects to remove or make.
    pub(crate) fn spot_itself(
        &self,
        path: &Path,
        parents: Parents,
    ) -> Result<(Spot, Vec<Spot>), TargetError> {
        let mut made = Vec::new();
        let spot = self.spot_within(path, parents, &mut made)?;
        Ok((spot, made))
    }

    fn spot_within(&self, named: &Path, parents: Parents, made: &mut Vec<Spot>) -> Result<Spot, TargetError> {
        let path = self.write.plain(named);
        let (root, below, resolve) = self.write.find_changed(&path)?;
        self.protected.check_write_name(named, &root.real().join(below))?;
        let Some(Component::Normal(name)) = below.components().next_back() else {
            return Err(TargetError::IsRoot { path: named.to_owned() });
        };
        let above = below.parent().unwrap_or(Path::new(""));
        let open = |below: &Path| {
            beneath::open(&root.fd, below, OFlags::PATH | OFlags::DIRECTORY, resolve)
                .map_err(|error| self.refused(named, error))
        };
        let directory = match open(above) {
            Err(TargetError::NotFound { .. }) if parents == Parents::Make => {
                self.make_parents(named, above, &open, made)?
            }
            opened => opened?,
        };
        let place = real_path(&directory).map_err(|error| TargetError::from_io("look at", named, error))?;
        let directory = Arc::new(directory);
        let spot = Spot { directory, place, name: name.to_owned(), named: named.to_owned() };
        self.check_spot(&spot)?;
        Ok(spot)
    }

    /// The reason why a directory on the way could not be opened.
    fn refused(&self, named: &Path, error: io::Error) -> TargetError {
        match error {
            error if beneath::leads_out(&error) => TargetError::Outside { path: named.to_owned() },
            error if beneath::is_link(&error) => {
                TargetError::Link { path: named.to_owned(), to: self.leads_to(named) }
            }
            error => TargetError::from_io("open the directory of", named, error),
        }
    }

    fn check_spot(&self, spot: &Spot) -> Result<(), TargetError> {
        let real = spot.real();
        self.check_readable(&spot.named, &real)?;
        self.protected.check_write(&spot.named, &real)
    }

    /// The same check for an empty directory on the way to a file.
    fn check_parent(&self, spot: &Spot) -> Result<(), TargetError> {
        match self.check_spot(spot) {
            Err(TargetError::Guarded { .. }) => {
                self.check_readable(&spot.named, &spot.real())?;
                self.protected.check_way(&spot.named, &spot.real())
            }
            checked => checked,
        }
    }

    fn make_parents(
        &self,
        named: &Path,
        above: &Path,
        open: &impl Fn(&Path) -> Result<OwnedFd, TargetError>,
        made: &mut Vec<Spot>,
    ) -> Result<OwnedFd, TargetError> {
        let failed = |error: io::Error| TargetError::from_io("make the directory of", named, error);
        let mut below = PathBuf::new();
        let mut directory = open(&below)?;
        for component in above.components() {
            let parent = below.clone();
            below.push(component);
            directory = match (open(&below), component) {
                (Err(TargetError::NotFound { .. }), Component::Normal(name)) => {
                    if made.len() == MAX_PARENTS {
                        return Err(TargetError::TooMany { what: "missing directories", limit: MAX_PARENTS });
                    }
                    let place = real_path(&directory).map_err(failed)?;
                    let holder = open(&parent)?;
                    let spot = Spot {
                        directory: Arc::new(holder),
                        place,
                        name: name.to_owned(),
                        named: named.to_owned(),
                    };
                    self.check_parent(&spot)?;
                    match spot.make_directory() {
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                            return Err(failed(error));
                        }
                        _ => {}
                    }
                    made.push(spot);
                    open(&below)?
                }
                (opened, _) => opened?,
            };
        }
        Ok(directory)
    }
}

impl Spot {
    /// The path of the spot, without links.
    pub(crate) fn real(&self) -> PathBuf {
        self.place.join(&self.name)
    }

    /// The requested path.
    pub(crate) fn named(&self) -> &Path {
        &self.named
    }

    /// The metadata of the object at the spot, without following a link; `None` if there is none.
    pub(crate) fn stat(&self) -> io::Result<Option<Stat>> {
        match statat(&self.directory, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn is_link(&self) -> Result<bool, TargetError> {
        let stat = self.stat().map_err(|error| TargetError::from_io("look at", &self.named, error))?;
        Ok(stat.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink))
    }

    /// The target of the link at the spot.
    pub(crate) fn link_target(&self) -> io::Result<PathBuf> {
        let target = readlinkat(&self.directory, &self.name, Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(target.as_bytes())))
    }

    /// Opens the file at the spot, never through a link and without waiting.
    pub(crate) fn open_file(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.directory, &self.name, flags, Mode::empty())?))
    }

    /// Opens the directory at the spot, never through a link.
    pub(crate) fn open_directory(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.directory, &self.name, flags, Mode::empty())?)
    }

    /// Checks that this account may write to the object at the spot.
    pub(super) fn check_writable(&self) -> io::Result<()> {
        Ok(accessat(&self.directory, &self.name, Access::WRITE_OK, AtFlags::empty())?)
    }

    /// Makes an empty directory, with the mode that the account's mask leaves.
    pub(crate) fn make_directory(&self) -> io::Result<()> {
        Ok(mkdirat(&self.directory, &self.name, Mode::from_raw_mode(0o777))?)
    }

    /// Makes a link.
    pub(crate) fn make_link(&self, target: &Path) -> io::Result<()> {
        Ok(symlinkat(target, &self.directory, &self.name)?)
    }

    /// Removes the object at the spot unless it is a directory.
    pub(crate) fn remove_file(&self) -> io::Result<()> {
        Ok(unlinkat(&self.directory, &self.name, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    pub(crate) fn remove_directory(&self) -> io::Result<()> {
        Ok(unlinkat(&self.directory, &self.name, AtFlags::REMOVEDIR)?)
    }

    /// Makes changes of names in the directory durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        sync_directory(&self.directory)
    }

    /// A name in a directory that is open already.
    pub(crate) fn inside(directory: &Arc<OwnedFd>, place: &Path, name: &OsStr) -> Self {
        let named = place.join(name);
        Self { directory: directory.clone(), place: place.to_owned(), name: name.to_owned(), named }
    }

    /// The spot of a path below this directory, through no link.
    pub(crate) fn below(&self, path: &Path) -> io::Result<Self> {
        let top = self.open_directory()?;
        let parent = path.parent().unwrap_or(Path::new(""));
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let directory = Arc::new(beneath::open(top, parent, OFlags::PATH | OFlags::DIRECTORY, resolve)?);
        Ok(Self::inside(&directory, &self.real().join(parent), path.file_name().unwrap_or_default()))
    }

    /// Gives a directory exactly this mode.
    pub(crate) fn set_directory_mode(&self, mode: u32) -> io::Result<()> {
        Ok(fchmod(self.open_directory()?, Mode::from_raw_mode(mode & 0o7777))?)
    }

    pub(super) fn directory(&self) -> &Arc<OwnedFd> {
        &self.directory
    }

    pub(super) fn name(&self) -> &OsStr {
        &self.name
    }
}
