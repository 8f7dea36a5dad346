//! Bounds: what one call may touch on a host. The same value confines file access in this process and commands in a jail.

use std::path::PathBuf;

use buddy_protocol::NameSet;
use serde::{Deserialize, Serialize};

/// What a call may touch. Enforced where the access happens and not by reading what the call says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// What may be read.
    pub read: Reach,
    /// What may be created, changed and removed. What is not readable is not writable either.
    pub write: Reach,
    /// Neither read nor written, wherever they are: buddy's own configuration, database and sockets, keys. Whether they
    /// exist does not matter.
    pub hidden: Vec<PathBuf>,
    /// Hidden from commands too: ways to other sessions of the account, as they are at the moment. They come and go, so a shell that serves
    /// several calls keeps those that were there when it began.
    pub ways: Vec<PathBuf>,
    /// What is inside of hidden directories and there all the same. They are written where `write` says so and nothing guards
    /// them.
    pub shown: Vec<PathBuf>,
    /// Read but not written, also where they do not exist yet: what would make another program run something later, such
    /// as hooks. Absolute, or relative to every root of `write`.
    pub guarded: Vec<PathBuf>,
    /// Read but not written wherever they stand beneath a root of `write`, also where they do not exist yet.
    pub guarded_names: NameSet,
    /// Files that hold secrets, wherever they stand: they are seen and listed, and their contents are not read.
    pub sealed_names: NameSet,
    /// Of the files that are hidden or sealed, those that commands find empty instead of not being able to open them, where mounts can do
    /// that: some programs fail when they cannot read their settings.
    pub blank_names: NameSet,
    /// Files that this call may use although they are hidden, sealed or guarded by name, because a person or a rule of theirs
    /// opened exactly them. A link at such a path opens nothing but itself.
    pub opened: Vec<PathBuf>,
    /// Directories elsewhere that the command goes through: what holds secrets there is sealed too.
    pub searched: Vec<PathBuf>,
    /// Directories that a person opened. Names are compared below them, so that none is guarded by its own name, and while a
    /// session lasts each name must lead to the same directory.
    pub anchors: Vec<PathBuf>,
    /// Caches of package managers outside of `write`, which commands change in a layer. None where they are read-only.
    pub caches: Option<CacheLayers>,
    /// Whether commands reach the network.
    pub network: bool,
}

/// Caches that the commands of one workspace change in layers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheLayers {
    /// Where the layers of the workspace are. Made when it is missing.
    pub directory: PathBuf,
    /// The caches, outer ones first.
    pub places: Vec<CachePlace>,
}

/// A cache of a package manager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachePlace {
    /// The name of its directory in a layer, different for each cache.
    pub name: String,
    /// Where it is, or would be.
    pub at: PathBuf,
    /// A variable that leads its program to another directory, and its value with `{}` for that; for caches that cannot be mounted over.
    pub redirect: Option<(String, String)>,
    /// Files of the cache that are settings and go along to that directory.
    pub linked: Vec<String>,
}

/// How far an access reaches.
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

impl Bounds {
    /// No bounds: whatever the account of this process may do.
    pub fn open() -> Self {
        Self {
            read: Reach::Anywhere,
            write: Reach::Anywhere,
            hidden: Vec::new(),
            ways: Vec::new(),
            shown: Vec::new(),
            guarded: Vec::new(),
            guarded_names: NameSet::default(),
            sealed_names: NameSet::default(),
            blank_names: NameSet::default(),
            opened: Vec::new(),
            searched: Vec::new(),
            anchors: Vec::new(),
            caches: None,
            network: true,
        }
    }

    /// Whether there are none, so that no jail is needed.
    pub fn is_open(&self) -> bool {
        *self == Self::open()
    }

    /// Whether they only take files, and perhaps the network, out of what the account may do, and confine nothing else.
    pub fn only_hide(&self) -> bool {
        self.read == Reach::Anywhere && self.write == Reach::Anywhere
    }
}
