//! Directories whose project files the user trusts, and what was in those files then.
//!
//! A directory is known by its real path, its device and inode, and the time at which it was made: another directory that is later
//! put in the same place is not trusted, and neither is a trusted one that is reached by way of a link of somebody else's making.
//!
//! The files by which a project controls buddy take effect as the user trusted them: from a copy, known by its digest. A file
//! that was changed since, by whomever, has no effect before the user accepts the change.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

use super::control_files::{CONTROL_FILES, ControlFileContent, Folder, RULES_FILE, UntrustedChange, digest};
use super::kept_read::KeptRead;
use super::private_file;

/// The form of the file that this program writes.
const VERSION: u32 = 1;

/// The list of trusted directories.
#[derive(Debug, Clone)]
pub(crate) struct TrustStore {
    path: PathBuf,
    kept: Arc<KeptRead<TrustFile>>,
    /// Copies of control files as they were trusted, named by their digest.
    copies: PathBuf,
}

/// A directory that is trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trusted {
    /// Its real path.
    pub(crate) path: PathBuf,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// The time at which it was made, where the file system keeps it. Trust from before it was kept counts only there where it is not.
    #[serde(default)]
    pub(crate) born_ns: Option<u64>,
    /// Its control files as they were trusted. Trust from before they were kept has none, so none of its files is used.
    #[serde(default)]
    pub(crate) files: Vec<TrustedFile>,
}

/// A control file as it was trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TrustedFile {
    pub(crate) name: String,
    pub(crate) sha256: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct TrustFile {
    version: u32,
    directories: Vec<Trusted>,
    /// Those that the user wants to be read only, so that they are not asked again.
    #[serde(default)]
    read_only: Vec<Trusted>,
}

impl TrustStore {
    /// The list in a data directory. Nothing is read yet.
    pub(crate) fn new(data: &Path) -> Self {
        Self { path: data.join("trusted.json"), kept: Arc::default(), copies: data.join("trusted") }
    }

    /// The file that changes whenever something is trusted, or no longer.
    pub(crate) fn file(&self) -> &Path {
        &self.path
    }

    /// Whether a directory is trusted. A list that cannot be read trusts nothing.
    pub(crate) fn trusts(&self, directory: &Path) -> bool {
        let list = self.list().unwrap_or_default();
        Folder::open(directory).is_ok_and(|folder| find(&list, &folder).is_some())
    }

    /// Whether a directory or one above it is trusted.
    pub(crate) fn covers(&self, directory: &Path) -> bool {
        let Ok(kept) = self.kept() else { return false };
        let Ok(path) = directory.canonicalize() else { return false };
        // Only a directory that the list names is looked at, each time: another one can be there by now.
        let is_named = |above: &&Path| kept.directories.iter().any(|known| known.path == **above);
        let is_known =
            |above: &Path| Folder::open(above).is_ok_and(|folder| find(&kept.directories, &folder).is_some());
        path.ancestors().filter(is_named).any(is_known)
    }

    /// Whether the user said that this very directory is to be read only.
    pub(crate) fn is_read_only(&self, directory: &Path) -> bool {
        let Ok(kept) = self.kept() else { return false };
        Folder::open(directory).is_ok_and(|folder| find(&kept.read_only, &folder).is_some())
    }

    /// All of them.
    pub(crate) fn list(&self) -> anyhow::Result<Vec<Trusted>> {
        Ok(self.kept()?.directories.clone())
    }

    /// The text of a control file that takes effect: the one that the user trusted.
    pub(crate) fn trusted_text(&self, directory: &Path, name: &str) -> anyhow::Result<Option<String>> {
        let list = self.list()?;
        let folder = Folder::open(directory)?;
        let file = find(&list, &folder).and_then(|trusted| trusted.file(name));
        file.map(|file| self.copy(file)).transpose()
    }

    /// The control files of a directory that are not what the user trusted. Where only a directory above it is trusted, its
    /// rules are looked at alone, and they were never trusted.
    pub(crate) fn changes(&self, directory: &Path) -> anyhow::Result<Vec<UntrustedChange>> {
        let list = self.list()?;
        let folder = Folder::open(directory)?;
        match find(&list, &folder) {
            Some(trusted) => Ok(self.compare(&folder, Some(trusted), &CONTROL_FILES)),
            None if self.covers(directory) => Ok(self.compare(&folder, None, &[RULES_FILE])),
            None => Ok(Vec::new()),
        }
    }

    /// The changes that the user can accept. A list that cannot be read trusts nothing, so that there are none.
    pub(crate) fn reviewable(&self, directory: &Path) -> Vec<UntrustedChange> {
        let changes = self.changes(directory).unwrap_or_default();
        changes.into_iter().filter(UntrustedChange::is_acceptable).collect()
    }

    fn compare(
        &self,
        folder: &Folder,
        trusted: Option<&Trusted>,
        names: &[&'static str],
    ) -> Vec<UntrustedChange> {
        let compare = |name: &&'static str| {
            let file = trusted.and_then(|trusted| trusted.file(name));
            // A copy that is damaged is a change too: accepting one makes it anew.
            let trusted = file.and_then(|file| self.copy(file).ok());
            let now = folder.read(name);
            let is_same = match (&now, &trusted) {
                (ControlFileContent::Text(now), Some(trusted)) => now == trusted,
                (ControlFileContent::Absent, None) => file.is_none(),
                _ => false,
            };
            (!is_same).then_some(UntrustedChange { name, trusted, now })
        };
        names.iter().filter_map(compare).collect()
    }

    /// The copy of a file, which must be what was trusted.
    fn copy(&self, file: &TrustedFile) -> anyhow::Result<String> {
        let path = self.copies.join(&file.sha256);
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if digest(&text) != file.sha256 {
            bail!("{} is damaged", path.display());
        }
        Ok(text)
    }

    fn kept(&self) -> anyhow::Result<Arc<TrustFile>> {
        self.kept.get([self.path.as_path()], || self.read())
    }

    fn read(&self) -> anyhow::Result<TrustFile> {
        let nothing = TrustFile { version: VERSION, directories: Vec::new(), read_only: Vec::new() };
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(nothing),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", self.path.display())),
        };
        let file: TrustFile = serde_json::from_str(&text).with_context(|| {
            format!("{} is damaged; no folder is trusted until you remove it", self.path.display())
        })?;
        if file.version != VERSION {
            bail!("{} was written by another version of buddy", self.path.display());
        }
        Ok(file)
    }

    /// Trusts a directory from now on, with its control files as they are, and returns its real path.
    pub(crate) fn add(&self, directory: &Path) -> anyhow::Result<PathBuf> {
        let folder = Folder::open_to_keep(directory).with_context(|| cannot_trust(directory))?;
        let list = self.list()?;
        let changes = self.compare(&folder, find(&list, &folder), &CONTROL_FILES);
        self.keep(&folder, &changes)
    }

    /// Lets changes take effect that the user has seen, exactly as they were seen, and trusts the directory.
    pub(crate) fn accept(&self, directory: &Path, changes: &[UntrustedChange]) -> anyhow::Result<PathBuf> {
        let folder = Folder::open_to_keep(directory).with_context(|| cannot_trust(directory))?;
        self.keep(&folder, changes)
    }

    fn keep(&self, folder: &Folder, changes: &[UntrustedChange]) -> anyhow::Result<PathBuf> {
        changes.iter().try_for_each(|change| change.check(&folder.path))?;
        self.change(|file| {
            let known = find(&file.directories, folder).cloned();
            let mut trusted = known.unwrap_or_else(|| Trusted::new(folder));
            for change in changes {
                let text = match &change.now {
                    ControlFileContent::Text(text) => Some(text),
                    ControlFileContent::Absent => None,
                    ControlFileContent::Refused(_) => continue,
                };
                trusted.files.retain(|known| known.name != change.name);
                if let Some(text) = text {
                    trusted.files.push(self.keep_copy(change.name, text)?);
                }
            }
            file.forget(&folder.path);
            file.directories.push(trusted);
            Ok(folder.path.clone())
        })
    }

    fn keep_copy(&self, name: &str, text: &str) -> anyhow::Result<TrustedFile> {
        let file = TrustedFile { name: name.to_owned(), sha256: digest(text) };
        let path = self.copies.join(&file.sha256);
        private_file::make_directory(&self.copies)
            .and_then(|()| private_file::replace(&path, text))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(file)
    }

    /// Remembers that a directory is to be read only. It is not trusted then.
    pub(crate) fn refuse(&self, directory: &Path) -> anyhow::Result<()> {
        let folder = Folder::open_to_keep(directory)?;
        self.change(|file| {
            file.forget(&folder.path);
            file.read_only.push(Trusted::new(&folder));
            Ok(())
        })
    }

    /// Trusts a directory no longer; false when it was not trusted. One that is gone can be named by its path. What was said
    /// about it is forgotten, so that it is asked for again.
    pub(crate) fn remove(&self, directory: &Path) -> anyhow::Result<bool> {
        let path = directory.canonicalize().or_else(|_| std::path::absolute(directory))?;
        if !self.path.exists() {
            return Ok(false);
        }
        self.change(|file| {
            let is_trusted = file.directories.iter().any(|known| known.path == path);
            file.forget(&path);
            Ok(is_trusted)
        })
    }

    /// Changes the list, and removes the copies that it names no longer.
    fn change<T>(&self, change: impl FnOnce(&mut TrustFile) -> anyhow::Result<T>) -> anyhow::Result<T> {
        let _lock =
            private_file::lock(&self.path).with_context(|| format!("cannot lock {}", self.path.display()))?;
        let mut file = self.read()?;
        let changed = change(&mut file)?;
        let text = serde_json::to_string_pretty(&file)?;
        private_file::replace(&self.path, &format!("{text}\n"))
            .with_context(|| format!("cannot write {}", self.path.display()))?;
        self.sweep(&file);
        Ok(changed)
    }

    /// A copy that stays behind does no harm, so that a failure is none.
    fn sweep(&self, file: &TrustFile) {
        let Ok(entries) = std::fs::read_dir(&self.copies) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let mut files = file.directories.iter().flat_map(|trusted| &trusted.files);
            if !files.any(|file| name == file.sha256.as_str()) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

impl Trusted {
    fn new(folder: &Folder) -> Self {
        let Folder { device, inode, born_ns, .. } = *folder;
        Self { path: folder.path.clone(), device, inode, born_ns, files: Vec::new() }
    }

    fn file(&self, name: &str) -> Option<&TrustedFile> {
        self.files.iter().find(|file| file.name == name)
    }
}

impl TrustFile {
    /// Takes out what was said about a path.
    fn forget(&mut self, path: &Path) {
        self.directories.retain(|known| known.path != path);
        self.read_only.retain(|known| known.path != path);
    }
}

/// The answer about this very folder.
fn find<'a>(list: &'a [Trusted], folder: &Folder) -> Option<&'a Trusted> {
    let identity = (&folder.path, folder.device, folder.inode, folder.born_ns);
    list.iter().find(|known| (&known.path, known.device, known.inode, known.born_ns) == identity)
}

fn cannot_trust(directory: &Path) -> String {
    format!("cannot trust `{}`", directory.display())
}

#[cfg(test)]
mod tests;
