//! Repositories in and around directories, and the files that git takes orders from because their settings name them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use buddy_protocol::NameSet;

use super::git_config::local_directory;
use super::links::{led_to, without_links, without_links_above};
use super::look::{Sights, files_beneath, look_for_repositories};
use super::names::{GIT, Names};
use super::walk::Budget;
use crate::git_orders::{GitHome, Repository, clean, entries_to, gitfile_target, named_by, remotes_of};

/// The most entries that are searched for repositories at each call of a tool, and the depth. A jail searches
/// everything.
const NEAR_ENTRIES: usize = 5_000;
const NEAR_DEPTH: usize = 4;

/// The directory of programs' settings in the home.
const CONFIG: &str = ".config";

/// Files and directories that git takes orders from because the settings of a repository in or around these
/// directories name them, or those of the user. Each as it is named and as it is without links, also if it
/// does not exist.
///
/// With them come the targets of links which have one of these names, in the directories and in the home.
pub fn git_orders(roots: &[PathBuf], names: &NameSet, home: GitHome<'_>) -> BTreeSet<PathBuf> {
    let roots: Vec<PathBuf> = roots.iter().map(|root| without_links(root)).collect();
    let sights = look_for_repositories(&roots, Budget::small(NEAR_ENTRIES, NEAR_DEPTH));
    let repositories = repositories(&sights, &roots);
    let names = Names::of(names);
    let mut named = named_by(&repositories, home).files;
    named.extend(behind_links(&repositories, &names, &roots, home));
    // Repositories under another name are not known by it.
    let others = sights.git.iter().filter(|git| !git.ends_with(GIT));
    named.extend(others.flat_map(|git| names.git_parts().iter().map(|part| git.join(part))));
    named.extend(remote_gitfiles(&repositories));
    let named = with_links_in(named, |path| roots.iter().any(|root| root.starts_with(path)));
    named.into_iter().flat_map(|path| [without_links(&path), path]).collect()
}

/// Those paths at which a file would be the repository of a remote, so that its text could lead git elsewhere: a remote of the
/// repository around the path, or of one near it, names the path.
pub fn places_of_remotes(paths: &[PathBuf]) -> BTreeSet<PathBuf> {
    let has_git = |above: &&Path| fs::symlink_metadata(above.join(GIT)).is_ok();
    let mut entries: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for path in paths {
        let Some(top) = path.ancestors().skip(1).find(has_git) else { continue };
        let entries = entries.entry(top.to_owned()).or_insert_with(|| {
            let roots = [without_links(top)];
            let sights = look_for_repositories(&roots, Budget::small(NEAR_ENTRIES, NEAR_DEPTH));
            let remotes = remote_directories(&repositories(&sights, &roots));
            remotes.iter().flat_map(|at| entries_to(at)).map(|entry| without_links_above(&entry)).collect()
        });
        if entries.contains(&without_links_above(&clean(path))) {
            found.insert(path.clone());
        }
    }
    found
}

/// The most names of one directory that are checked for links.
const MAX_NAMES: usize = 5_000;

/// The targets of links that programs take orders from: those on the way to the parts of repositories and in them, and protected names at
/// the top of these directories and of the home.
pub(super) fn behind_links(
    repositories: &BTreeSet<Repository>,
    orders: &Names,
    tops: &[PathBuf],
    home: GitHome<'_>,
) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for repository in repositories {
        let git = without_links(&repository.git);
        for part in orders.git_parts() {
            let real = without_links(&git.join(part));
            found.extend(targets_in(&real));
            if real != git.join(part) {
                found.insert(real);
            }
        }
    }
    let config = home.home.map(|home| home.join(CONFIG));
    for place in home.home.into_iter().map(Path::to_owned).chain(tops.iter().cloned()).chain(config) {
        let above = buddy_protocol::fold_path(&place);
        let is_order = |path: &&PathBuf| {
            let name = path.file_name().unwrap_or_default();
            let folded = buddy_protocol::fold_path(Path::new(name)).pop().unwrap_or_default();
            orders.has(&above, above.len(), &folded, path.is_dir())
        };
        found.extend(listed(&place).iter().filter(is_order).filter_map(|link| led_to(link)));
    }
    found
}

/// The targets of links in a directory, however far down.
fn targets_in(directory: &Path) -> BTreeSet<PathBuf> {
    if !directory.is_dir() {
        return BTreeSet::new();
    }
    files_beneath(directory).iter().filter_map(|file| led_to(file)).collect()
}

/// The number of times that links in directories behind links are looked for.
const MAX_ROUNDS: usize = 4;

/// These places, and the targets of links in those that are directories, also by way of further ones. A directory for which `is_passed` holds is
/// not looked through.
pub(super) fn with_links_in(
    places: BTreeSet<PathBuf>,
    is_passed: impl Fn(&Path) -> bool,
) -> BTreeSet<PathBuf> {
    let (mut all, mut new) = (places.clone(), places);
    for _ in 0..MAX_ROUNDS {
        let real = new.iter().map(|path| without_links(path)).filter(|path| !is_passed(path));
        let targets: BTreeSet<PathBuf> = real.flat_map(|path| targets_in(&path)).collect();
        new = targets.difference(&all).cloned().collect();
        all.extend(targets);
    }
    all
}

fn listed(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.take(MAX_NAMES).filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// The repositories that were found, and those that the roots are in.
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

/// The directories of this machine that these repositories fetch from and push to.
pub(super) fn remote_directories(repositories: &BTreeSet<Repository>) -> BTreeSet<PathBuf> {
    let remotes = remotes_of(repositories).into_iter();
    remotes
        .filter_map(|(repository, address)| Some(clean(&repository.top.join(local_directory(&address)?))))
        .collect()
}

/// Files at such places that lead git on to another directory, by their names without links on the way.
pub(super) fn remote_gitfiles(repositories: &BTreeSet<Repository>) -> BTreeSet<PathBuf> {
    let entries = remote_directories(repositories).into_iter().flat_map(|at| entries_to(&at));
    let files = entries.filter(|entry| gitfile_target(entry).is_some());
    files.map(|file| without_links_above(&file)).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::links::links_on_the_way;
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
        for name in ["HEAD", "objects/x", "refs/x", "config"] {
            fs::create_dir_all(top.join("w/demo").join(name).parent().unwrap()).unwrap();
            fs::write(top.join("w/demo").join(name), "").unwrap();
        }
        fs::create_dir(top.join("w/real")).unwrap();
        symlink("real", top.join("w/link")).unwrap();
        let found = git_orders(&[top.join("w")], &NameSet::trees([".git/config"]), GitHome::default());
        for name in ["w/demo/config", "around/hooks", "w/link/hooks", "w/real/hooks", "w/inc", "w/tree/tree"]
        {
            assert!(found.contains(&top.join(name)), "{name}: {found:?}");
        }
        assert_eq!(links_on_the_way(&top.join("w/link/hooks/x")), BTreeSet::from([top.join("w/link")]));
    }
}
