//! The files of a store: their paths, their privacy, and whether their file system is trustworthy.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use buddy_protocol::StoreError;
use rustix::fs::OFlags;

use crate::error::from_io;

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// Network file systems, by the magic numbers of `statfs(2)`. Their locks and syncs do not guarantee what
/// `SQLite` relies on.
const NETWORK_FILE_SYSTEMS: &[(i64, &str)] = &[
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "kAFS"),
    (0x7375_7245, "Coda"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
    (0x1021_9340, "GFS2 or Lustre"),
    (0x0bd0_0bd0, "Lustre"),
    (0x564c, "NCP"),
];

/// The data directory of a store.
#[derive(Debug, Clone)]
pub(crate) struct StoreDirectory {
    root: PathBuf,
}

impl StoreDirectory {
    /// Creates missing directories, removes the access of others, and refuses an untrustworthy file system.
    /// Returns the paths that were open to others.
    pub(crate) fn prepare(root: &Path) -> Result<(Self, Vec<PathBuf>), StoreError> {
        let mut fixed = Vec::new();
        make_directory(root)?;
        let root = root.canonicalize().map_err(|error| from_io("find", root, &error))?;
        let directory = Self { root };
        for path in [directory.root.clone(), directory.run(), directory.leases()] {
            make_directory(&path)?;
            close_to_others(&path, DIRECTORY_MODE, &mut fixed)?;
        }
        refuse_network(&directory.root)?;
        for path in [directory.database(), directory.log_ahead(), directory.index(), directory.anchors()] {
            close_to_others(&path, FILE_MODE, &mut fixed)?;
        }
        Ok((directory, fixed))
    }

    /// An existing directory, which is left unchanged.
    pub(crate) fn existing(root: &Path) -> Result<Self, StoreError> {
        let root = root.canonicalize().map_err(|error| from_io("find", root, &error))?;
        Ok(Self { root })
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.root.join("buddy.db")
    }

    pub(crate) fn log_ahead(&self) -> PathBuf {
        self.root.join("buddy.db-wal")
    }

    fn index(&self) -> PathBuf {
        self.root.join("buddy.db-shm")
    }

    /// The file with the ends of all logs, apart from the database.
    pub(crate) fn anchors(&self) -> PathBuf {
        self.root.join("anchors")
    }

    pub(crate) fn run(&self) -> PathBuf {
        self.root.join("run")
    }

    pub(crate) fn leases(&self) -> PathBuf {
        self.run().join("leases")
    }

    /// Creates an empty database file if there is none. `SQLite` gives its other files the same mode.
    ///
    /// Call this only while no connection of this process has the file open: closing any descriptor of it
    /// would drop `SQLite`'s locks.
    pub(crate) fn make_database(&self) -> Result<bool, StoreError> {
        let path = self.database();
        match create_new(&path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(from_io("make", &path, &error)),
        }
    }
}

/// Creates a file that must not exist, for this user only.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).custom_flags(no_follow()).open(path)
}

/// Opens a file for reading and writing, creates it if missing, and never follows a link.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(FILE_MODE)
        .custom_flags(no_follow())
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if metadata.permissions().mode() & 0o777 != FILE_MODE {
        file.set_permissions(fs::Permissions::from_mode(FILE_MODE))?;
    }
    Ok(file)
}

/// Makes a directory's entries durable.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

fn no_follow() -> i32 {
    // A planted FIFO must not block either.
    (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()
}

fn make_directory(path: &Path) -> Result<(), StoreError> {
    DirBuilder::new()
        .recursive(true)
        .mode(DIRECTORY_MODE)
        .create(path)
        .map_err(|error| from_io("make the directory", path, &error))
}

/// Removes the access of others. Works by path and not by descriptor, see [`StoreDirectory::make_database`]. By
/// then the parent directory belongs to this user alone, so that nobody can swap the file.
fn close_to_others(path: &Path, mode: u32, fixed: &mut Vec<PathBuf>) -> Result<(), StoreError> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(from_io("look at", path, &error)),
    };
    if metadata.is_symlink() {
        return Err(StoreError::Io(format!(
            "`{}` is a symbolic link, which is not followed",
            path.display()
        )));
    }
    if metadata.permissions().mode() & 0o777 == mode {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
        .map_err(|error| from_io("set the mode of", path, &error))?;
    fixed.push(path.to_owned());
    Ok(())
}

#[cfg(target_os = "linux")]
fn refuse_network(path: &Path) -> Result<(), StoreError> {
    let found = rustix::fs::statfs(path).map_err(|error| from_io("look at", path, &error.into()))?;
    match network_name(found.f_type) {
        Some(name) => Err(StoreError::Io(format!(
            "`{}` is on a network file system ({name}), on which a database is not safe; use a local directory",
            path.display()
        ))),
        None => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn refuse_network(_path: &Path) -> Result<(), StoreError> {
    Ok(())
}

fn network_name(magic: i64) -> Option<&'static str> {
    // The kernel's magic numbers have 32 bits; some C libraries sign-extend them.
    let magic = magic & 0xffff_ffff;
    NETWORK_FILE_SYSTEMS.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_their_number() {
        assert_eq!(network_name(0x6969), Some("NFS"));
        assert_eq!(network_name(i64::from(0xff53_4d42_u32.cast_signed())), Some("CIFS"));
        assert_eq!(network_name(0xef53), None, "ext4");
    }
}
