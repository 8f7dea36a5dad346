//! The places of a session: its workspace, the home, scratch directories and buddy's own files.

use std::path::{Path, PathBuf};

use buddy_protocol::{Climbed, LinkLookup, NameSet, RemoteLookup};

use crate::path::{clean, is_beneath_any};

/// The places that judgements are about. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The directories that the user opened to be worked on.
    pub workspace: Vec<PathBuf>,
    /// The directory of the session if the user does not trust it: it is read, and the jail lets nothing
    /// change it.
    pub untrusted: Option<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// Files of buddy itself: configuration, locks, database, guards. Changing them always asks.
    pub own: Vec<PathBuf>,
    /// Directories in there that agents may read: logs, and directories that they share with
    /// people.
    pub own_readable: Vec<PathBuf>,
    /// Places for temporary files.
    pub scratch: Vec<PathBuf>,
    /// Files and directories that git takes orders from because settings name them, such as hooks that are
    /// kept elsewhere.
    pub git_orders: Vec<PathBuf>,
    /// Names from which git takes orders in any directory because the user's own settings give them relative to the
    /// repository.
    pub git_names: NameSet,
    /// Files and directories that links in protected places lead to.
    pub linked: LinkedPlaces,
    /// The name of the target that all of this is about.
    pub target: String,
    /// Whether the target is another machine.
    pub remote: bool,
    /// The way to look up links on the target, for `..` after a name.
    pub links: LinkLookup,
    /// The way to look up which folders of the target the remotes of a repository are.
    pub remotes: RemoteLookup,
}

impl Places {
    /// The path without `.` and `..`, as the kernel of the target resolves it. `from` is a directory that is known to be no link
    /// even if the target cannot be asked.
    pub(crate) fn climb(&self, path: &Path, from: Option<&Path>) -> Climbed {
        self.links.climb(path, self.known().chain(from))
    }

    /// The same as if the target could not be asked.
    pub(crate) fn climb_unseen(&self, path: &Path, from: Option<&Path>) -> Climbed {
        LinkLookup::default().climb(path, self.known().chain(from))
    }

    fn known(&self) -> impl Iterator<Item = &Path> {
        let known = self.workspace.iter().chain(&self.untrusted).chain(&self.home).chain(&self.scratch);
        known.map(PathBuf::as_path)
    }
}

/// The targets of links in protected places of the home and of the workspace. They are protected as the places are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkedPlaces {
    /// Programs take orders from them.
    pub orders: Vec<PathBuf>,
    /// Keys and password stores.
    pub keys: Vec<PathBuf>,
    /// Logins of tools.
    pub logins: Vec<PathBuf>,
    /// Files that hold secrets by convention.
    pub secrets: Vec<PathBuf>,
}

/// Whether a file may be written there at all in development.
pub(crate) fn is_open(path: &Path, places: &Places) -> bool {
    is_beneath_any(path, &places.workspace) || is_beneath_any(path, &places.scratch)
}

/// Whether the path is in the directory of the session, which the user does not trust, and in no open place.
pub(crate) fn is_untrusted(path: &Path, places: &Places) -> bool {
    places.untrusted.as_ref().is_some_and(|root| is_beneath_any(path, std::slice::from_ref(root)))
        && !is_open(path, places)
}

/// Whether the path is the root, the home, a workspace, or holds one.
pub(crate) fn holds_a_root(path: &Path, places: &Places) -> bool {
    let mut roots = places.workspace.iter().chain(&places.home);
    path.parent().is_none() || roots.any(|root| clean(root).starts_with(path))
}
