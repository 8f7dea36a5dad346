//! Links of this machine: for [`buddy_protocol::climb`], along a whole path, and at the start of a protected name.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use buddy_protocol::{LinkLook, LinkLookup, NameSet, fold_name, fold_path};

/// The number of links that one path may go through, as for the kernel.
const MAX_LINKS: usize = 40;

/// The way to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowedPath {
    /// Every path on the way, links included.
    pub steps: Vec<PathBuf>,
    /// The path without links, also where its end does not exist.
    pub real: PathBuf,
}

/// Follows the links of an absolute path.
pub fn follow_links(path: &Path) -> FollowedPath {
    let mut real = PathBuf::from("/");
    let mut left = names(path);
    let (mut steps, mut followed) = (Vec::new(), 0);
    while let Some(name) = left.pop_front() {
        if name == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&name);
        steps.push(next.clone());
        match std::fs::read_link(&next) {
            Ok(target) if followed < MAX_LINKS => {
                followed += 1;
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                for name in names(&target).into_iter().rev() {
                    left.push_front(name);
                }
            }
            _ => real = next,
        }
    }
    FollowedPath { steps, real }
}

/// The most names that are compared in one directory behind a link, and the most such directories. Plain spellings are looked up all the same.
const MAX_BEHIND: usize = 20_000;
const MAX_BEHIND_DIRECTORIES: usize = 64;

/// The objects that a link at the start of a protected name leads to by the rest of the name: `.cargo` to `config.toml`. Paths are without
/// links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BehindLink {
    /// Objects that are there.
    pub there: BTreeSet<PathBuf>,
    /// Places where nothing is yet.
    pub missing: BTreeSet<PathBuf>,
    /// The links on the way, this one included.
    pub links: BTreeSet<PathBuf>,
    /// The directories that the answer depends on.
    pub directories: BTreeSet<PathBuf>,
}

/// Whether a link of this name can lead to members of the set, and these. `None` for all other links.
pub fn look_behind_link(link: &Path, set: &NameSet) -> Option<BehindLink> {
    let names = fold_path(link);
    if !set.leads_on(&names) {
        return None;
    }
    let mut look = BehindLook { set, found: BehindLink::default(), left: MAX_BEHIND_DIRECTORIES };
    let target = look.follow(link);
    // A file there leads nowhere.
    if fs::metadata(&target).map_or(true, |found| found.is_dir()) {
        look.enter(&names, &target);
    }
    Some(look.found)
}

struct BehindLook<'a> {
    set: &'a NameSet,
    found: BehindLink,
    /// The number of directories that are still looked at.
    left: usize,
}

impl BehindLook<'_> {
    /// Looks in a directory that these names lead to.
    fn enter(&mut self, names: &[String], directory: &Path) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        self.found.directories.insert(directory.to_owned());
        for rest in self.set.rests(names) {
            let real = self.follow(&directory.join(&rest));
            let names: Vec<String> = names.iter().cloned().chain(fold_path(&rest)).collect();
            match fs::metadata(&real) {
                Ok(found) if self.set.ends(&names, found.is_dir()) => drop(self.found.there.insert(real)),
                Err(_) if self.set.ends(&names, true) => drop(self.found.missing.insert(real)),
                _ => {}
            }
        }
        // Programs may know a name by another spelling than the table.
        for entry in fs::read_dir(directory).into_iter().flatten().take(MAX_BEHIND).flatten() {
            let name = fold_name(&entry.file_name().to_string_lossy());
            let names: Vec<String> = names.iter().cloned().chain([name]).collect();
            let is_directory = || fs::metadata(entry.path()).is_ok_and(|found| found.is_dir());
            if self.set.ends(&names, false) {
                if self.set.ends(&names, is_directory()) {
                    let real = self.follow(&entry.path());
                    self.found.there.insert(real);
                }
            } else if self.set.leads_on(&names) && is_directory() {
                let real = self.follow(&entry.path());
                self.enter(&names, &real);
            }
        }
    }

    /// The path without links, which are noted.
    fn follow(&mut self, path: &Path) -> PathBuf {
        let FollowedPath { steps, real } = follow_links(path);
        self.found.links.extend(steps.into_iter().filter(|step| step.is_symlink()));
        real
    }
}

fn names(path: &Path) -> VecDeque<OsString> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    names.collect()
}

/// Looks up links in the file system of this machine.
pub fn link_lookup() -> LinkLookup {
    LinkLookup::new(look_at_link)
}

/// Whether a name is a link.
pub(crate) fn look_at_link(name: &Path) -> LinkLook {
    match std::fs::read_link(name) {
        Ok(target) => LinkLook::Link(target),
        Err(error) => match error.kind() {
            // The kernel's answer for something that is no link, and for nothing at all.
            io::ErrorKind::InvalidInput | io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                LinkLook::Plain
            }
            _ => LinkLook::Unknown,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_rest_of_a_name_is_found_behind_links() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["c/Gh/hosts", "g/x", "c/repo/x", "c/other"] {
            fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
            fs::write(top.join(name), "").unwrap();
        }
        for (target, link) in
            [("c", "middle"), ("middle", ".config"), ("../g", "c/gcloud"), ("none", ".cargo")]
        {
            symlink(target, top.join(link)).unwrap();
        }
        let set = NameSet::trees([".config/gh", ".config/gcloud", ".config/code/user", ".cargo/config"])
            .with_files([".config/repo"]);
        let paths = |names: &[&str]| names.iter().map(|name| top.join(name)).collect::<BTreeSet<_>>();
        let found = look_behind_link(&top.join(".config"), &set).unwrap();
        assert_eq!(found.there, paths(&["c/Gh", "g"]));
        assert_eq!(found.missing, paths(&["c/code/user", "c/gh"]));
        assert_eq!(found.links, paths(&[".config", "middle", "c/gcloud"]));
        let found = look_behind_link(&top.join(".cargo"), &set).unwrap();
        assert_eq!((found.there, found.missing), (BTreeSet::new(), paths(&["none/config"])));
        assert_eq!(look_behind_link(&top.join("middle"), &set), None);
    }
}
