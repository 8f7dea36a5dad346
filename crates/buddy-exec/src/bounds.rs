//! Bounds: the files and network that one call may touch on a host. The same value confines file access in
//! this process and commands in a jail.

use std::path::{Path, PathBuf};

use buddy_protocol::NameSet;
use serde::{Deserialize, Serialize};

/// Limits of one call. They are enforced where the access happens, not by reading what the call
/// says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Files that may be read.
    pub read: Reach,
    /// Files that may be created, changed and removed. A file that is not readable is not writable
    /// either.
    pub write: Reach,
    /// Single paths outside of `write` that may be created, changed and removed too, and nothing beside them. A command can write only
    /// a file there: one that is missing is made before it starts.
    #[serde(default)]
    pub write_alone: Vec<PathBuf>,
    /// Own directories of repositories elsewhere whose work tree is a root of `write`: commands write there too, as git needs it, and file
    /// tools do not.
    #[serde(default)]
    pub git_stores: Vec<PathBuf>,
    /// Paths that are neither read nor written: buddy's own configuration, database and sockets, and keys.
    /// Whether they exist does not matter.
    pub hidden: Vec<PathBuf>,
    /// Paths that are hidden from commands too: ways to other sessions of the account, as they are at the
    /// moment. They come and go, so a shell that serves several calls keeps those that were there when it
    /// began.
    pub ways: Vec<PathBuf>,
    /// Paths inside hidden directories that stay visible. They are written where `write` says so, and nothing
    /// guards them.
    pub shown: Vec<PathBuf>,
    /// Paths that are read but not written, also where they do not exist yet, because another program would
    /// run something from them later, such as hooks. Absolute, or relative to every root of `write`.
    pub guarded: Vec<PathBuf>,
    /// Names that are read but not written anywhere beneath a root of `write`, also where they do not exist
    /// yet.
    pub guarded_names: NameSet,
    /// Names of files that hold secrets, in any directory: they are seen and listed, and their contents are
    /// not read.
    pub sealed_names: NameSet,
    /// Files and directories that are sealed by their place: what links with such names lead to.
    #[serde(default)]
    pub sealed: Vec<PathBuf>,
    /// Names of hidden or sealed files that commands find empty instead of not being able to open them, where
    /// mounts can do that: some programs fail when they cannot read their settings.
    pub blank_names: NameSet,
    /// Files that this call may use although they are hidden, sealed or guarded by name, because the user or
    /// one of their rules opened exactly them. A link at such a path opens nothing but itself.
    pub opened: Vec<PathBuf>,
    /// Directories that the command removes with all that is in them. Files there that programs take orders from are compared, and not held
    /// by the kernel, which would keep their directories.
    #[serde(default)]
    pub removed: Vec<PathBuf>,
    /// Directories elsewhere that the command goes through: files that hold secrets there are
    /// sealed too.
    pub searched: Vec<PathBuf>,
    /// Directories that the user opened. Names are compared with the whole path, and a match ends below them, so
    /// that none is guarded by its own name. While a session lasts, each path must lead to the same directory.
    pub anchors: Vec<PathBuf>,
    /// Caches of package managers outside of `write`, which commands change in a layer. None where they are read-only.
    pub caches: Option<CacheLayers>,
    /// Whether commands reach the network.
    pub network: bool,
}

/// Caches that the commands of one workspace change in layers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheLayers {
    /// The directory of the workspace's layers. Created when missing.
    pub directory: PathBuf,
    /// The directory in which the layers of all workspaces are.
    pub all: PathBuf,
    /// The caches, outer ones first.
    pub places: Vec<CachePlace>,
}

/// A cache of a package manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachePlace {
    /// The name of its directory in a layer, different for each cache.
    pub name: String,
    /// The path of the cache, whether or not it exists.
    pub at: PathBuf,
    /// A variable that leads its program to another directory, and its value with `{}` for that; for caches that cannot be mounted over.
    pub redirect: Option<(String, String)>,
    /// Files of the cache that are settings and go along to that directory.
    pub linked: Vec<String>,
}

/// The extent of an access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Nowhere.
    Nothing,
    /// Beneath these directories, themselves included; a link that leads out of them is not followed.
    Beneath(Vec<PathBuf>),
    /// Everywhere that the account of this process may go.
    Anywhere,
}

impl Reach {
    /// Whether it has a file, by its name or by the place that its directory leads to.
    pub fn covers(&self, file: &Path) -> bool {
        let roots = match self {
            Self::Nothing => return false,
            Self::Anywhere => return true,
            Self::Beneath(roots) => roots,
        };
        // A link can be replaced where it is, and the file where it leads.
        let real = |path: &Path| path.canonicalize().ok();
        let directory =
            file.parent().and_then(real).zip(file.file_name()).map(|(above, name)| above.join(name));
        let places = [Some(file.to_owned()), directory, real(file)];
        let roots = || roots.iter().cloned().chain(roots.iter().filter_map(|root| real(root)));
        places.iter().flatten().any(|place| roots().any(|root| place.starts_with(&root)))
    }
}

impl Bounds {
    /// Whether files that hold secrets are open: by name, or all of them.
    pub fn opens_secrets(&self) -> bool {
        !self.opened.is_empty() || self.sealed_names.is_empty()
    }

    /// No bounds: everything that the account of this process may do is allowed.
    pub fn open() -> Self {
        Self {
            read: Reach::Anywhere,
            write: Reach::Anywhere,
            write_alone: Vec::new(),
            git_stores: Vec::new(),
            hidden: Vec::new(),
            ways: Vec::new(),
            shown: Vec::new(),
            guarded: Vec::new(),
            guarded_names: NameSet::default(),
            sealed_names: NameSet::default(),
            sealed: Vec::new(),
            blank_names: NameSet::default(),
            opened: Vec::new(),
            removed: Vec::new(),
            searched: Vec::new(),
            anchors: Vec::new(),
            caches: None,
            network: true,
        }
    }

    /// Whether nothing is confined, so that no jail is needed.
    pub fn is_open(&self) -> bool {
        *self == Self::open()
    }

    /// Whether the bounds only hide files, and perhaps take the network away, and confine nothing else.
    pub fn only_hide(&self) -> bool {
        self.read == Reach::Anywhere && self.write == Reach::Anywhere
    }
}
