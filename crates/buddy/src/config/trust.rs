//! Directories whose project files the person trusts.
//!
//! A directory is known by its real path and by its device and inode: another directory that is later put in the same
//! place is not trusted, and neither is a trusted one that is reached by way of a link of somebody else's making.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::private_file;

/// The form of the file that this program writes.
const VERSION: u32 = 1;

/// The list of trusted directories.
pub(crate) struct TrustStore {
    path: PathBuf,
}

/// A directory that is trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trusted {
    /// Its real path.
    pub(crate) path: PathBuf,
    device: u64,
    inode: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct TrustFile {
    version: u32,
    directories: Vec<Trusted>,
}

impl TrustStore {
    /// The list in a data directory. Nothing is read yet.
    pub(crate) fn new(data: &Path) -> Self {
        Self { path: data.join("trusted.json") }
    }

    /// Whether a directory is trusted. A list that cannot be read trusts nothing.
    pub(crate) fn trusts(&self, directory: &Path) -> bool {
        let list = self.list().unwrap_or_default();
        identify(directory).is_ok_and(|identity| list.contains(&identity))
    }

    /// Whether a directory or one above it is trusted.
    pub(crate) fn covers(&self, directory: &Path) -> bool {
        let list = self.list().unwrap_or_default();
        let Ok(path) = directory.canonicalize() else { return false };
        path.ancestors().any(|above| identify(above).is_ok_and(|identity| list.contains(&identity)))
    }

    /// All of them.
    pub(crate) fn list(&self) -> anyhow::Result<Vec<Trusted>> {
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", self.path.display())),
        };
        let file: TrustFile = serde_json::from_str(&text).with_context(|| {
            format!("{} is damaged; nothing is trusted until it is removed", self.path.display())
        })?;
        if file.version != VERSION {
            bail!("{} was written by another version of buddy", self.path.display());
        }
        Ok(file.directories)
    }

    /// Trusts a directory from now on and returns its real path.
    pub(crate) fn add(&self, directory: &Path) -> anyhow::Result<PathBuf> {
        let identity =
            identify(directory).with_context(|| format!("cannot trust `{}`", directory.display()))?;
        let mut directories = self.list()?;
        directories.retain(|known| known.path != identity.path);
        directories.push(identity.clone());
        self.write(directories)?;
        Ok(identity.path)
    }

    /// Trusts a directory no longer; false when it was not trusted. One that is gone can be named by its path.
    pub(crate) fn remove(&self, directory: &Path) -> anyhow::Result<bool> {
        let path = directory.canonicalize().or_else(|_| std::path::absolute(directory))?;
        let mut directories = self.list()?;
        let before = directories.len();
        directories.retain(|known| known.path != path);
        let is_removed = directories.len() < before;
        if is_removed {
            self.write(directories)?;
        }
        Ok(is_removed)
    }

    fn write(&self, directories: Vec<Trusted>) -> anyhow::Result<()> {
        if let Some(data) = self.path.parent() {
            private_file::make_directory(data)?;
        }
        let text = serde_json::to_string_pretty(&TrustFile { version: VERSION, directories })?;
        private_file::replace(&self.path, &format!("{text}\n"))
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

fn identify(directory: &Path) -> io::Result<Trusted> {
    let path = directory.canonicalize()?;
    let metadata = std::fs::metadata(&path)?;
    if !metadata.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(Trusted { path, device: metadata.dev(), inode: metadata.ino() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_given_kept_and_taken() {
        let home = tempfile::tempdir().unwrap();
        let (project, other) = (home.path().join("project"), home.path().join("other"));
        std::fs::create_dir(&project).unwrap();
        std::fs::create_dir(&other).unwrap();
        let store = TrustStore::new(&home.path().join("data"));
        assert!(!store.trusts(&project));
        store.add(&project).unwrap();
        store.add(&project).unwrap();
        assert!(store.trusts(&project) && !store.trusts(&other));
        std::fs::create_dir(project.join("sub")).unwrap();
        assert!(store.covers(&project.join("sub")) && !store.covers(&other) && !store.covers(home.path()));
        assert_eq!(store.list().unwrap().len(), 1);
        assert!(store.remove(&project).unwrap() && !store.remove(&project).unwrap());
        assert!(!store.trusts(&project));
    }

    #[test]
    fn another_directory_in_the_same_place_is_not_trusted() {
        let home = tempfile::tempdir().unwrap();
        let (project, moved) = (home.path().join("project"), home.path().join("moved"));
        std::fs::create_dir(&project).unwrap();
        let store = TrustStore::new(home.path());
        store.add(&project).unwrap();
        std::fs::rename(&project, &moved).unwrap();
        std::fs::create_dir(&project).unwrap();
        assert!(!store.trusts(&project) && !store.trusts(&moved));
    }

    #[test]
    fn a_damaged_list_trusts_nothing_and_is_not_overwritten() {
        let home = tempfile::tempdir().unwrap();
        let store = TrustStore::new(home.path());
        store.add(home.path()).unwrap();
        std::fs::write(home.path().join("trusted.json"), "{").unwrap();
        assert!(!store.trusts(home.path()));
        assert!(store.add(home.path()).is_err());
    }
}
