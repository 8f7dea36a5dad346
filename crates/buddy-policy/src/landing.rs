//! Landings: what is at the paths outside the workspace that a call would change. Only the host can tell.

use std::path::PathBuf;

/// A path outside the workspace, as the host has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    /// The path.
    pub path: PathBuf,
    /// The object there.
    pub found: Found,
    /// The nearest directory above it that exists, if the account may change it.
    pub directory: Option<PathBuf>,
}

/// The object at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A file that the account may write, with no other name.
    File,
    /// A directory that the account may change.
    Directory,
    /// Nothing, in a directory that the account may change.
    Missing,
    /// No object that a call could be given alone; the text says why.
    Closed(String),
}
