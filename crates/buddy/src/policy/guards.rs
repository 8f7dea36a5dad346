//! The guards file: the user's own patterns for commands to ask about or to deny.
//!
//! The text that the user approved takes effect, and a copy of it is kept. A file that was changed since, by
//! whomever, changes nothing until it is approved, also after a restart.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use buddy_policy::{Rules, guards_from_json};

use crate::config::{ConfigError, private_file};

/// The largest file; people write kilobytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The guards file of a user.
pub(crate) struct Guards {
    file: PathBuf,
    approved: PathBuf,
}

/// How the file stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The guards in force.
    pub(crate) approved: Option<String>,
    /// The content of the file, where it differs.
    pub(crate) pending: Option<Pending>,
}

/// A change that waits to be approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pending {
    /// The file says this.
    Text(String),
    /// The file is gone.
    Removal,
}

impl Guards {
    /// The guards of a data directory. Nothing is read yet.
    pub(crate) fn new(data: &Path) -> Self {
        let directory = data.join("config");
        Self { file: directory.join("guards.json"), approved: directory.join("guards.approved.json") }
    }

    /// The file that the user edits.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// The copy of what the user approved.
    pub(super) fn approved_file(&self) -> &Path {
        &self.approved
    }

    /// The guards in force, and those that wait to be approved.
    pub(crate) fn standing(&self) -> anyhow::Result<Standing> {
        let (approved, current) = (read(&self.approved)?, read(&self.file)?);
        let pending = (approved != current).then(|| current.map_or(Pending::Removal, Pending::Text));
        Ok(Standing { approved, pending })
    }

    /// The warning about the file before a session: that a change has no effect yet. A file that cannot be understood is an
    /// error, because whoever wrote it means to be guarded.
    pub(crate) fn notice(&self) -> Result<Option<String>, ConfigError> {
        let failed =
            |error: anyhow::Error| ConfigError::new(self.file.display().to_string(), format!("{error:#}"));
        let standing = self.standing().map_err(failed)?;
        let current = match &standing.pending {
            Some(Pending::Text(text)) => Some(text),
            _ => None,
        };
        for text in standing.approved.iter().chain(current) {
            check_guards(text).map_err(failed)?;
        }
        Ok(standing.pending.map(|pending| {
            let what = match pending {
                Pending::Text(_) => "has changes that you have not approved, so they have no effect",
                Pending::Removal => "is gone, and the guards that you approved stay in effect",
            };
            format!("{} {what}. Run `buddy guards show`, then `buddy guards approve`.", self.file.display())
        }))
    }

    /// Approves a change that the user has seen.
    pub(crate) fn approve(&self, pending: &Pending) -> anyhow::Result<()> {
        let cannot = || format!("cannot write {}", self.approved.display());
        match pending {
            Pending::Text(text) => {
                if let Some(directory) = self.approved.parent() {
                    private_file::make_directory(directory).with_context(cannot)?;
                }
                private_file::replace(&self.approved, text).with_context(cannot)
            }
            Pending::Removal => std::fs::remove_file(&self.approved).with_context(cannot),
        }
    }
}

/// The rules that a text of guards makes.
pub(crate) fn check_guards(text: &str) -> anyhow::Result<Rules> {
    guards_from_json(text).context("the guards cannot be used")
}

fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let cannot = || format!("cannot read {}", path.display());
    match std::fs::metadata(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error).with_context(cannot),
        Ok(metadata) if !metadata.is_file() || metadata.len() > MAX_BYTES => {
            anyhow::bail!("{} is not a file of at most {MAX_BYTES} bytes", path.display())
        }
        Ok(_) => {}
    }
    std::fs::read_to_string(path).map(Some).with_context(cannot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_waits_until_it_is_approved() {
        let home = tempfile::tempdir().unwrap();
        let guards = Guards::new(home.path());
        assert_eq!(guards.standing().unwrap(), Standing::default());
        std::fs::create_dir(home.path().join("config")).unwrap();
        std::fs::write(guards.file(), "one").unwrap();
        let pending = guards.standing().unwrap();
        assert_eq!(pending, Standing { approved: None, pending: Some(Pending::Text("one".to_owned())) });
        guards.approve(&Pending::Text("one".to_owned())).unwrap();
        assert_eq!(guards.standing().unwrap(), Standing { approved: Some("one".to_owned()), pending: None });
        std::fs::write(guards.file(), "two").unwrap();
        let standing = Guards::new(home.path()).standing().unwrap();
        assert_eq!(standing.approved.as_deref(), Some("one"), "also after a restart");
        std::fs::remove_file(guards.file()).unwrap();
        assert_eq!(guards.standing().unwrap().pending, Some(Pending::Removal), "its removal waits too");
        guards.approve(&Pending::Removal).unwrap();
        assert_eq!(guards.standing().unwrap(), Standing::default());
    }
}
