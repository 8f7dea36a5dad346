//! Remotes of a git repository that are folders of its host, and the way to look them up.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The remote that a command means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteName<'a> {
    /// The one with this name.
    Named(&'a str),
    /// The one that git uses if no name is given.
    Usual,
    /// All of them.
    All,
}

/// The use of a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoteUse {
    /// Commits are fetched from it.
    Fetch,
    /// Commits are pushed to it.
    Push,
}

/// A question about the remotes of the repository that a directory is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteQuery<'a> {
    /// The directory.
    pub directory: &'a Path,
    /// The remote.
    pub name: RemoteName<'a>,
    /// Its use.
    pub usage: RemoteUse,
}

/// Looks up the folders of remotes.
type Look = dyn Fn(&RemoteQuery<'_>) -> Vec<PathBuf> + Send + Sync;

/// The way to look up the folders that remotes are on a host. By default the host cannot be asked, and none are.
#[derive(Clone, Default)]
pub struct RemoteLookup(Option<Arc<Look>>);

impl RemoteLookup {
    /// Looks up folders with a function.
    pub fn new(look: impl Fn(&RemoteQuery<'_>) -> Vec<PathBuf> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(look)))
    }

    /// The folders that the remote is, as its settings name them, made absolute.
    pub fn folders(&self, query: &RemoteQuery<'_>) -> Vec<PathBuf> {
        self.0.as_ref().map(|look| look(query)).unwrap_or_default()
    }
}

impl fmt::Debug for RemoteLookup {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() { "RemoteLookup(host)" } else { "RemoteLookup(none)" })
    }
}

impl PartialEq for RemoteLookup {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl Eq for RemoteLookup {}
