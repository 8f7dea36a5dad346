//! Files that come to another place with the links that they are or hold: the host says which do.

use std::path::{Path, PathBuf};

/// Files that a command moves or copies with the links among them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// This one, with everything beneath it.
    Named(PathBuf),
    /// Some in this directory, each with everything beneath it.
    Matched(PathBuf),
}

impl Carried {
    /// The file, or the directory that it is in.
    pub fn path(&self) -> &Path {
        match self {
            Self::Named(path) | Self::Matched(path) => path,
        }
    }
}
