//! The instructions of a project for agents: `AGENTS.md`, or `CLAUDE.md` where there is none, from the project's root down.
//!
//! Read only in directories that the user trusts, and only from regular files without further names: one of those could be `.env`.

use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use buddy_calls::ProjectFile;
use rustix::fs::OFlags;

use crate::config::TrustStore;

/// The names that are looked for in each directory; the first that is there counts.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// Bytes of one file that are taken.
const MAX_BYTES: u64 = 32 * 1024;
/// Directories between the root and the one to work in.
const MAX_DEPTH: usize = 32;

/// The files for a directory to work in, from the root of its repository down.
pub(crate) fn project_files(trust: &TrustStore, cwd: &Path) -> Vec<ProjectFile> {
    let Ok(cwd) = cwd.canonicalize() else { return Vec::new() };
    let root = root(&cwd);
    let mut directories: Vec<PathBuf> = cwd
        .ancestors()
        .take(MAX_DEPTH)
        .take_while(|directory| directory.starts_with(&root))
        .filter(|directory| trust.covers(directory))
        .map(Path::to_owned)
        .collect();
    directories.reverse();
    directories.iter().filter_map(|directory| file_of(directory, &root)).collect()
}

/// The nearest directory above that holds a repository; without one the directory itself.
fn root(cwd: &Path) -> PathBuf {
    let is_root = |directory: &&Path| directory.join(".git").symlink_metadata().is_ok();
    cwd.ancestors().take(MAX_DEPTH).find(is_root).unwrap_or(cwd).to_owned()
}

fn file_of(directory: &Path, root: &Path) -> Option<ProjectFile> {
    NAMES.into_iter().find_map(|name| {
        let path = directory.join(name);
        let text = read(&path, directory).ok().filter(|text| !text.trim().is_empty())?;
        let shown = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        Some(ProjectFile { path: shown, text })
    })
}

/// Whether all names of a file are those that are looked for, in this directory. Others could be those of a file with secrets.
fn has_no_other_names(found: &Metadata, directory: &Path) -> bool {
    let is_it = |name: &&str| {
        let named = directory.join(name).symlink_metadata();
        named.is_ok_and(|named| (named.dev(), named.ino()) == (found.dev(), found.ino()))
    };
    NAMES.into_iter().filter(is_it).count() as u64 == found.nlink()
}

fn read(path: &Path, directory: &Path) -> io::Result<String> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || !has_no_other_names(&metadata, directory) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let mut text = String::from_utf8_lossy(&bytes).trim().to_owned();
    if metadata.len() > MAX_BYTES {
        text.push_str("\n[the rest of the file is left out]");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(files: &[ProjectFile]) -> Vec<&str> {
        files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn files_come_from_the_root_down_and_only_where_there_is_trust() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("project");
        let deep = root.join("web/app");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir(root.join(".git")).unwrap();
        std::fs::write(root.join("AGENTS.md"), "root").unwrap();
        std::fs::write(root.join("CLAUDE.md"), "not this one").unwrap();
        std::fs::write(root.join("web/CLAUDE.md"), "web").unwrap();
        std::fs::write(home.path().join("AGENTS.md"), "outside").unwrap();
        let trust = TrustStore::new(&home.path().join("data"));
        assert_eq!(project_files(&trust, &deep), []);
        trust.add(&deep).unwrap();
        assert_eq!(project_files(&trust, &deep), [], "the directories above are not trusted");
        trust.add(&root).unwrap();
        let files = project_files(&trust, &deep);
        assert_eq!(paths(&files), ["AGENTS.md", "web/CLAUDE.md"]);
        assert_eq!(files[1].text, "web");
    }

    #[test]
    fn a_file_that_has_another_name_is_not_read() {
        let home = tempfile::tempdir().unwrap();
        let trust = TrustStore::new(&home.path().join("data"));
        trust.add(home.path()).unwrap();
        std::fs::write(home.path().join("AGENTS.md"), "both").unwrap();
        std::fs::hard_link(home.path().join("AGENTS.md"), home.path().join("CLAUDE.md")).unwrap();
        assert_eq!(paths(&project_files(&trust, home.path())), ["AGENTS.md"]);
        std::fs::hard_link(home.path().join("AGENTS.md"), home.path().join(".env")).unwrap();
        assert_eq!(project_files(&trust, home.path()), []);
    }

    #[test]
    fn a_link_is_not_read_and_a_long_file_is_cut() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("secret"), "secret").unwrap();
        std::os::unix::fs::symlink(home.path().join("secret"), home.path().join("AGENTS.md")).unwrap();
        std::fs::write(home.path().join("CLAUDE.md"), "x".repeat(100_000)).unwrap();
        let trust = TrustStore::new(&home.path().join("data"));
        trust.add(home.path()).unwrap();
        let files = project_files(&trust, home.path());
        assert_eq!(paths(&files), ["CLAUDE.md"]);
        assert!(files[0].text.len() < 40_000 && files[0].text.ends_with("left out]"));
    }
}
