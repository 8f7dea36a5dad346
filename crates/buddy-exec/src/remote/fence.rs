//! Bounds on another host: compared with the real paths, as the host resolves them.
//!
//! Weaker than on this machine: between the check and the access another process on the host can exchange a
//! directory for a link. The scripts check again right before the access, which makes the gap small and does
//! not close it.

use std::path::{Component, Path, PathBuf};

use buddy_protocol::{NameSet, OpenedRoots, fold_path};

use crate::{Bounds, Reach, TargetError};

/// The kind of access to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// To see and list it.
    Read,
    /// To read the content of a file.
    Content,
    Write,
}

/// The bounds of one call, with everything in them as the host resolves it.
#[derive(Debug)]
pub(super) struct Fence {
    read: Way,
    write: Way,
    hidden: Vec<Vec<String>>,
    guarded: Vec<Vec<String>>,
    guarded_names: NameSet,
    sealed_names: NameSet,
    opened: Vec<Vec<String>>,
    /// Directories that the user opened.
    anchors: Vec<Root>,
    /// The same as matches of names are judged by them.
    opened_roots: OpenedRoots,
}

#[derive(Debug)]
enum Way {
    Anywhere,
    Beneath(Vec<Root>),
}

#[derive(Debug)]
struct Root {
    named: PathBuf,
    real: PathBuf,
}

/// Whether these bounds leave files alone, so that nothing needs to be resolved.
pub(super) fn is_open(bounds: &Bounds) -> bool {
    bounds.read == Reach::Anywhere
        && bounds.write == Reach::Anywhere
        && bounds.hidden.is_empty()
        && bounds.guarded.is_empty()
        && bounds.guarded_names.is_empty()
        && bounds.sealed_names.is_empty()
}

/// The paths that the host has to resolve for these bounds, in the order in which [`Fence::new`] takes them.
pub(super) fn to_resolve(bounds: &Bounds) -> Vec<PathBuf> {
    let roots = |reach: &Reach| match reach {
        Reach::Beneath(roots) => roots.clone(),
        Reach::Nothing | Reach::Anywhere => Vec::new(),
    };
    let guarded = guarded(bounds);
    [roots(&bounds.read), roots(&bounds.write), bounds.hidden.clone(), guarded, bounds.anchors.clone()]
        .concat()
}

/// The guarded paths, those that are relative beneath every root that may be written.
fn guarded(bounds: &Bounds) -> Vec<PathBuf> {
    let roots = match &bounds.write {
        Reach::Beneath(roots) => roots.as_slice(),
        Reach::Nothing | Reach::Anywhere => &[],
    };
    let under = |path: &PathBuf| -> Vec<PathBuf> {
        if path.is_absolute() {
            vec![path.clone()]
        } else {
            roots.iter().map(|root| root.join(path)).collect()
        }
    };
    bounds.guarded.iter().flat_map(under).collect()
}

impl Fence {
    pub(super) fn new(bounds: &Bounds, real: &[PathBuf]) -> Self {
        let mut real = real.iter().cloned();
        let mut way = |reach: &Reach| match reach {
            Reach::Anywhere => Way::Anywhere,
            Reach::Nothing => Way::Beneath(Vec::new()),
            Reach::Beneath(roots) => Way::Beneath(
                roots
                    .iter()
                    .zip(real.by_ref())
                    .map(|(named, real)| Root { named: named.clone(), real })
                    .collect(),
            ),
        };
        let (read, write) = (way(&bounds.read), way(&bounds.write));
        let mut both = |paths: &[PathBuf]| -> Vec<Vec<String>> {
            let real: Vec<PathBuf> = real.by_ref().take(paths.len()).collect();
            paths.iter().chain(&real).map(|path| fold_path(path)).collect()
        };
        let hidden = both(&bounds.hidden);
        let guarded = both(&guarded(bounds));
        let anchors = bounds.anchors.iter().cloned().zip(real).map(|(named, real)| Root { named, real });
        let anchors: Vec<Root> = anchors.collect();
        let opened = bounds.opened.iter().flat_map(|path| {
            let below =
                anchors.iter().filter_map(|root| Some(root.real.join(path.strip_prefix(&root.named).ok()?)));
            below.chain([path.clone()])
        });
        Self {
            read,
            write,
            hidden,
            guarded,
            guarded_names: bounds.guarded_names.clone(),
            sealed_names: bounds.sealed_names.clone(),
            opened: opened.map(|path| fold_path(&path)).collect(),
            opened_roots: OpenedRoots::new(anchors.iter().flat_map(|root| [&root.named, &root.real])),
            anchors,
        }
    }

    /// Refuses paths outside the bounds. `named` is the requested path, `real` the real one.
    pub(super) fn check(&self, named: &Path, real: &Path, access: Access) -> Result<(), TargetError> {
        let path = || named.to_owned();
        if real.components().any(|component| component == Component::ParentDir) {
            return Err(TargetError::Outside { path: path() });
        }
        if self.hides(named) || self.hides(real) {
            return Err(TargetError::Hidden { path: path() });
        }
        let way = match access {
            Access::Read | Access::Content => &self.read,
            Access::Write => &self.write,
        };
        let top = Root { named: "/".into(), real: "/".into() };
        let is_straight = match way {
            Way::Beneath(roots) => {
                if !roots.iter().any(|root| real.starts_with(&root.real)) {
                    return Err(TargetError::Outside { path: path() });
                }
                roots.iter().any(|root| root.is_straight(named, real))
            }
            // A change lands on the path that was judged, also where everything is in reach.
            Way::Anywhere => self.anchors.iter().chain([&top]).any(|root| root.is_straight(named, real)),
        };
        if access == Access::Write && !is_straight {
            return Err(TargetError::Link { path: path(), to: Some(real.to_owned()) });
        }
        if access == Access::Write && [named, real].iter().any(|path| self.guards(path)) {
            return Err(TargetError::Guarded { path: path() });
        }
        if access == Access::Content && self.seals(real) {
            let real = (named != real).then(|| real.to_owned());
            return Err(TargetError::Sealed { path: path(), real });
        }
        Ok(())
    }

    /// Refuses to remove objects in a directory that are hidden, or guarded by their place.
    pub(super) fn check_removal(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        if self.hides(named) || self.hides(real) {
            return Err(TargetError::Hidden { path: named.to_owned() });
        }
        if [named, real].iter().any(|path| covers(&self.guarded, path)) {
            return Err(TargetError::Guarded { path: named.to_owned() });
        }
        Ok(())
    }

    fn guards(&self, path: &Path) -> bool {
        let names = fold_path(path);
        let is_guarded = self.guarded.iter().any(|place| names.starts_with(place))
            || self.opened_roots.protects(&self.guarded_names, &names);
        is_guarded && !self.is_opened(&names)
    }

    /// Whether the content of a file is not read, because its name says that it can hold secrets.
    pub(super) fn seals(&self, path: &Path) -> bool {
        let names = fold_path(path);
        self.opened_roots.protects(&self.sealed_names, &names) && !self.is_opened(&names)
    }

    fn is_opened(&self, names: &[String]) -> bool {
        self.opened.iter().any(|opened| names.starts_with(opened))
    }

    /// Refuses to put a file where protected paths are, or would be, further down, and to remove directories
    /// that hold them.
    pub(super) fn check_replace(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        let names = fold_path(real);
        let is_above = |place: &&Vec<String>| place.len() > names.len() && place.starts_with(&names);
        let holds = self.hidden.iter().chain(&self.guarded).any(|place| is_above(&place))
            || self.opened_roots.may_hold(&self.guarded_names, &names);
        if holds && !self.is_opened(&names) {
            return Err(TargetError::Guarded { path: named.to_owned() });
        }
        Ok(())
    }

    /// Refuses a path that is one of the roots, or has one in it.
    pub(super) fn check_not_root(&self, named: &Path, real: &Path) -> Result<(), TargetError> {
        let roots = [&self.read, &self.write].into_iter().filter_map(|way| match way {
            Way::Anywhere => None,
            Way::Beneath(roots) => Some(roots),
        });
        let is_root = roots.flatten().any(|root| root.real.starts_with(real));
        if is_root { Err(TargetError::IsRoot { path: named.to_owned() }) } else { Ok(()) }
    }

    /// Whether a path is hidden by its name.
    pub(super) fn hides(&self, path: &Path) -> bool {
        covers(&self.hidden, path) && !self.is_opened(&fold_path(path))
    }
}

impl Root {
    /// Whether no link below the root was on the way to a path.
    fn is_straight(&self, named: &Path, real: &Path) -> bool {
        let Ok(below) = real.strip_prefix(&self.real) else { return false };
        let clean = lexical(named);
        [&self.named, &self.real]
            .iter()
            .any(|root| clean.strip_prefix(root).is_ok_and(|named| named == below))
    }
}

/// The path without `.` and `..`, by its text alone.
fn lexical(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            other => clean.push(other),
        }
    }
    clean
}

fn covers(places: &[Vec<String>], path: &Path) -> bool {
    let names = fold_path(path);
    places.iter().any(|place| names.starts_with(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fence() -> Fence {
        let bounds = Bounds {
            read: Reach::Anywhere,
            write: Reach::Beneath(vec!["/project".into()]),
            hidden: vec!["/home/ann/.ssh".into()],
            guarded: vec![".git/hooks".into()],
            guarded_names: NameSet::trees([".envrc"]),
            sealed_names: NameSet::default().with_files([".env"]),
            opened: vec!["/project/open/.env".into()],
            anchors: vec!["/project".into()],
            ..Bounds::open()
        };
        let real = ["/data/project", "/home/ann/.ssh", "/data/project/.git/hooks", "/data/project"];
        let real = real.map(PathBuf::from);
        assert_eq!(to_resolve(&bounds).len(), real.len());
        Fence::new(&bounds, &real)
    }

    fn check(named: &str, real: &str, access: Access) -> Result<(), TargetError> {
        fence().check(Path::new(named), Path::new(real), access)
    }

    #[test]
    fn writes_stay_beneath_the_root_and_go_through_no_link() {
        assert!(check("/project/a/b", "/data/project/a/b", Access::Write).is_ok());
        assert!(check("/project/x/../a", "/data/project/a", Access::Write).is_ok());
        let outside = check("/project/out/b", "/etc/b", Access::Write);
        assert!(matches!(outside, Err(TargetError::Outside { .. })), "{outside:?}");
        let link = check("/project/link/b", "/data/project/a/b", Access::Write);
        assert!(matches!(link, Err(TargetError::Link { .. })), "{link:?}");
        let unclear = check("/project/none/../../x", "/data/project/none/../../x", Access::Write);
        assert!(matches!(unclear, Err(TargetError::Outside { .. })), "{unclear:?}");
    }

    #[test]
    fn hidden_files_are_hidden_by_every_name() {
        for (named, real) in [("/home/ann/.SSH/id", "/home/ann/.SSH/id"), ("/tmp/x", "/home/ann/.ssh/id")] {
            let refused = check(named, real, Access::Read);
            assert!(matches!(refused, Err(TargetError::Hidden { .. })), "{named}: {refused:?}");
        }
        assert!(check("/home/ann/.sshrc", "/home/ann/.sshrc", Access::Read).is_ok());
    }

    #[test]
    fn secrets_are_seen_and_their_content_is_not_read() {
        let (named, real) = ("/project/a", "/data/project/.ENV");
        assert!(check(named, real, Access::Read).is_ok());
        assert!(matches!(check(named, real, Access::Content), Err(TargetError::Sealed { .. })));
        assert!(check("/project/open/.env", "/project/open/.env", Access::Content).is_ok());
        let orders = check("/project/a/.envrc", "/data/project/a/.envrc", Access::Write);
        assert!(matches!(orders, Err(TargetError::Guarded { .. })), "{orders:?}");
    }

    #[test]
    fn a_change_lands_on_what_was_judged_also_where_everything_is_in_reach() {
        let bounds = Bounds { anchors: vec!["/project".into()], ..Bounds::open() };
        let fence = Fence::new(&bounds, &["/data/project".into()]);
        let check = |named: &str, real: &str| fence.check(Path::new(named), Path::new(real), Access::Write);
        assert!(check("/project/a", "/data/project/a").is_ok());
        assert!(check("/etc/a", "/etc/a").is_ok());
        for (named, real) in [("/project/l", "/etc/cron.d/x"), ("/project/l", "/data/project/.git/config")] {
            assert!(matches!(check(named, real), Err(TargetError::Link { .. })), "{real}");
        }
    }

    #[test]
    fn names_that_begin_above_the_opened_directory_are_compared_too() {
        let path = |path: &str| PathBuf::from(path);
        let bounds = Bounds {
            write: Reach::Beneath(vec![path("/w")]),
            anchors: vec![path("/w")],
            guarded_names: NameSet::trees([".config/git", ".config"]),
            sealed_names: NameSet::trees([".config/gh"]),
            ..Bounds::open()
        };
        let real = vec![path("/home/ann/.config"); 2];
        let check = |bounds: &Bounds, name: &str, access: Access| {
            let (named, real_path) = (Path::new("/w").join(name), Path::new("/home/ann/.config").join(name));
            Fence::new(bounds, &real).check(&named, &real_path, access)
        };
        let written = check(&bounds, "git/config", Access::Write);
        assert!(matches!(written, Err(TargetError::Guarded { .. })), "{written:?}");
        let read = check(&bounds, "gh/hosts.yml", Access::Content);
        assert!(matches!(read, Err(TargetError::Sealed { .. })), "{read:?}");
        assert!(check(&bounds, "nvim/init.lua", Access::Write).is_ok());
        let approved = Bounds { opened: vec![path("/w/git/config")], ..bounds };
        assert!(check(&approved, "git/config", Access::Write).is_ok());
    }

    #[test]
    fn guarded_files_are_read_and_not_written() {
        let (named, real) = ("/project/.git/hooks/x", "/data/project/.git/hooks/x");
        assert!(check(named, real, Access::Read).is_ok());
        assert!(matches!(check(named, real, Access::Write), Err(TargetError::Guarded { .. })));
        assert!(fence().check_replace(Path::new("/project/.git"), Path::new("/data/project/.git")).is_err());
        assert!(fence().check_not_root(Path::new("/project"), Path::new("/data")).is_err());
    }
}
