//! Links on this machine: where the files really are that a command would touch.
//!
//! Policy judges both what a command names and what that leads to. A link that is made between the look and the command is not
//! seen; the jail holds there, where there is one.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use buddy_exec::follow_links;
use buddy_policy::{Carried, Places};

/// How much is looked through for links, how far down, and how many are told.
const MAX_ENTRIES: usize = 50_000;
const MAX_DEPTH: usize = 16;
const MAX_WITHIN: usize = 20;

/// Which of these paths lead elsewhere, with where they lead. A place that is itself named through a link keeps its name.
pub(super) fn links(places: &Places, paths: &[PathBuf]) -> Vec<(PathBuf, PathBuf)> {
    let known = places.workspace.iter().chain(&places.scratch).chain(&places.untrusted).chain(&places.home);
    let roots: Vec<(&PathBuf, PathBuf)> = known.map(|root| (root, real(root))).collect();
    let mut links = Vec::new();
    for path in paths {
        let real = real(path);
        let holding = roots.iter().filter_map(|(root, there)| Some((root, real.strip_prefix(there).ok()?)));
        let nearest = holding.min_by_key(|(_, below)| below.components().count());
        let to = nearest.map_or_else(|| real.clone(), |(root, below)| root.join(below));
        if to.components().ne(path.components()) {
            links.push((path.clone(), to));
        }
    }
    links
}

/// The links beneath these paths that lead out of what is open, to something that this account can change.
pub(super) fn links_within(places: &Places, paths: &[PathBuf]) -> Vec<(PathBuf, PathBuf)> {
    let open: Vec<PathBuf> = places.workspace.iter().chain(&places.scratch).map(|root| real(root)).collect();
    let leads_out = |target: &Path| {
        !open.iter().any(|root| target.starts_with(root))
            && rustix::fs::access(target, rustix::fs::Access::WRITE_OK).is_ok()
    };
    let mut links = Vec::new();
    let mut left: VecDeque<(PathBuf, usize)> = paths.iter().map(|path| (path.clone(), 0)).collect();
    let mut entries = MAX_ENTRIES;
    while let Some((directory, depth)) = left.pop_front() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            if entries == 0 || links.len() >= MAX_WITHIN {
                return links;
            }
            entries -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < MAX_DEPTH {
                left.push_back((entry.path(), depth + 1));
            } else if kind.is_symlink() {
                let target = real(&entry.path());
                if leads_out(&target) {
                    links.push((entry.path(), target));
                }
            }
        }
    }
    links
}

/// Whether a file that is moved or copied is or holds a link that could lead elsewhere in its new place. One whose target comes
/// along, within the same directory, does not.
pub(super) fn carries_links(places: &Places, carried: &Carried) -> bool {
    let mut entries = MAX_ENTRIES;
    match carried {
        Carried::Named(path) => is_or_holds_link(places, path, &mut entries),
        Carried::Matched(directory) => {
            let names = std::fs::read_dir(directory).into_iter().flatten();
            names.flatten().any(|entry| is_or_holds_link(places, &entry.path(), &mut entries))
        }
    }
}

/// The same of one file. Beyond a bound it counts as such.
fn is_or_holds_link(places: &Places, top: &Path, entries: &mut usize) -> bool {
    // A name that leads through a link on its way is moved from where that leads.
    let above = top.parent().map_or_else(|| top.to_owned(), real);
    let top = top.file_name().map_or_else(|| above.clone(), |name| above.join(name));
    let Ok(kind) = std::fs::symlink_metadata(&top).map(|metadata| metadata.file_type()) else { return false };
    if kind.is_symlink() {
        return true;
    }
    let is_open = |target: &Path| {
        places.workspace.iter().chain(&places.scratch).any(|root| target.starts_with(real(root)))
    };
    let mut left = if kind.is_dir() { vec![top.clone()] } else { Vec::new() };
    while let Some(directory) = left.pop() {
        let Ok(names) = std::fs::read_dir(&directory) else { return true };
        for entry in names.flatten() {
            if *entries == 0 {
                return true;
            }
            *entries -= 1;
            let Ok(kind) = entry.file_type() else { return true };
            if kind.is_dir() {
                left.push(entry.path());
            } else if kind.is_symlink() {
                let target = real(&entry.path());
                if !target.starts_with(&top) || !is_open(&target) {
                    return true;
                }
            }
        }
    }
    false
}

/// The path without links, also where its end does not exist.
fn real(path: &Path) -> PathBuf {
    follow_links(path).real
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_in_a_directory_count_where_they_lead_to_something_that_can_be_changed() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("work/deep/er")).unwrap();
        fs::write(top.join("file"), "").unwrap();
        symlink("../file", top.join("work/out")).unwrap();
        symlink("../../..", top.join("work/deep/er/up")).unwrap();
        symlink("er", top.join("work/deep/near")).unwrap();
        symlink("/none/yet", top.join("work/dangling")).unwrap();
        let work = top.join("work");
        let places = Places { workspace: vec![work.clone()], ..Places::default() };
        let found = links_within(&places, &[work.clone(), work.join("none")]);
        assert_eq!(found, [(work.join("out"), top.join("file")), (work.join("deep/er/up"), top.clone())]);
    }

    #[test]
    fn only_what_leads_elsewhere_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("real/sub")).unwrap();
        symlink("real", top.join("work")).unwrap();
        symlink("/etc/none/yet", top.join("real/dangling")).unwrap();
        symlink("sub", top.join("real/near")).unwrap();
        symlink("loop", top.join("real/loop")).unwrap();
        let work = top.join("work");
        let places = Places { workspace: vec![work.clone()], ..Places::default() };
        let led = |name: &str| links(&places, &[work.join(name)]).pop().map(|(_, to)| to);
        assert_eq!(led("sub/file"), None);
        assert_eq!(led("none/yet"), None);
        assert_eq!(led("dangling"), Some("/etc/none/yet".into()));
        assert_eq!(led("dangling/x"), Some("/etc/none/yet/x".into()));
        assert_eq!(led("near/x"), Some(work.join("sub/x")));
        assert_eq!(led("loop"), None, "it leads nowhere, and whoever opens it fails");
    }
}
