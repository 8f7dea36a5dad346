//! The reasons why a managed process could not be started, found or ended.

use std::io;
use std::path::PathBuf;

use crate::TargetError;

/// A failure around a managed process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManagedError {
    /// There is no process with this id.
    #[error("there is no managed process `{id}`")]
    NotFound {
        /// The requested id.
        id: String,
    },
    /// The most that may run are running.
    #[error("{limit} managed processes are running already, which is the limit")]
    TooMany {
        /// The most that may run.
        limit: usize,
    },
    /// The process was told to end and still runs.
    #[error("the managed process `{id}` could not be stopped")]
    NotEnded {
        /// Its id.
        id: String,
    },
    /// The command could not be started.
    #[error(transparent)]
    NotStarted(#[from] TargetError),
    /// The system refused an action.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// The action, as a verb.
        action: &'static str,
        /// The path that it was done to.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl ManagedError {
    pub(super) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
