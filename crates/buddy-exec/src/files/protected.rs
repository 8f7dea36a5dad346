//! Exceptions within the bounds: hidden paths, guarded ones, and files whose contents are sealed.
//!
//! The real path of an opened object is compared, name by name and without regard to case and to look-alike
//! spellings, so that neither a link nor `..` nor `.GIT` gets around them. The objects themselves are
//! compared too, so that a mount of a hidden directory under another name is still hidden.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use buddy_protocol::{NameSet, OpenedRoots, fold_path};
use rustix::fs::Stat;

use super::roots::Root;
use crate::jail::{secrets_beneath, secrets_in};
use crate::{Bounds, TargetError};

/// The most files in hidden directories that are known by their inode numbers, so that another name for one
/// is known too.
const MAX_LINKED: usize = 4_096;
/// The depth down to which they are looked for.
const LINKED_DEPTH: usize = 3;

/// The exceptions of some bounds, ready to be compared.
pub(super) struct Protected {
    hidden: Vec<ProtectedPlace>,
    guarded: Vec<ProtectedPlace>,
    guarded_names: NameSet,
    sealed_names: NameSet,
    sealed: Vec<ProtectedPlace>,
    /// Paths that are free for this call.
    opened: Vec<Vec<String>>,
    /// Directories that stay visible inside hidden ones.
    shown: Vec<Vec<String>>,
    /// Directories below which matches of names have to end.
    anchors: OpenedRoots,
    /// The hidden places, and the files in them by device and inode number, found when they are first needed.
    hidden_paths: Vec<PathBuf>,
    linked: OnceLock<BTreeSet<(u64, u64)>>,
    /// The directories in which files with secrets are looked for, and those with more than one name, found
    /// when they are first needed.
    sealed_roots: Vec<PathBuf>,
    sealed_linked: OnceLock<SealedObjects>,
    /// The same of directories elsewhere, each for itself; held for a look or a change only.
    sealed_beside: Mutex<BTreeMap<PathBuf, SealedObjects>>,
}

/// Files with secrets that have more than one name, by device and inode number.
type SealedObjects = BTreeMap<(u64, u64), PathBuf>;

/// The most directories elsewhere whose secrets are kept.
const MAX_BESIDE: usize = 1_000;

/// A protected path: its names, and which object it is when it exists.
struct ProtectedPlace {
    names: Vec<String>,
    object: Option<(u64, u64)>,
}

impl Protected {
    /// The exceptions of `bounds`, with the roots that may be written.
    pub(super) fn new(bounds: &Bounds, anchors: &[Arc<Root>], write_roots: &[Arc<Root>]) -> Self {
        let hidden = bounds.hidden.iter().flat_map(|path| places(path)).collect();
        let under_roots = |path: &PathBuf| -> Vec<PathBuf> {
            if path.is_absolute() {
                return vec![path.clone()];
            }
            write_roots.iter().map(|root| root.real().join(path)).collect()
        };
        let guarded = bounds.guarded.iter().flat_map(under_roots).flat_map(|path| places(&path)).collect();
        let roots = || anchors.iter().chain(write_roots);
        let named = |path: &PathBuf| -> Vec<Vec<String>> {
            let below = roots().filter_map(|root| Some(root.real().join(root.below(path)?)));
            below.chain([path.clone()]).map(|path| fold_path(&path)).collect()
        };
        Self {
            hidden,
            guarded,
            guarded_names: bounds.guarded_names.clone(),
            sealed_names: bounds.sealed_names.clone(),
            sealed: bounds.sealed.iter().flat_map(|path| places(path)).collect(),
            opened: bounds.opened.iter().flat_map(named).collect(),
            shown: bounds.shown.iter().flat_map(|path| places(path)).map(|place| place.names).collect(),
            anchors: OpenedRoots::new(roots().flat_map(|root| [root.named.clone(), root.real()])),
            hidden_paths: bounds.hidden.clone(),
            linked: OnceLock::new(),
            sealed_roots: roots().map(|root| root.real()).collect(),
            sealed_linked: OnceLock::new(),
            sealed_beside: Mutex::default(),
        }
    }

    /// Refuses a path by its name alone, before anything is opened, so that nobody learns whether a hidden
    /// path exists.
    pub(super) fn check_name(&self, path: &Path) -> Result<(), TargetError> {
        let names = fold_path(path);
        if covers_name(&self.hidden, &names) && !self.is_shown(&names) {
            return Err(TargetError::Hidden { path: path.to_owned() });
        }
        Ok(())
    }

    /// Refuses to change a path by its name alone, before anything is made on the way to it.
    pub(super) fn check_write_name(&self, named: &Path, path: &Path) -> Result<(), TargetError> {
        self.check_name(path)?;
        let names = fold_path(path);
        if self.guards(&names) || (covers_name(&self.guarded, &names) && !self.is_opened(&names)) {
            return Err(TargetError::Guarded { path: named.to_owned() });
        }
        Ok(())
    }

    /// Refuses to read hidden objects. `named` is the requested path, `real` the real one.
    pub(super) fn check_read(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        if covers(&self.hidden, real) && !self.is_shown(&fold_path(real)) {
            return Err(TargetError::Hidden { path: named.to_owned() });
        }
        Ok(())
    }

    /// Refuses to read the content of an open file that can hold secrets.
    pub(super) fn check_content(&self, named: &Path, real: &Path, stat: &Stat) -> Result<(), TargetError> {
        if self.hides_linked(stat) && !self.is_opened(&fold_path(real)) {
            return Err(TargetError::Hidden { path: named.to_owned() });
        }
        if self.seals(real) {
            let real = (real != named).then(|| real.to_owned());
            return Err(TargetError::Sealed { path: named.to_owned(), real });
        }
        if let Some(other) = self.seals_linked(real, stat) {
            return Err(TargetError::Sealed { path: named.to_owned(), real: Some(other) });
        }
        Ok(())
    }

    /// Refuses to change hidden or guarded objects.
    pub(super) fn check_write(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        self.check_removal(named, real)?;
        if self.guards(&fold_path(real)) {
            return Err(TargetError::Guarded { path: named.to_owned() });
        }
        Ok(())
    }

    /// Refuses to make an empty directory at a guarded name, unless it is on the way to a file that this call may write.
    pub(super) fn check_way(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        self.check_removal(named, real)?;
        let names = fold_path(real);
        if self.guards(&names) && !self.opened.iter().any(|opened| opened.starts_with(&names)) {
            return Err(TargetError::Guarded { path: named.to_owned() });
        }
        Ok(())
    }

    /// Refuses to remove objects that are hidden, or guarded by their place. An object guarded by its name
    /// goes with the directory that the user agreed to remove: nothing takes orders from a removed file.
    pub(super) fn check_removal(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        self.check_read(named, real)?;
        if covers(&self.guarded, real) && !self.is_opened(&fold_path(real)) {
            return Err(TargetError::Guarded { path: named.to_owned() });
        }
        Ok(())
    }

    /// Refuses to remove the directory of a program, such as `.git`, in which the program looks for
    /// orders.
    pub(super) fn check_holder(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        let names = fold_path(real);
        if self.anchors.may_hold(&self.guarded_names, &names) && !self.is_opened(&names) {
            return Err(TargetError::Guarded { path: named.to_owned() });
        }
        Ok(())
    }

    /// Refuses to put something other than a directory where protected paths are, or would be, further down.
    pub(super) fn check_replace(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        let names = fold_path(real);
        let is_above =
            |place: &ProtectedPlace| place.names.len() > names.len() && place.names.starts_with(&names);
        if self.hidden.iter().chain(&self.guarded).any(is_above) && !self.is_opened(&names) {
            return Err(TargetError::Guarded { path: named.to_owned() });
        }
        self.check_holder(named, real)
    }

    /// Whether a path of a walk is hidden by its name.
    pub(super) fn hides(&self, real: &Path) -> bool {
        if self.hidden.is_empty() {
            return false;
        }
        let names = fold_path(real);
        covers_name(&self.hidden, &names) && !self.is_shown(&names)
    }

    /// Whether an object of a walk, by its device and inode number, is a hidden one.
    pub(super) fn hides_object(&self, object: (u64, u64)) -> bool {
        self.hidden.iter().any(|place| place.object == Some(object))
            && !self.hidden.iter().any(|place| place.object == Some(object) && self.is_opened(&place.names))
    }

    /// Whether an open file is one of a hidden directory under another name.
    pub(super) fn hides_linked(&self, stat: &Stat) -> bool {
        if stat.st_nlink < 2 || self.hidden.is_empty() {
            return false;
        }
        let linked =
            self.linked.get_or_init(|| linked_in(&self.hidden_paths, |path| self.is_shown(&fold_path(path))));
        linked.contains(&(stat.st_dev, stat.st_ino))
    }

    /// The name under which an open file is sealed, where that is another one: in the directories that the user opened, or in its own.
    pub(super) fn seals_linked(&self, real: &Path, stat: &Stat) -> Option<PathBuf> {
        if stat.st_nlink < 2 || self.sealed_names.is_empty() {
            return None;
        }
        let object = (stat.st_dev, stat.st_ino);
        let objects =
            |files: BTreeSet<PathBuf>| files.into_iter().filter_map(|path| self.sealed_object(path));
        let linked = self
            .sealed_linked
            .get_or_init(|| objects(secrets_beneath(&self.sealed_roots, &self.sealed_names)).collect());
        if let Some(other) = linked.get(&object) {
            return Some(other.clone());
        }
        let directory = real.parent()?;
        let mut beside = self.sealed_beside.lock().unwrap_or_else(PoisonError::into_inner);
        if beside.len() >= MAX_BESIDE && !beside.contains_key(directory) {
            beside.clear();
        }
        let found = beside
            .entry(directory.to_owned())
            .or_insert_with(|| objects(secrets_in(directory, &self.sealed_names)).collect());
        found.get(&object).cloned()
    }

    /// A file that is sealed, if it has more than one name.
    fn sealed_object(&self, path: PathBuf) -> Option<((u64, u64), PathBuf)> {
        let found = std::fs::symlink_metadata(&path).ok().filter(|found| found.nlink() > 1)?;
        (!self.is_opened(&fold_path(&path))).then(|| ((found.dev(), found.ino()), path))
    }

    /// Whether the content of a file is not read: its name says that it can hold secrets, or it belongs to a
    /// process.
    pub(super) fn seals(&self, real: &Path) -> bool {
        if self.sealed_names.is_empty() {
            return false;
        }
        let names = fold_path(real);
        let is_sealed = self.anchors.protects(&self.sealed_names, &names)
            || covers_name(&self.sealed, &names)
            || is_of_a_process(&names);
        is_sealed && !self.is_opened(&names)
    }

    /// Whether anything below this directory can be hidden by its name.
    pub(super) fn may_hide_below(&self, real: &Path) -> bool {
        if self.hidden.is_empty() {
            return false;
        }
        let names = fold_path(real);
        self.hidden.iter().any(|place| place.names.starts_with(&names))
    }

    fn guards(&self, names: &[String]) -> bool {
        self.anchors.protects(&self.guarded_names, names) && !self.is_opened(names)
    }

    fn is_opened(&self, names: &[String]) -> bool {
        self.opened.iter().any(|opened| names.starts_with(opened))
    }

    /// Whether a path is free although a directory above it is hidden.
    fn is_shown(&self, names: &[String]) -> bool {
        self.is_opened(names) || self.shown.iter().any(|shown| names.starts_with(shown))
    }
}

/// `/proc/<number>/…`: memory, environment, and other ways round to any file.
fn is_of_a_process(names: &[String]) -> bool {
    let [first, second, _, ..] = names else { return false };
    first == "proc" && (second.contains("self") || second.starts_with(|digit: char| digit.is_ascii_digit()))
}

/// The files in these places, by device and inode number, nearer ones first and not more than a
/// bound.
fn linked_in(places: &[PathBuf], is_shown: impl Fn(&Path) -> bool) -> BTreeSet<(u64, u64)> {
    let mut found = BTreeSet::new();
    let mut level: Vec<PathBuf> = places.to_vec();
    for _ in 0..LINKED_DEPTH {
        let mut next = Vec::new();
        for directory in &level {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                let Ok(metadata) = entry.metadata() else { continue };
                if found.len() + next.len() >= MAX_LINKED {
                    return found;
                }
                if metadata.is_dir() && is_shown(&entry.path()) {
                    continue;
                }
                if metadata.is_dir() {
                    next.push(entry.path());
                } else {
                    found.insert((metadata.dev(), metadata.ino()));
                }
            }
        }
        level = next;
    }
    found
}

/// A path as named and as resolved, which differ when there is a link on the way.
fn places(path: &Path) -> Vec<ProtectedPlace> {
    let real = real_as_far_as_there(path);
    let object = std::fs::metadata(&real).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    let mut places = vec![ProtectedPlace { names: fold_path(path), object }];
    let names = fold_path(&real);
    if places.iter().all(|place| place.names != names) {
        places.push(ProtectedPlace { names, object });
    }
    places
}

/// The path without links, as far as it exists.
fn real_as_far_as_there(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
            // Joining an empty path would add a slash, and a file with a slash behind it is not
            // found.
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}

fn covers(places: &[ProtectedPlace], real: &Path) -> bool {
    if places.is_empty() {
        return false;
    }
    if covers_name(places, &fold_path(real)) {
        return true;
    }
    let mut objects = real.ancestors().filter_map(|ancestor| std::fs::symlink_metadata(ancestor).ok());
    objects.any(|metadata| {
        let object = Some((metadata.dev(), metadata.ino()));
        places.iter().any(|place| place.object == object)
    })
}

fn covers_name(places: &[ProtectedPlace], names: &[String]) -> bool {
    places.iter().any(|place| names.starts_with(&place.names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected(hidden: &[&str], guarded: &[&str]) -> Protected {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        let bounds = Bounds { hidden: paths(hidden), guarded: paths(guarded), ..Bounds::open() };
        Protected::new(&bounds, &[], &[])
    }

    #[test]
    fn names_are_compared_whole_and_without_regard_to_case_and_spelling() {
        let protected = protected(&["/nowhere/.Env"], &["/nowhere/.git/hooks"]);
        let is_hidden = |path: &str| protected.check_name(Path::new(path)).is_err();
        assert!(is_hidden("/nowhere/.env"));
        assert!(is_hidden("/nowhere/a/../.ENV/below"));
        assert!(is_hidden("/nowhere/.e\u{200d}nv"));
        assert!(is_hidden("/nowhere/．env"));
        assert!(!is_hidden("/nowhere/.env2"));
        let is_guarded = |path: &str| {
            matches!(
                protected.check_write(Path::new(path), Path::new(path)),
                Err(TargetError::Guarded { .. })
            )
        };
        assert!(is_guarded("/nowhere/.GIT/Hooks/pre-commit"));
        assert!(!is_guarded("/nowhere/.git/config"));
    }

    #[test]
    fn composed_and_decomposed_spellings_are_the_same_name() {
        let protected = protected(&["/nowhere/caf\u{e9}"], &[]);
        assert!(protected.check_name(Path::new("/nowhere/cafe\u{301}")).is_err());
        assert!(protected.check_name(Path::new("/nowhere/CAF\u{c9}")).is_err());
    }

    #[test]
    fn a_directory_above_a_guarded_path_is_not_replaced_by_a_file() {
        let protected = protected(&[], &["/nowhere/.git/hooks"]);
        assert!(protected.check_replace(Path::new("x"), Path::new("/nowhere/.git")).is_err());
        assert!(protected.check_replace(Path::new("x"), Path::new("/nowhere/.gitignore")).is_ok());
    }
}
