//! The bounds of one command as places on this machine: links followed, overlaps settled.

use std::path::{Path, PathBuf};

use buddy_protocol::NameSet;

use super::plain_settings::is_plain;
use super::refusal::Refusal;
use super::resolve::{Resolved, What, resolve};
use crate::{Bounds, Reach};

/// The paths that a command may read and write, and those that it may not.
#[derive(Debug)]
pub(super) struct Ground {
    /// Directories to read, without the system files that programs need to start. `None` for
    /// everywhere.
    pub(super) read: Option<Vec<PathBuf>>,
    /// Directories to write. `/` for everywhere.
    pub(super) write: Vec<PathBuf>,
    /// Single files to write besides.
    pub(super) write_files: Vec<PathBuf>,
    pub(super) hidden: Vec<Resolved>,
    /// Directories that stay visible inside hidden ones.
    pub(super) shown: Vec<Shown>,
    /// Guarded places that exist.
    pub(super) guarded: Vec<Resolved>,
    /// Guarded places that do not exist, and that a command could make.
    pub(super) missing: Vec<PathBuf>,
    /// Names of hidden or sealed files that commands find empty.
    pub(super) blank: NameSet,
    /// Files that are seen and not read.
    pub(super) sealed: Vec<PathBuf>,
    /// Further ones, which are too many to be mounted over one by one.
    pub(super) sealed_by_rules: Vec<PathBuf>,
    /// Directories whose files are not read, since there were too many names to search.
    pub(super) unsearched: Vec<PathBuf>,
    /// Directories in them that are read all the same.
    pub(super) searched: Vec<PathBuf>,
}

/// A directory that stays visible inside a hidden one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) path: PathBuf,
    pub(super) is_writable: bool,
}

impl Ground {
    pub(super) fn of(bounds: &Bounds) -> Result<Self, Refusal> {
        let read = match &bounds.read {
            Reach::Nothing => Some(Vec::new()),
            Reach::Beneath(roots) => Some(existing(roots)),
            Reach::Anywhere => None,
        };
        let asked = match &bounds.write {
            Reach::Nothing => Vec::new(),
            Reach::Beneath(roots) => [existing(roots), existing(&bounds.git_stores)].concat(),
            Reach::Anywhere => vec![PathBuf::from("/")],
        };
        let write = readable(asked, read.as_deref());
        let is_writable = |path: &Path| beneath_any(path, &write);
        let mut missing = Vec::new();
        // buddy makes some of its own files while a command runs, so those are not swept.
        let hidden = resolve_all(bounds.hidden.iter().cloned(), is_writable, &mut Vec::new())?;
        // Settings without a secret in them are as good as any other file. A hidden directory stays hidden.
        let hidden: Vec<Resolved> = hidden
            .into_iter()
            .filter(|hidden| hidden.what != What::File || !is_plain(&hidden.path, &bounds.blank_names))
            .collect();
        let mut guarded = resolve_all(guarded_paths(bounds, &write), is_writable, &mut missing)?;
        guarded.retain(|guarded| guarded.what != What::Missing);
        let is_protected = |root: &PathBuf| {
            hidden
                .iter()
                .chain(&guarded)
                .any(|protected| protected.exists() && root.starts_with(&protected.path))
        };
        let is_guarded =
            |path: &Path| guarded.iter().any(|guarded| guarded.exists() && path.starts_with(&guarded.path));
        let shown: Vec<Shown> = existing(&bounds.shown)
            .into_iter()
            .filter(|path| {
                hidden.iter().any(|hidden| hidden.what == What::Directory && path.starts_with(&hidden.path))
            })
            .map(|path| Shown { is_writable: is_writable(&path) && !is_guarded(&path), path })
            .collect();
        let is_shown =
            |root: &PathBuf| shown.iter().any(|shown| shown.is_writable && root.starts_with(&shown.path));
        let write = write.iter().filter(|root| !is_protected(root) || is_shown(root)).cloned().collect();
        Ok(Self {
            read,
            write,
            write_files: Vec::new(),
            hidden,
            shown,
            guarded,
            missing,
            blank: bounds.blank_names.clone(),
            sealed: Vec::new(),
            sealed_by_rules: Vec::new(),
            unsearched: Vec::new(),
            searched: Vec::new(),
        })
    }

    /// Opens single files, unless they are protected.
    pub(super) fn open_files(&mut self, files: &[PathBuf]) {
        let is_guarded = |file: &Path| self.guarded.iter().any(|guarded| file.starts_with(&guarded.path));
        let is_free = |file: &&PathBuf| !self.is_hidden(file) && !is_guarded(file) && self.is_readable(file);
        self.write_files = files.iter().filter(is_free).cloned().collect();
    }

    /// Whether a command may read here, as far as the roots say.
    pub(super) fn is_readable(&self, path: &Path) -> bool {
        self.read.as_deref().is_none_or(|roots| beneath_any(path, roots))
    }

    /// Whether a path is hidden, or is in a hidden directory.
    pub(super) fn is_hidden(&self, path: &Path) -> bool {
        let is_shown = |shown: &Shown| path.starts_with(&shown.path);
        self.hidden.iter().any(|hidden| hidden.exists() && path.starts_with(&hidden.path))
            && !self.shown.iter().any(is_shown)
    }

    /// Whether a command may write here, as far as the roots say.
    pub(super) fn is_writable(&self, path: &Path) -> bool {
        beneath_any(path, &self.write)
    }
}

impl Resolved {
    pub(super) fn exists(&self) -> bool {
        matches!(self.what, What::Directory | What::File)
    }
}

/// Whether a path is one of the roots or beneath one.
pub(super) fn beneath_any(path: &Path, roots: &[PathBuf]) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

/// The real paths of the roots that exist. A missing one cannot be granted.
fn existing(roots: &[PathBuf]) -> Vec<PathBuf> {
    roots.iter().filter(|root| root.is_absolute()).filter_map(|root| root.canonicalize().ok()).collect()
}

/// A root that is not readable is not writable either.
fn readable(write: Vec<PathBuf>, read: Option<&[PathBuf]>) -> Vec<PathBuf> {
    let Some(read) = read else { return write };
    let inner = read.iter().filter(|root| beneath_any(root, &write)).cloned();
    let mut roots: Vec<PathBuf> =
        write.iter().filter(|root| beneath_any(root, read)).cloned().chain(inner).collect();
    roots.sort();
    roots.dedup();
    roots
}

fn guarded_paths(bounds: &Bounds, write: &[PathBuf]) -> Vec<PathBuf> {
    let roots: &[PathBuf] = if bounds.write == Reach::Anywhere { &[] } else { write };
    let places = |path: &PathBuf| -> Vec<PathBuf> {
        if path.is_absolute() {
            vec![path.clone()]
        } else {
            roots.iter().map(|root| root.join(path)).collect()
        }
    };
    bounds.guarded.iter().flat_map(places).collect()
}

fn resolve_all(
    paths: impl IntoIterator<Item = PathBuf>,
    is_writable: impl Fn(&Path) -> bool,
    missing: &mut Vec<PathBuf>,
) -> Result<Vec<Resolved>, Refusal> {
    let mut found: Vec<Resolved> = Vec::new();
    for path in paths {
        let Some(resolved) = resolve(&path, &is_writable)? else { continue };
        if resolved.what == What::Missing && is_writable(&resolved.path) {
            missing.push(path);
        }
        if !found.contains(&resolved) {
            found.push(resolved);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn bounds(read: Reach, write: Reach) -> Bounds {
        Bounds { read, write, ..Bounds::open() }
    }

    #[test]
    fn unreadable_roots_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let [outer, inner, other] = ["outer", "outer/inner", "other"].map(|name| root.join(name));
        for path in [&inner, &other] {
            fs::create_dir_all(path).unwrap();
        }
        let write = |read: &[&PathBuf], write: &[&PathBuf]| {
            let beneath =
                |roots: &[&PathBuf]| Reach::Beneath(roots.iter().map(|root| (*root).clone()).collect());
            Ground::of(&bounds(beneath(read), beneath(write))).unwrap().write
        };
        assert_eq!(write(&[], &[&outer]), Vec::<PathBuf>::new());
        assert_eq!(write(&[&outer], &[&inner, &other]), std::slice::from_ref(&inner));
        assert_eq!(write(&[&inner], &[&outer]), [inner]);
    }

    #[test]
    fn a_root_inside_of_something_protected_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("kept/work")).unwrap();
        let mut bounds = bounds(Reach::Anywhere, Reach::Beneath(vec![root.join("kept/work"), root.clone()]));
        bounds.hidden = vec![root.join("kept")];
        assert_eq!(Ground::of(&bounds).unwrap().write, [root]);
    }

    #[test]
    fn guarded_names_stand_in_every_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["one", "two"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        fs::create_dir_all(root.join("two/.hooks/run")).unwrap();
        let mut bounds = bounds(Reach::Anywhere, Reach::Beneath(vec![root.join("one"), root.join("two")]));
        bounds.guarded = vec![".hooks/run".into(), root.join("else")];
        let ground = Ground::of(&bounds).unwrap();
        assert_eq!(ground.missing, [root.join("one/.hooks/run")]);
        let paths: Vec<_> = ground.guarded.iter().map(|resolved| resolved.path.clone()).collect();
        assert_eq!(paths, [root.join("two/.hooks/run")]);
    }
}
