//! The places that a command can write, in one list: the sweep, links out of the workspace and remotes of git all go by it. A jail whose
//! command could write anywhere else is not started.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::ground::{Ground, beneath_any};
use super::links::without_links;
use crate::Bounds;

/// The mode of a directory that everybody may write, such as the one for temporary files: sticky, and
/// writable by all.
const SHARED: u32 = 0o1002;

/// The places that one command can write.
#[derive(Debug, Clone, Default)]
pub(super) struct WritePlaces {
    /// Directories that are searched whole: the workspace, added directories, stores of repositories.
    pub(super) searched: Vec<PathBuf>,
    /// Directories that everybody writes. Their top is searched, and the targets of links from the workspace.
    pub(super) open: Vec<PathBuf>,
    /// The directory of the layers over caches, of every workspace. They are large, so nothing is searched in them but the targets of links.
    pub(super) layers: Option<PathBuf>,
    /// Single files.
    files: Vec<PathBuf>,
    /// Whether the command writes everywhere, so that nothing is searched.
    is_everywhere: bool,
}

impl WritePlaces {
    pub(super) fn of(bounds: &Bounds, ground: &Ground, cwd: &Path) -> Self {
        Self {
            searched: roots_to_watch(&ground.write, cwd),
            open: shared_roots(&ground.write),
            // Made later than this.
            layers: bounds.caches.as_ref().map(|caches| without_links(&caches.all)),
            files: ground.write_files.clone(),
            is_everywhere: ground.write.iter().any(|root| root.parent().is_none()),
        }
    }

    /// The same without places in which only parts are searched.
    pub(super) fn only_searched(self) -> Self {
        Self { open: Vec::new(), layers: None, ..self }
    }

    /// Whether a command can write at a place.
    pub(super) fn has(&self, place: &Path) -> bool {
        self.is_everywhere
            || beneath_any(place, &self.searched)
            || beneath_any(place, &self.files)
            || self.is_in_part(place)
    }

    /// Whether a place holds one of these.
    pub(super) fn has_inside(&self, place: &Path) -> bool {
        let roots = self.searched.iter().chain(&self.open).chain(&self.layers);
        roots.into_iter().any(|root| root.starts_with(place))
    }

    /// Whether a command can leave files at a place that are not found there, such as hooks of a repository: a place that only parts of are
    /// searched, or one that everybody writes.
    pub(super) fn is_unsearched(&self, place: &Path) -> bool {
        !beneath_any(place, &self.searched)
            && (self.is_in_part(place) || place.ancestors().any(is_shared_directory))
    }

    /// Whether a place is in the layers over caches.
    pub(super) fn is_in_layers(&self, place: &Path) -> bool {
        self.layers.as_ref().is_some_and(|layers| place.starts_with(layers))
    }

    fn is_in_part(&self, place: &Path) -> bool {
        beneath_any(place, &self.open) || self.is_in_layers(place)
    }
}

fn is_shared(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |found| found.permissions().mode() & SHARED == SHARED)
        || path == Path::new("/")
}

/// Whether a path is a directory that everybody writes.
pub(super) fn is_shared_directory(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_dir() && found.permissions().mode() & SHARED == SHARED)
}

/// The roots that everybody writes, but for that of the whole machine.
pub(super) fn shared_roots(roots: &[PathBuf]) -> Vec<PathBuf> {
    roots.iter().filter(|root| root.parent().is_some() && root.is_dir() && is_shared(root)).cloned().collect()
}

/// The roots to search: without those that everybody writes, and without those beneath others.
pub(super) fn roots_to_watch(roots: &[PathBuf], cwd: &Path) -> Vec<PathBuf> {
    let is_writable = roots.iter().any(|root| cwd.starts_with(root));
    let cwd = is_writable.then(|| cwd.to_owned());
    let mut wanted: Vec<PathBuf> = roots.iter().cloned().chain(cwd).filter(|root| !is_shared(root)).collect();
    wanted.sort();
    wanted.dedup_by(|inner, outer| inner.starts_with(&*outer));
    wanted
}

#[cfg(test)]
mod tests {
    use super::super::rules::rules;
    use super::super::words::Place;
    use super::*;
    use crate::{CacheLayers, Reach};

    #[test]
    fn every_place_that_the_kernel_opens_is_in_the_list() {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let top = folder.path().canonicalize().unwrap();
        let [workspace, added, store, open, layers] =
            ["workspace", "added", "main/.git", "open", "layers/one"].map(|name| top.join(name));
        for directory in [&workspace, &added, &store, &open, &layers] {
            fs::create_dir_all(directory).unwrap();
        }
        fs::set_permissions(&open, fs::Permissions::from_mode(0o1777)).unwrap();
        fs::write(top.join("alone"), "").unwrap();
        let caches = CacheLayers { directory: layers.clone(), all: top.join("layers"), places: Vec::new() };
        let bounds = Bounds {
            write: Reach::Beneath(vec![workspace.clone(), added.clone(), open.clone()]),
            git_stores: vec![store.clone()],
            caches: Some(caches),
            ..Bounds::open()
        };
        let mut ground = Ground::of(&bounds).unwrap();
        ground.open_files(&[top.join("alone")]);
        let places = WritePlaces::of(&bounds, &ground, &workspace);
        for place in [Place::Namespaces, Place::Bare] {
            let rules = rules(&ground, place).unwrap();
            let opened: Vec<PathBuf> =
                rules.write.iter().map(super::super::raw_path::RawPath::to_path).collect();
            for path in opened.iter().filter(|path| !path.starts_with("/dev")) {
                assert!(places.has(path), "{place:?}: {}", path.display());
            }
            for path in [&workspace, &added, &store, &open, &top.join("alone")] {
                assert!(opened.contains(path), "{place:?}: {}", path.display());
            }
        }
        assert!(places.has(&layers) && places.is_unsearched(&layers.join("1/npm/alone/x.git")));
        assert!(places.is_unsearched(&open.join("x.git")) && !places.is_unsearched(&store.join("x")));
        assert!(!places.is_unsearched(&workspace.join("x.git")) && !places.has(&top.join("elsewhere")));
    }
}
