//! The changes in a repository.

use serde::{Deserialize, Serialize};

use crate::SessionTarget;

/// Finds the changes in the repository of a session's directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindDiff {
    /// Where the session works.
    pub target: SessionTarget,
}

/// The changes since the last commit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryDiff {
    /// The changes of files that git knows, and new files that it does not know, as a unified diff.
    pub diff: String,
    /// The changed files in the order of the diff.
    pub changed: Vec<String>,
    /// The files that git does not know, with the reason if the content of one is not in the diff.
    pub unknown: Vec<String>,
}
