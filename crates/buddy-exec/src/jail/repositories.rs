//! Repositories in and around directories, and the files that git takes orders from because their settings name them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::look::{Sights, look_for_repositories};
use super::names::GIT;
use super::walk::Budget;
use crate::git_orders::{GitHome, Repository, named_by};

/// How much is looked through for repositories at each call of a tool, and how far down. A jail looks through everything.
const NEAR_ENTRIES: usize = 5_000;
const NEAR_DEPTH: usize = 4;

/// How many links one path may go through, as for the kernel.
const MAX_LINKS: usize = 40;

/// Files and directories that git takes orders from because the settings of a repository in or around these directories name them, or those
/// of the person. Each as it is named and as it is without links, also where nothing is there.
pub fn git_orders(roots: &[PathBuf], home: GitHome<'_>) -> BTreeSet<PathBuf> {
    let roots: Vec<PathBuf> = roots.iter().map(|root| without_links(root)).collect();
    let sights = look_for_repositories(&roots, Budget::small(NEAR_ENTRIES, NEAR_DEPTH));
    let named = named_by(&repositories(&sights, &roots), home);
    named.into_iter().flat_map(|path| [without_links(&path), path]).collect()
}

/// The repositories that were seen, and those that the roots are in.
pub(super) fn repositories(sights: &Sights, roots: &[PathBuf]) -> BTreeSet<Repository> {
    let mut found: BTreeSet<Repository> = sights.git.iter().map(|git| Repository::of(git)).collect();
    found.extend(sights.git_files.iter().flat_map(|file| Repository::behind(file)));
    for git in roots.iter().flat_map(|root| root.ancestors().skip(1)).map(|above| above.join(GIT)) {
        match fs::metadata(&git) {
            Ok(there) if there.is_dir() => found.extend([Repository::of(&git)]),
            Ok(_) => found.extend(Repository::behind(&git)),
            Err(_) => {}
        }
    }
    found
}

/// The path without links, as far as it exists.
pub(super) fn without_links(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let Ok(real) = above.canonicalize() {
            let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}

/// The links on the way to a path.
pub(super) fn links_on_the_way(path: &Path) -> BTreeSet<PathBuf> {
    let mut links = BTreeSet::new();
    let mut left = vec![path.to_owned()];
    while let Some(path) = left.pop() {
        let above: Vec<&Path> = path.ancestors().collect();
        let Some((link, to)) = above.iter().rev().find_map(|at| Some((*at, fs::read_link(at).ok()?))) else {
            continue;
        };
        let rest = path.strip_prefix(link).unwrap_or(Path::new(""));
        if links.len() < MAX_LINKS && links.insert(link.to_owned()) {
            left.push(link.parent().unwrap_or(link).join(to).join(rest));
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn settings_count_in_and_around_and_behind_links() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for (name, text) in [
            (".git/config", "[core]\n\thooksPath = around/hooks\n"),
            ("w/.git/config", "[core]\n\thooksPath = link/hooks\n"),
            ("w/sub/.git/config", "[include]\n\tpath = ../../inc\n"),
            ("main/.git/config", "[core]\n\thooksPath = tree\n"),
            ("main/.git/worktrees/t/commondir", "../..\n"),
            ("w/tree/.git", "gitdir: ../../main/.git/worktrees/t\n"),
        ] {
            fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
            fs::write(top.join(name), text).unwrap();
        }
        fs::create_dir(top.join("w/real")).unwrap();
        symlink("real", top.join("w/link")).unwrap();
        let found = git_orders(&[top.join("w")], GitHome::default());
        for name in ["around/hooks", "w/link/hooks", "w/real/hooks", "w/inc", "w/tree/tree"] {
            assert!(found.contains(&top.join(name)), "{name}: {found:?}");
        }
        assert_eq!(links_on_the_way(&top.join("w/link/hooks/x")), BTreeSet::from([top.join("w/link")]));
    }
}
