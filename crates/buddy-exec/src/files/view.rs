//! A view: some bounds with their roots opened, through which every access of one call goes.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FileType, OFlags, ResolveFlags, Stat, fstat};

use super::beneath::{self, real_path};
use super::kind_of;
use super::protected::Protected;
use super::roots::{Root, Roots};
use crate::{Bounds, Reach, TargetError};

/// Retries when an object vanished while it was being opened.
const TRIES: usize = 8;

/// Bounds in effect for one call.
pub(crate) struct View {
    read: Way,
    pub(super) write: Way,
    pub(super) protected: Protected,
}

/// A reach with its roots opened.
pub(super) struct Way {
    /// The root of the file system, where everything is in reach.
    top: Option<Arc<Root>>,
    /// Otherwise the directories that confine the reach; where everything is in reach, those that
    /// the user opened.
    roots: Vec<Arc<Root>>,
    /// Names of roots that now lead elsewhere.
    replaced: Vec<PathBuf>,
    /// Single paths that are in reach, with their directories.
    alone: Vec<(Arc<Root>, PathBuf)>,
}

/// An object that was opened for reading, and is within the bounds.
pub(crate) struct Opened {
    pub(super) fd: OwnedFd,
    /// Its path, without links.
    pub(crate) real: PathBuf,
    pub(super) stat: Stat,
}

impl Opened {
    /// Opens an object below this directory, through no link.
    pub(crate) fn open_below(&self, below: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        beneath::open(&self.fd, below, flags, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)
    }
}

impl View {
    pub(crate) fn new(roots: &Roots, bounds: &Bounds) -> Result<Self, TargetError> {
        let write = Way::new(roots, &bounds.write, &bounds.anchors)?.with_alone(roots, &bounds.write_alone);
        let read = Way::new(roots, &bounds.read, &bounds.anchors)?;
        let anchors = Way::new(roots, &Reach::Beneath(bounds.anchors.clone()), &[])?;
        let protected = Protected::new(bounds, anchors.roots(), write.roots());
        Ok(Self { read, write, protected })
    }

    /// Opens a regular file for reading, without waiting.
    pub(crate) fn open_file(&self, path: &Path) -> Result<(File, Opened), TargetError> {
        let opened = match self.open(path, OFlags::RDONLY | OFlags::NONBLOCK) {
            Ok(opened) => opened,
            Err(error @ TargetError::Io { .. }) => {
                // A socket and a device without a driver cannot be opened at all; report their kind.
                let looked_at = self.open(path, OFlags::PATH)?;
                require_file(path, &looked_at.stat)?;
                return Err(error);
            }
            Err(error) => return Err(error),
        };
        require_file(path, &opened.stat)?;
        self.protected.check_content(path, &opened.real, &opened.stat)?;
        let file = opened.fd.try_clone().map_err(|error| TargetError::from_io("open", path, error))?;
        Ok((File::from(file), opened))
    }

    /// Opens a directory, to be listed or walked.
    pub(crate) fn open_directory(&self, path: &Path) -> Result<Opened, TargetError> {
        self.open(path, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    /// Opens a readable object. Links are followed as long as they stay within the bounds.
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
            // An object that was removed in the meantime has no path any more that could be judged.
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

    /// Whether an object of a walk, by its device and inode number, is a hidden one.
    pub(crate) fn hides_object(&self, object: (u64, u64)) -> bool {
        self.protected.hides_object(object)
    }

    /// Whether the content of a file of a walk is not read, because it can hold secrets.
    pub(crate) fn seals(&self, real: &Path, stat: &Stat) -> bool {
        self.protected.seals(real)
            || self.protected.hides_linked(stat)
            || self.protected.seals_linked(real, stat).is_some()
    }

    /// The path that a path leads to through links, as far as it may be shown.
    pub(super) fn leads_to(&self, path: &Path) -> Option<PathBuf> {
        let (top, below) = (rustix::fs::CWD, path.parent()?);
        let find =
            |path: &Path| beneath::open(top, path, OFlags::PATH, ResolveFlags::empty()).and_then(real_path);
        let real = match find(path) {
            Ok(real) => real,
            Err(_) => find(below).ok()?.join(path.file_name()?),
        };
        self.protected.check_read(path, &real).ok().map(|()| real)
    }

    /// Whether anything below this directory can be hidden by its name.
    pub(crate) fn may_hide_below(&self, real: &Path) -> bool {
        self.protected.may_hide_below(real)
    }

    /// Refuses a real path that may not be read, by its place alone.
    pub(super) fn check_readable(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        let roots = self.read.roots();
        if self.read.is_anywhere() || roots.iter().any(|root| real.starts_with(root.real())) {
            return Ok(());
        }
        Err(TargetError::Outside { path: named.to_owned() })
    }

    /// Refuses a real path that is one of the roots, or has one in it.
    pub(super) fn check_not_root(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        let mut roots = self.read.roots.iter().chain(&self.write.roots);
        let is_root = real == Path::new("/") || roots.any(|root| root.real().starts_with(real));
        if is_root { Err(TargetError::IsRoot { path: named.to_owned() }) } else { Ok(()) }
    }

    /// The directories between the root that is responsible for a real path and the path itself, outermost
    /// first: ignore files may lie there.
    pub(super) fn above(&self, real: &Path) -> Vec<PathBuf> {
        let top = if self.read.is_anywhere() {
            PathBuf::from("/")
        } else {
            let roots = self.read.roots().iter().map(|root| root.real());
            roots.filter(|root| real.starts_with(root)).min().unwrap_or_else(|| real.to_owned())
        };
        let mut above: Vec<PathBuf> =
            real.ancestors().skip(1).filter(|path| path.starts_with(&top)).map(Path::to_owned).collect();
        above.reverse();
        above
    }
}

impl Way {
    fn new(roots: &Roots, reach: &Reach, anchors: &[PathBuf]) -> Result<Self, TargetError> {
        let (top, paths) = match reach {
            Reach::Nothing => (None, &[][..]),
            Reach::Anywhere => (Some(roots.pin(Path::new("/"))?), anchors),
            Reach::Beneath(paths) => (None, paths.as_slice()),
        };
        let mut way = Self { top, roots: Vec::new(), replaced: Vec::new(), alone: Vec::new() };
        for path in paths {
            match roots.pin(path) {
                Ok(root) => way.roots.push(root),
                // A missing root has nothing beneath it.
                Err(TargetError::NotFound { .. }) => {}
                Err(TargetError::Replaced { path }) => way.replaced.push(path),
                Err(error) => return Err(error),
            }
        }
        Ok(way)
    }

    /// The same with single paths beside. One whose directory is missing, or is behind a link, is out of reach.
    fn with_alone(self, roots: &Roots, paths: &[PathBuf]) -> Self {
        let open = |path: &PathBuf| {
            let directory = path.parent()?;
            let root = roots.pin(directory).ok().filter(|root| root.real() == directory)?;
            Some((root, path.clone()))
        };
        Self { alone: paths.iter().filter_map(open).collect(), ..self }
    }

    fn is_anywhere(&self) -> bool {
        self.top.is_some()
    }

    /// The roots that confine the reach; empty if nothing does.
    pub(super) fn roots(&self) -> &[Arc<Root>] {
        if self.is_anywhere() { &[] } else { &self.roots }
    }

    /// The root that is responsible for a path that is read, the rest of the path, and how the kernel is to resolve it.
    fn find<'p>(&self, path: &'p Path) -> Result<(&Root, &'p Path, ResolveFlags), TargetError> {
        self.check_in_place(path)?;
        match &self.top {
            Some(top) => Ok((top, path.strip_prefix("/").unwrap_or(path), ResolveFlags::empty())),
            None => self.beneath(path).ok_or_else(|| TargetError::Outside { path: path.to_owned() }),
        }
    }

    /// The same for a path to change, which goes through no link below its root. Where everything is in
    /// reach, that root is the directory that the user opened, or else the root of the file system.
    pub(super) fn find_changed<'p>(
        &self,
        path: &'p Path,
    ) -> Result<(&Root, &'p Path, ResolveFlags), TargetError> {
        self.check_in_place(path)?;
        let top = self.top.as_ref().map(|top| (&**top, path.strip_prefix("/").unwrap_or(path)));
        let alone = || {
            let (root, _) = self.alone.iter().find(|(_, alone)| alone == path)?;
            Some((&**root, Path::new(path.file_name()?)))
        };
        let found = self.beneath(path).map(|(root, below, _)| (root, below)).or(top).or_else(alone);
        let (root, below) = found.ok_or_else(|| TargetError::Outside { path: path.to_owned() })?;
        Ok((root, below, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS))
    }

    /// The path as it is resolved for a change. Where everything is in reach, it is that of the text that was
    /// judged.
    pub(super) fn plain(&self, path: &Path) -> PathBuf {
        if !self.is_anywhere() {
            return path.to_owned();
        }
        let mut plain = PathBuf::new();
        for component in path.components() {
            match component {
                Component::ParentDir => drop(plain.pop()),
                Component::CurDir => {}
                other => plain.push(other),
            }
        }
        plain
    }

    fn beneath<'p>(&self, path: &'p Path) -> Option<(&Root, &'p Path, ResolveFlags)> {
        let found = self.roots.iter().filter_map(|root| Some((root, root.below(path)?)));
        let nearest = found.min_by_key(|(_, below)| below.components().count());
        nearest.map(|(root, below)| (&**root, below, ResolveFlags::BENEATH))
    }

    fn check_in_place(&self, path: &Path) -> Result<(), TargetError> {
        match self.replaced.iter().find(|root| path.starts_with(root)) {
            Some(root) => Err(TargetError::Replaced { path: root.clone() }),
            None => Ok(()),
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
