//! What the bounds take out of what they give: hidden paths and guarded ones.
//!
//! The real place of an opened object is compared, name by name and without regard to case and to look-alike spellings,
//! so that neither a link nor `..` nor `.GIT` gets around them. The objects themselves are compared too, so that a mount
//! of a hidden directory under another name is still hidden.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use buddy_protocol::fold_path;

use super::roots::Root;
use crate::{Bounds, TargetError};

/// The hidden and guarded paths of some bounds, ready to be compared.
pub(super) struct Protected {
    hidden: Vec<Place>,
    guarded: Vec<Place>,
}

/// A protected path: its names, and which object it is when it exists.
struct Place {
    names: Vec<String>,
    object: Option<(u64, u64)>,
}

impl Protected {
    /// Those of `bounds`, of which these are the roots that may be written.
    pub(super) fn new(bounds: &Bounds, write_roots: &[std::sync::Arc<Root>]) -> Self {
        let hidden = bounds.hidden.iter().flat_map(|path| places(path)).collect();
        let under_roots = |path: &PathBuf| -> Vec<PathBuf> {
            if path.is_absolute() {
                return vec![path.clone()];
            }
            write_roots.iter().map(|root| root.real().join(path)).collect()
        };
        let guarded = bounds.guarded.iter().flat_map(under_roots).flat_map(|path| places(&path)).collect();
        Self { hidden, guarded }
    }

    /// Refuses a path by its name alone, before anything is opened: whether a hidden path exists is nobody's business.
    pub(super) fn check_name(&self, path: &Path) -> Result<(), TargetError> {
        if covers_name(&self.hidden, &fold_path(path)) {
            return Err(TargetError::Hidden { path: path.to_owned() });
        }
        Ok(())
    }

    /// Refuses to change a path by its name alone, before anything is made on the way to it.
    pub(super) fn check_write_name(&self, named: &Path, path: &Path) -> Result<(), TargetError> {
        self.check_name(path)?;
        if covers_name(&self.guarded, &fold_path(path)) {
            return Err(TargetError::Guarded { path: named.to_owned() });
        }
        Ok(())
    }

    /// Refuses to read what is hidden. `named` is what the caller asked for, `real` where it is.
    pub(super) fn check_read(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        if covers(&self.hidden, real) {
            return Err(TargetError::Hidden { path: named.to_owned() });
        }
        Ok(())
    }

    /// Refuses to change what is hidden or guarded.
    pub(super) fn check_write(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        self.check_read(named, real)?;
        if covers(&self.guarded, real) {
            return Err(TargetError::Guarded { path: named.to_owned() });
        }
        Ok(())
    }

    /// Refuses to put something other than a directory where protected paths are, or would be, further down.
    pub(super) fn check_replace(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        let names = fold_path(real);
        let is_above = |place: &&Place| place.names.len() > names.len() && place.names.starts_with(&names);
        match self.hidden.iter().chain(&self.guarded).find(is_above) {
            Some(_) => Err(TargetError::Guarded { path: named.to_owned() }),
            None => Ok(()),
        }
    }

    /// Whether a path of a walk is hidden by its name.
    pub(super) fn hides(&self, real: &Path) -> bool {
        !self.hidden.is_empty() && covers_name(&self.hidden, &fold_path(real))
    }

    /// Whether an object of a walk, by its device and number, is a hidden one.
    pub(super) fn hides_object(&self, object: (u64, u64)) -> bool {
        self.hidden.iter().any(|place| place.object == Some(object))
    }

    /// Whether anything below this directory can be hidden by its name.
    pub(super) fn may_hide_below(&self, real: &Path) -> bool {
        if self.hidden.is_empty() {
            return false;
        }
        let names = fold_path(real);
        self.hidden.iter().any(|place| place.names.starts_with(&names))
    }
}

/// A path as it is named and as it is, which differ when there is a link on the way.
fn places(path: &Path) -> Vec<Place> {
    let real = real_as_far_as_there(path);
    let object = std::fs::metadata(&real).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    let mut places = vec![Place { names: fold_path(path), object }];
    let names = fold_path(&real);
    if places.iter().all(|place| place.names != names) {
        places.push(Place { names, object });
    }
    places
}

/// The path without links, as far as it exists.
fn real_as_far_as_there(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
            // Joining nothing would add a slash, and a file with a slash behind it is not found.
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}

fn covers(places: &[Place], real: &Path) -> bool {
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

fn covers_name(places: &[Place], names: &[String]) -> bool {
    places.iter().any(|place| names.starts_with(&place.names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protected(hidden: &[&str], guarded: &[&str]) -> Protected {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        let bounds = Bounds { hidden: paths(hidden), guarded: paths(guarded), ..Bounds::open() };
        Protected::new(&bounds, &[])
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
