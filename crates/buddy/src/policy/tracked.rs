//! Files of repositories on this machine that are tracked and can hold secrets, read from git's index.
//!
//! Git prints and copies such files out of its store, where no seal on the file helps. The index is read as it is, without
//! git: its format is stable, and a repository's settings run programs. A file that this process saw there stays known when it leaves the
//! index, because commits still have it. One that only older commits hold is not seen.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use buddy_exec::GitIndex;
use buddy_policy::secret_names;
use buddy_protocol::{OpenedRoots, fold_path};

/// The largest index that is read. That of a repository with a million files has some hundred megabytes.
const MAX_INDEX: u64 = 512 * 1024 * 1024;
/// Indexes whose answer is kept. Those that had secrets stay beyond this, up to as many again.
const MAX_KEPT: usize = 64;
/// Names that are remembered of one index.
const MAX_REMEMBERED: usize = 10_000;
/// The most that is read of a small file of a repository.
const MAX_SMALL: u64 = 65_536;

/// The contents of the indexes, as long as they stay as they are.
#[derive(Default)]
pub(super) struct TrackedSecrets {
    /// By the path of the index. Held for a look only.
    kept: Mutex<HashMap<PathBuf, KnownIndex>>,
}

/// The content of an index.
struct KnownIndex {
    /// When it changed last, and its length.
    state: (SystemTime, u64),
    /// Those that it has and had.
    names: Arc<Vec<PathBuf>>,
}

impl TrackedSecrets {
    /// The files that can hold secrets among those that the repositories of these directories track.
    pub(super) fn of(&self, directories: &[PathBuf]) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        for (top, store) in directories.iter().filter_map(|directory| repository(directory)) {
            for index in indexes(&store) {
                let names = self.names(&index, &store, &top);
                found.extend(names.iter().map(|name| top.join(name)));
            }
        }
        found.sort();
        found.dedup();
        found
    }

    fn names(&self, index: &Path, store: &Path, top: &Path) -> Arc<Vec<PathBuf>> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = kept().get(index).map(|known| (known.state, known.names.clone()));
        // Git takes a missing index for an empty one.
        let Ok(metadata) = std::fs::metadata(index) else {
            return earlier.map(|(_, names)| names).unwrap_or_default();
        };
        let state = (metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH), metadata.len());
        if let Some((_, names)) = earlier.as_ref().filter(|(known, _)| *known == state) {
            return names.clone();
        }
        let mut names = secrets(index, hash_length(store), top).unwrap_or_default();
        names.extend(earlier.iter().flat_map(|(_, names)| names.iter().cloned()));
        names.sort();
        names.dedup();
        names.truncate(MAX_REMEMBERED);
        let names = Arc::new(names);
        let mut kept = kept();
        if kept.len() >= MAX_KEPT {
            kept.retain(|_, known| !known.names.is_empty());
        }
        if kept.len() < 2 * MAX_KEPT || kept.contains_key(index) {
            kept.insert(index.to_owned(), KnownIndex { state, names: names.clone() });
        }
        names
    }
}

/// The top of the repository that a directory is in, and its store.
fn repository(directory: &Path) -> Option<(PathBuf, PathBuf)> {
    directory.ancestors().find_map(|top| {
        let git = top.join(".git");
        if git.is_dir() {
            return Some((top.to_owned(), git));
        }
        let text = small(&git)?;
        let store = text.lines().next()?.strip_prefix("gitdir:")?.trim();
        Some((top.to_owned(), top.join(store)))
    })
}

/// The index, and the parts that it shares with others.
fn indexes(store: &Path) -> Vec<PathBuf> {
    let mut indexes = vec![store.join("index")];
    let shared = std::fs::read_dir(store).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_shared =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"sharedindex."));
    indexes.extend(shared.filter(is_shared).take(MAX_KEPT));
    indexes
}

/// The length of the names of objects, which the settings of the repository say. Work trees share those of the first one.
fn hash_length(store: &Path) -> usize {
    let common = small(&store.join("commondir")).map(|text| store.join(text.trim()));
    let config = small(&common.unwrap_or_else(|| store.to_owned()).join("config")).unwrap_or_default();
    if config.to_ascii_lowercase().contains("sha256") { 32 } else { 20 }
}

fn small(path: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(path).ok()?.take(MAX_SMALL).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The names in an index that can hold secrets, relative to the top of the work tree.
fn secrets(index: &Path, hash_length: usize, top: &Path) -> io::Result<Vec<PathBuf>> {
    let (roots, above) = (OpenedRoots::new([top]), fold_path(top));
    let mut bytes = Vec::new();
    File::open(index)?.take(MAX_INDEX).read_to_end(&mut bytes)?;
    let entries = GitIndex::read(&bytes, hash_length).map(|index| index.entries).unwrap_or_default();
    let paths = entries.iter().map(|entry| Path::new(OsStr::from_bytes(&entry.path)));
    let can_hold_secrets =
        |path: &&Path| roots.protects(secret_names(), &[above.clone(), fold_path(path)].concat());
    Ok(paths.filter(can_hold_secrets).map(Path::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[expect(clippy::disallowed_methods, reason = "the test holds the reader against the real program")]
    fn git(directory: &Path, arguments: &[&str]) {
        let status = Command::new("git")
            .args(["-c", "user.email=x@example.org", "-c", "user.name=x"])
            .args(arguments)
            .current_dir(directory)
            .env("HOME", directory)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .status()
            .unwrap();
        assert!(status.success(), "{arguments:?}");
    }

    fn filled(directory: &Path) {
        std::fs::create_dir_all(directory.join("deep/er")).unwrap();
        for name in
            ["a.txt", ".env", "deep/er/.env.production", "deep/er/x", "deep/secrets.rs", "z", ".env.example"]
        {
            std::fs::write(directory.join(name), name).unwrap();
        }
        git(directory, &["add", "-f", "."]);
    }

    #[test]
    fn a_secret_that_leaves_the_index_stays_known() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path();
        git(top, &["init", "-q"]);
        filled(top);
        let tracked = TrackedSecrets::default();
        let before = tracked.of(&[top.to_owned()]);
        assert!(before.contains(&top.join(".env")), "{before:?}");
        git(top, &["rm", "-q", "--cached", "-f", ".env"]);
        assert_eq!(tracked.of(&[top.to_owned()]), before);
        std::fs::remove_file(top.join(".git/index")).unwrap();
        assert_eq!(tracked.of(&[top.to_owned()]), before);
    }

    #[test]
    fn every_form_of_an_index_is_read() {
        for (format, version, more) in [
            ("sha1", "2", &[][..]),
            ("sha1", "3", &["update-index", "--skip-worktree", "a.txt"][..]),
            ("sha1", "4", &[][..]),
            ("sha256", "2", &[][..]),
            ("sha256", "4", &[][..]),
            ("sha1", "2", &["update-index", "--split-index"][..]),
        ] {
            let place = tempfile::tempdir().unwrap();
            let top = place.path();
            git(top, &["init", "-q", &format!("--object-format={format}")]);
            filled(top);
            git(top, &["update-index", "--index-version", version]);
            if !more.is_empty() {
                git(top, more);
            }
            let found = TrackedSecrets::default().of(&[top.join("deep")]);
            assert_eq!(
                found,
                [top.join(".env"), top.join("deep/er/.env.production")],
                "{format} {version} {more:?}"
            );
        }
    }

    #[test]
    fn names_begin_above_the_top_and_end_below_it() {
        let place = tempfile::tempdir().unwrap();
        for (top, secret) in [(".docker", "config.json"), (".aws", ".env")] {
            let top = place.path().join(top);
            std::fs::create_dir(&top).unwrap();
            git(&top, &["init", "-q"]);
            for name in ["a.txt", "config.json", secret] {
                std::fs::write(top.join(name), "").unwrap();
            }
            git(&top, &["add", "-f", "."]);
            assert_eq!(TrackedSecrets::default().of(std::slice::from_ref(&top)), [top.join(secret)]);
        }
    }

    #[test]
    fn a_change_of_the_index_is_seen_and_other_directories_have_none() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path();
        let tracked = TrackedSecrets::default();
        assert!(tracked.of(&[top.to_owned()]).is_empty());
        git(top, &["init", "-q"]);
        std::fs::write(top.join("a"), "a").unwrap();
        git(top, &["add", "a"]);
        assert!(tracked.of(&[top.to_owned()]).is_empty());
        filled(top);
        assert_eq!(tracked.of(&[top.to_owned()]).len(), 2);
        std::fs::write(top.join(".git/index"), "DIRC\0\0\0\u{2}\0\0\0\u{9}short").unwrap();
        assert_eq!(tracked.of(&[top.to_owned()]).len(), 2, "what was tracked stays known");
        assert!(TrackedSecrets::default().of(&[top.to_owned()]).is_empty());
    }

    #[test]
    fn a_linked_work_tree_has_an_index_of_its_own() {
        let place = tempfile::tempdir().unwrap();
        let top = place.path().join("first");
        std::fs::create_dir(&top).unwrap();
        git(&top, &["init", "-q"]);
        filled(&top);
        git(&top, &["commit", "-qm", "x"]);
        git(&top, &["worktree", "add", "-q", "../second"]);
        let second = place.path().join("second");
        let found = TrackedSecrets::default().of(std::slice::from_ref(&second));
        assert_eq!(found, [second.join(".env"), second.join("deep/er/.env.production")]);
    }
}
