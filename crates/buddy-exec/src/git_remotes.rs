//! The folders of this machine that remotes of a repository are, read from its own settings.
//!
//! Rewritten addresses (`insteadOf`) and included settings are not followed: such a remote is known only by its name.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use buddy_protocol::{RemoteLookup, RemoteName, RemoteQuery, RemoteUse};

use crate::git_orders::{OwnSetting, Repository, own_settings, read_small};
use crate::jail::local_directory;

/// The beginning of a `HEAD` that is on a branch.
const BRANCH: &str = "ref: refs/heads/";
/// The name of a remote that git takes if nothing says another.
const USUAL: &str = "origin";
/// The most folders of one answer.
const MAX_FOLDERS: usize = 20;

/// Looks up remotes in the files of this machine.
pub fn remote_lookup() -> RemoteLookup {
    RemoteLookup::new(remote_folders)
}

fn remote_folders(query: &RemoteQuery<'_>) -> Vec<PathBuf> {
    let Some(found) = FoundSettings::around(query.directory) else { return Vec::new() };
    let names = match query.name {
        RemoteName::Named(name) => vec![name.to_owned()],
        RemoteName::Usual => vec![found.usual(query.usage)],
        RemoteName::All => found.names().into_iter().collect(),
    };
    let mut folders: Vec<PathBuf> = Vec::new();
    for address in names.iter().flat_map(|name| found.addresses(name, query.usage)) {
        let folder = local_directory(&address).filter(|folder| !folder.starts_with('~'));
        let folder = folder.map(|folder| found.top.join(folder));
        // Nothing is fetched from, or pushed to, a folder that is not there.
        folders.extend(folder.filter(|folder| folder.is_dir() && folders.len() < MAX_FOLDERS));
    }
    folders
}

/// The settings of a repository.
struct FoundSettings {
    top: PathBuf,
    settings: Vec<OwnSetting>,
    branch: Option<String>,
}

impl FoundSettings {
    /// Those of the repository that a directory is in.
    fn around(directory: &Path) -> Option<Self> {
        let top = directory.ancestors().find(|above| fs::symlink_metadata(above.join(".git")).is_ok())?;
        let git = top.join(".git");
        // A linked work tree has a directory of its own, and one that it shares.
        let repositories = if git.is_dir() { vec![Repository::of(&git)] } else { Repository::behind(&git) };
        let head = repositories.first().and_then(|own| read_small(&own.git.join("HEAD")));
        let branch = head.and_then(|head| Some(head.trim().strip_prefix(BRANCH)?.to_owned()));
        let settings = repositories.iter().rev().flat_map(own_settings).collect();
        Some(Self { top: top.to_owned(), settings, branch })
    }

    fn values<'a>(&'a self, key: &'a str, of: &'a str) -> impl Iterator<Item = String> + 'a {
        let is_meant = move |setting: &&OwnSetting| setting.key == key && setting.of == of;
        self.settings.iter().filter(is_meant).map(|setting| setting.value.clone())
    }

    fn names(&self) -> BTreeSet<String> {
        let remotes = self.settings.iter().filter(|setting| setting.key.starts_with("remote."));
        remotes.filter(|setting| !setting.of.is_empty()).map(|setting| setting.of.clone()).collect()
    }

    /// The remote that git uses if no name is given.
    fn usual(&self, usage: RemoteUse) -> String {
        let branch = self.branch.as_deref().unwrap_or_default();
        let by_push = || self.values("branch.pushremote", branch).last();
        let by_default = || self.values("remote.pushdefault", "").last();
        let pushed = (usage == RemoteUse::Push).then(|| by_push().or_else(by_default)).flatten();
        let by_branch = || self.values("branch.remote", branch).last();
        let names = self.names();
        let only = names.first().filter(|_| names.len() == 1).cloned();
        pushed.or_else(by_branch).or(only).unwrap_or_else(|| USUAL.to_owned())
    }

    /// The addresses of a remote. A name that no settings know can be an address itself.
    fn addresses(&self, name: &str, usage: RemoteUse) -> Vec<String> {
        let fetched: Vec<String> = self.values("remote.url", name).collect();
        let pushed: Vec<String> = self.values("remote.pushurl", name).collect();
        match usage {
            RemoteUse::Push if !pushed.is_empty() => pushed,
            RemoteUse::Push => fetched,
            RemoteUse::Fetch => fetched.into_iter().take(1).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_remotes_are_found_by_their_names_and_without_one() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().join("app");
        for name in ["app/.git/x", "app/src", "bare.git", "second.git", "mirror.git"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let config = "[remote \"origin\"]\n url = ../bare.git\n[remote \"two\"]\n url = https://a.test/x\n \
                      pushurl = ../second.git\n pushurl = ../mirror.git\n[remote \"gone\"]\n url = ../gone.git\n\
                      [branch \"topic\"]\n remote = two\n";
        fs::write(top.join(".git/config"), config).unwrap();
        let look = |name, usage| {
            let query = RemoteQuery { directory: &top.join("src"), name, usage };
            let found = remote_folders(&query).into_iter();
            found
                .map(|path| path.strip_prefix(&top).unwrap().to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        };
        let (fetch, push) = (RemoteUse::Fetch, RemoteUse::Push);
        for (head, usual, pushed) in [
            ("main", vec!["../bare.git"], vec!["../bare.git"]),
            ("topic", Vec::<&str>::new(), vec!["../second.git", "../mirror.git"]),
        ] {
            fs::write(top.join(".git/HEAD"), format!("ref: refs/heads/{head}\n")).unwrap();
            assert_eq!(look(RemoteName::Usual, fetch), usual, "{head}");
            assert_eq!(look(RemoteName::Usual, push), pushed, "{head}");
        }
        assert_eq!(look(RemoteName::Named("origin"), push), ["../bare.git"]);
        assert_eq!(look(RemoteName::All, fetch), ["../bare.git"]);
        for name in ["two", "gone", "unknown", "../bare.git"] {
            assert!(look(RemoteName::Named(name), fetch).is_empty(), "{name}");
        }
    }
}
