//! Blobs: contents of files, named by their SHA-256, in a folder that only this account can open.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::digest;
use crate::file_draft::sync_directory;
use crate::{FileDraft, FileSync};

/// A content that was kept.
pub(super) struct Blob {
    pub(super) digest: String,
    pub(super) size: u64,
}

/// The folder of blobs.
#[derive(Debug)]
pub(super) struct Blobs {
    folder: PathBuf,
    /// The largest content that is kept.
    max_bytes: u64,
}

impl Blobs {
    pub(super) fn new(folder: PathBuf, max_bytes: u64) -> Self {
        Self { folder, max_bytes }
    }

    /// Keeps the content of a file; `None` when it is too large. One that is synced later is durable when
    /// [`Blobs::sync`] returns: one sync for many.
    pub(super) fn put(&self, mut file: impl io::Read, sync: FileSync) -> io::Result<Option<Blob>> {
        make_private(&self.folder)?;
        let folder = Arc::new(OwnedFd::from(File::open(&self.folder)?));
        let mut draft = FileDraft::create_in(folder.clone(), 0o600)?;
        let Some((digest, size)) = digest::copy(&mut file, &mut draft.file, self.max_bytes)? else {
            return Ok(None);
        };
        let path = self.path(&digest);
        if !path.exists() {
            let shelf = path.parent().unwrap_or(&self.folder);
            make_private(shelf)?;
            let shelf = File::open(shelf)?;
            if sync == FileSync::Now {
                draft.file.sync_all()?;
            }
            draft.move_to(&shelf, OsStr::new(&digest))?;
            if sync == FileSync::Now {
                shelf.sync_all()?;
                sync_directory(&folder)?;
            }
        }
        Ok(Some(Blob { digest, size }))
    }

    /// Opens a kept content.
    pub(super) fn open(&self, digest: &str) -> io::Result<File> {
        File::open(self.path(digest))
    }

    pub(super) fn has(&self, digest: &str) -> bool {
        self.path(digest).is_file()
    }

    /// Makes all blobs durable that were put so far.
    pub(super) fn sync(&self) -> io::Result<()> {
        match File::open(&self.folder) {
            Ok(folder) => Ok(rustix::fs::syncfs(folder)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// All blobs with their sizes.
    pub(super) fn all(&self) -> io::Result<Vec<(String, u64)>> {
        let mut found = Vec::new();
        for shelf in entries(&self.folder)? {
            if !shelf.is_dir() {
                continue;
            }
            for blob in entries(&shelf)? {
                let name = blob.file_name().unwrap_or_default().to_string_lossy().into_owned();
                found.push((name, blob.metadata().map_or(0, |metadata| metadata.len())));
            }
        }
        Ok(found)
    }

    pub(super) fn remove(&self, digest: &str) -> io::Result<()> {
        fs::remove_file(self.path(digest))
    }

    fn path(&self, digest: &str) -> PathBuf {
        let shelf: String = digest.chars().take(2).collect();
        self.folder.join(shelf).join(digest)
    }
}

/// Makes a folder, and those above it, that only this account can open.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// A new file for this account alone.
pub(super) fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The entries of a folder; empty when it does not exist.
pub(super) fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
