//! A view: some bounds with their roots opened, through which every access of one call goes.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FileType, OFlags, ResolveFlags, Stat, fstat};

use super::beneath::{self, real_path};
use super::kind_of;
use super::protected::Protected;
use super::roots::{Root, Roots};
use crate::{Bounds, Reach, TargetError};

/// How often an object that vanished while it was being opened is looked for again.
const TRIES: usize = 8;

/// Bounds in effect.
pub(crate) struct View {
    read: Way,
    pub(super) write: Way,
    pub(super) protected: Protected,
}

/// A reach with its roots opened.
pub(super) enum Way {
    /// Everywhere, from the root of the file system.
    Anywhere(Arc<Root>),
    /// Beneath these.
    Beneath(Vec<Arc<Root>>),
}

/// Something that was opened for reading, and is within the bounds.
pub(crate) struct Opened {
    pub(super) fd: OwnedFd,
    /// Where it is, without links.
    pub(crate) real: PathBuf,
    pub(super) stat: Stat,
}

impl Opened {
    /// Opens something below this directory, through no link.
    pub(crate) fn open_below(&self, below: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        beneath::open(&self.fd, below, flags, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)
    }
}

impl View {
    pub(crate) fn new(roots: &Roots, bounds: &Bounds) -> Result<Self, TargetError> {
        let write = Way::new(roots, &bounds.write)?;
        let protected = Protected::new(bounds, write.roots());
        Ok(Self { read: Way::new(roots, &bounds.read)?, write, protected })
    }

    /// A regular file, opened for reading without waiting for anything.
    pub(crate) fn open_file(&self, path: &Path) -> Result<(File, Opened), TargetError> {
        let opened = match self.open(path, OFlags::RDONLY | OFlags::NONBLOCK) {
            Ok(opened) => opened,
            Err(error @ TargetError::Io { .. }) => {
                // A socket and a device without a driver cannot be opened at all; say what they are.
                let looked_at = self.open(path, OFlags::PATH)?;
                require_file(path, &looked_at.stat)?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        require_file(path, &opened.stat)?;
        let file = opened.fd.try_clone().map_err(|error| TargetError::from_io("open", path, error))?;
        Ok((File::from(file), opened))
    }

    /// A directory, to be listed or walked.
    pub(crate) fn open_directory(&self, path: &Path) -> Result<Opened, TargetError> {
        self.open(path, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Opens what may be read. Links are followed as long as they stay within the bounds.
    pub(super) fn open(&self, path: &Path, flags: OFlags) -> Result<Opened, TargetError> {
        self.protected.check_name(path)?;
        let (root, below, resolve) = self.read.find(path)?;
        let failed = |error: io::Error| match error {
            error if beneath::leads_out(&error) => TargetError::Outside { path: path.to_owned() },
            error => TargetError::from_io("open", path, error),
        };
        for _ in 0..TRIES {
            let fd = beneath::open(&root.fd, below, flags, resolve).map_err(failed)?;
            let stat = fstat(&fd).map_err(|error| failed(error.into()))?;
            let real = real_path(&fd).map_err(failed)?;
            // What was removed in the meantime has no place any more that could be judged.
            if stat.st_nlink == 0 && real.as_os_str().as_encoded_bytes().ends_with(b" (deleted)") {
                continue;
            }
            self.protected.check_read(path, &real)?;
            return Ok(Opened { fd, real, stat });
        }
        Err(TargetError::NotFound { path: path.to_owned() })
    }

    /// Whether a path of a walk is hidden by its name.
    pub(crate) fn hides(&self, real: &Path) -> bool {
        self.protected.hides(real)
    }

    /// Whether an object of a walk, by its device and number, is a hidden one.
    pub(crate) fn hides_object(&self, object: (u64, u64)) -> bool {
        self.protected.hides_object(object)
    }

    /// Whether anything below this directory can be hidden by its name.
    pub(crate) fn may_hide_below(&self, real: &Path) -> bool {
        self.protected.may_hide_below(real)
    }

    /// Refuses a real path that may not be read, by its place alone.
    pub(super) fn check_readable(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        match &self.read {
            Way::Anywhere(_) => Ok(()),
            Way::Beneath(roots) if roots.iter().any(|root| real.starts_with(root.real())) => Ok(()),
            Way::Beneath(_) => Err(TargetError::Outside { path: named.to_owned() }),
        }
    }

    /// Refuses a real path that is one of the roots, or has one in it.
    pub(super) fn check_not_root(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        let mut roots = self.read.roots().iter().chain(self.write.roots());
        let is_root = real == Path::new("/") || roots.any(|root| root.real().starts_with(real));
        if is_root { Err(TargetError::IsRoot { path: named.to_owned() }) } else { Ok(()) }
    }

    /// The directories between the root that is responsible for a real path and the path itself, outermost first: where
    /// files with rules about what to ignore may lie.
    pub(super) fn above(&self, real: &Path) -> Vec<PathBuf> {
        let top = match &self.read {
            Way::Anywhere(_) => PathBuf::from("/"),
            Way::Beneath(roots) => {
                let holding = roots.iter().map(|root| root.real()).filter(|root| real.starts_with(root));
                holding.min().unwrap_or_else(|| real.to_owned())
            }
        };
        let mut above: Vec<PathBuf> =
            real.ancestors().skip(1).filter(|path| path.starts_with(&top)).map(Path::to_owned).collect();
        above.reverse();
        above
    }
}

impl Way {
    fn new(roots: &Roots, reach: &Reach) -> Result<Self, TargetError> {
        Ok(match reach {
            Reach::Nothing => Self::Beneath(Vec::new()),
            Reach::Anywhere => Self::Anywhere(roots.pin(Path::new("/"))?),
            Reach::Beneath(paths) => {
                // A root that is not there has nothing beneath it.
                let pinned = paths.iter().map(|path| roots.pin(path));
                let there = pinned.filter(|root| !matches!(root, Err(TargetError::NotFound { .. })));
                Self::Beneath(there.collect::<Result<_, _>>()?)
            }
        })
    }

    /// The roots that confine; none where nothing does.
    pub(super) fn roots(&self) -> &[Arc<Root>] {
        match self {
            Self::Anywhere(_) => &[],
            Self::Beneath(roots) => roots,
        }
    }

    /// The root that is responsible for a path, the rest of the path, and how the kernel is to resolve it.
    pub(super) fn find<'p>(&self, path: &'p Path) -> Result<(&Root, &'p Path, ResolveFlags), TargetError> {
        let outside = || TargetError::Outside { path: path.to_owned() };
        match self {
            Self::Anywhere(root) => Ok((root, path.strip_prefix("/").unwrap_or(path), ResolveFlags::empty())),
            Self::Beneath(roots) => {
                let found = roots.iter().filter_map(|root| Some((root, root.below(path)?)));
                let nearest = found.min_by_key(|(_, below)| below.components().count());
                nearest.map(|(root, below)| (&**root, below, ResolveFlags::BENEATH)).ok_or_else(outside)
            }
        }
    }
}

/// Refuses everything that is not a regular file, with its kind.
pub(super) fn require_file(path: &Path, stat: &Stat) -> Result<(), TargetError> {
    match kind_of(FileType::from_raw_mode(stat.st_mode)) {
        None => Ok(()),
        Some(what) => Err(TargetError::NotAFile { path: path.to_owned(), what }),
    }
}
