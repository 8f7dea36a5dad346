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
    /// Those that the person wants to be read only, so that they are not asked again.
    #[serde(default)]
    read_only: Vec<Trusted>,
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

    /// Whether the person said that this very directory is to be read only.
    pub(crate) fn is_read_only(&self, directory: &Path) -> bool {
        let read_only = self.read().map(|file| file.read_only).unwrap_or_default();
        identify(directory).is_ok_and(|identity| read_only.contains(&identity))
    }

    /// All of them.
    pub(crate) fn list(&self) -> anyhow::Result<Vec<Trusted>> {
        Ok(self.read()?.directories)
    }

    fn read(&self) -> anyhow::Result<TrustFile> {
        let nothing = TrustFile { version: VERSION, directories: Vec::new(), read_only: Vec::new() };
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(nothing),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", self.path.display())),
        };
        let file: TrustFile = serde_json::from_str(&text).with_context(|| {
            format!("{} is damaged; nothing is trusted until it is removed", self.path.display())
        })?;
        if file.version != VERSION {
            bail!("{} was written by another version of buddy", self.path.display());
        }
        Ok(file)
    }

    /// Trusts a directory from now on and returns its real path.
    pub(crate) fn add(&self, directory: &Path) -> anyhow::Result<PathBuf> {
        let identity =
            identify(directory).with_context(|| format!("cannot trust `{}`", directory.display()))?;
        let mut file = self.read()?;
        file.forget(&identity.path);
        file.directories.push(identity.clone());
        self.write(&file)?;
        Ok(identity.path)
    }

    /// Remembers that a directory is to be read only. It is not trusted then.
    pub(crate) fn refuse(&self, directory: &Path) -> anyhow::Result<()> {
        let identity = identify(directory)?;
        let mut file = self.read()?;
        file.forget(&identity.path);
        file.read_only.push(identity);
        self.write(&file)
    }

    /// Trusts a directory no longer; false when it was not trusted. One that is gone can be named by its path. What was said
    /// about it is forgotten, so that it is asked for again.
    pub(crate) fn remove(&self, directory: &Path) -> anyhow::Result<bool> {
        let path = directory.canonicalize().or_else(|_| std::path::absolute(directory))?;
        let mut file = self.read()?;
        let is_trusted = file.directories.iter().any(|known| known.path == path);
        if file.forget(&path) {
            self.write(&file)?;
        }
        Ok(is_trusted)
    }

    fn write(&self, file: &TrustFile) -> anyhow::Result<()> {
        if let Some(data) = self.path.parent() {
            private_file::make_directory(data)?;
        }
        let text = serde_json::to_string_pretty(file)?;
        private_file::replace(&self.path, &format!("{text}\n"))
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

impl TrustFile {
    /// Takes out what was said about a path. True if something was.
    fn forget(&mut self, path: &Path) -> bool {
        let before = self.directories.len() + self.read_only.len();
        self.directories.retain(|known| known.path != path);
        self.read_only.retain(|known| known.path != path);
        self.directories.len() + self.read_only.len() < before
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
    fn a_no_is_remembered_for_that_directory_alone_and_trusts_nothing() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("project");
        std::fs::create_dir_all(project.join("sub")).unwrap();
        let store = TrustStore::new(&home.path().join("data"));
        store.add(&project).unwrap();
        store.refuse(&project).unwrap();
        assert!(store.is_read_only(&project) && !store.is_read_only(&project.join("sub")));
        assert!(!store.trusts(&project) && !store.covers(&project));
        store.add(&project).unwrap();
        assert!(store.trusts(&project) && !store.is_read_only(&project));
        store.refuse(&project).unwrap();
        assert!(!store.remove(&project).unwrap() && !store.is_read_only(&project), "it is asked for again");
    }

    #[test]
    fn a_list_without_refusals_is_read() {
        let home = tempfile::tempdir().unwrap();
        let store = TrustStore::new(home.path());
        std::fs::write(home.path().join("trusted.json"), r#"{"version": 1, "directories": []}"#).unwrap();
        assert!(!store.is_read_only(home.path()));
        store.add(home.path()).unwrap();
        assert!(store.trusts(home.path()));
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
