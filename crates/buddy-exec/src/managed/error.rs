//! Why a managed process could not be started, found or ended.

use std::io;
use std::path::PathBuf;

use crate::TargetError;

/// A failure around a managed process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManagedError {
    /// There is none with this id.
    #[error("there is no managed process `{id}`")]
    NotFound {
        /// What was asked for.
        id: String,
    },
    /// As many as may run do.
    #[error("{limit} managed processes run already, which is the limit")]
    TooMany {
        /// The most that may run.
        limit: usize,
    },
    /// It was told to end and still runs.
    #[error("the managed process `{id}` could not be ended")]
    NotEnded {
        /// Which one.
        id: String,
    },
    /// The command could not be started.
    #[error(transparent)]
    NotStarted(#[from] TargetError),
    /// The system refused something.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was being done, as a verb.
        action: &'static str,
        /// What it was done to.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

impl ManagedError {
    pub(super) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
