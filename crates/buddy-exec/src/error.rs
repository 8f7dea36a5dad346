//! Why a target could not do what it was asked to.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::PaneError;

/// A failure of a target.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// Nothing exists at the path.
    #[error("no such file or directory `{}`", path.display())]
    NotFound {
        /// What was asked for.
        path: PathBuf,
    },
    /// The user of the target may not do this.
    #[error("permission denied for `{}`", path.display())]
    PermissionDenied {
        /// What was asked for.
        path: PathBuf,
    },
    /// The path is not a regular file.
    #[error("`{}` is {what}, not a regular file", path.display())]
    NotAFile {
        /// What was asked for.
        path: PathBuf,
        /// What it is.
        what: NotFile,
    },
    /// The path is not a directory.
    #[error("`{}` is not a directory", path.display())]
    NotADirectory {
        /// What was asked for.
        path: PathBuf,
    },
    /// The path is outside what the call may touch, or leads there.
    #[error("`{}` is outside what may be touched here", path.display())]
    Outside {
        /// What was asked for.
        path: PathBuf,
    },
    /// The path is one that nobody gets to see.
    #[error("`{}` is off limits", path.display())]
    Hidden {
        /// What was asked for.
        path: PathBuf,
    },
    /// The path may be read and not changed.
    #[error("`{}` is protected and stays as it is", path.display())]
    Guarded {
        /// What was asked for.
        path: PathBuf,
    },
    /// The contents can be secrets, so they are not read; the name is seen.
    #[error("`{}` can hold secrets, so it is not read", path.display())]
    Sealed {
        /// What was asked for.
        path: PathBuf,
        /// Where it is, when a link led there.
        real: Option<PathBuf>,
    },
    /// Another directory has the name of one that a person opened.
    #[error("`{}` is not the directory any more that it was when the session first used it", path.display())]
    Replaced {
        /// The directory.
        path: PathBuf,
    },
    /// A symbolic link is where a change may go through none.
    #[error("`{}` is or goes through a symbolic link, which is not written through{}", path.display(), leading(to.as_deref()))]
    Link {
        /// What was asked for.
        path: PathBuf,
        /// Where it leads, as far as that is known and may be told.
        to: Option<PathBuf>,
    },
    /// The path is a directory that everything else is in.
    #[error("`{}` is the top of what may be touched and stays", path.display())]
    IsRoot {
        /// What was asked for.
        path: PathBuf,
    },
    /// Another file system is mounted there.
    #[error("something else is mounted at `{}`", path.display())]
    Mount {
        /// Where.
        path: PathBuf,
    },
    /// The directory is not empty, and removing what is in it was not asked for.
    #[error("the directory `{}` is not empty", path.display())]
    NotEmpty {
        /// What was asked for.
        path: PathBuf,
    },
    /// Something is there already.
    #[error("`{}` is there already", path.display())]
    Exists {
        /// What was asked for.
        path: PathBuf,
    },
    /// The path cannot be the name of anything here.
    #[error("the path {why}")]
    BadPath {
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is more of something than the target takes.
    #[error("more than {limit} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The most that is taken.
        limit: usize,
    },
    /// A pattern to search for is not understood.
    #[error("the pattern is not understood: {reason}")]
    BadPattern {
        /// Why not.
        reason: String,
    },
    /// What is there now could not be kept for undo, so nothing was changed.
    #[error("nothing was changed, as `{}` could not be kept for undo", path.display())]
    NotKept {
        /// What was to be changed.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// There is no room left for the file.
    #[error("no space left to write `{}`", path.display())]
    NoSpace {
        /// What was to be written.
        path: PathBuf,
    },
    /// Something is larger than the target takes.
    #[error("{what} has {size} bytes, the limit is {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size in bytes.
        size: u64,
        /// The largest size taken.
        limit: u64,
    },
    /// The command has no program.
    #[error("the command is empty")]
    EmptyCommand,
    /// The directory to run in cannot be used.
    #[error("cannot run in the directory `{}`", cwd.display())]
    CwdUnusable {
        /// The directory.
        cwd: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The program could not be started.
    #[error("cannot start `{program}`")]
    CommandNotStarted {
        /// The first word of the command.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// A layer of the jail could not be applied, so the command was not run: it would not have been kept to its bounds.
    #[error("the command was not run, because its jail cannot be made: {layer}: {reason}")]
    NotJailed {
        /// The layer, by the name that [`crate::layers`] gives it.
        layer: String,
        /// Why not.
        reason: String,
    },
    /// The supervisor could not be started, so the command was not either.
    #[error("cannot start the supervisor `{}`", program.display())]
    SupervisorNotStarted {
        /// The program of the supervisor.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The supervisor went away without a report, so the outcome of the command is not known. What could still be
    /// found of its processes was killed.
    #[error("the supervisor of the command was lost, the outcome is unknown")]
    SupervisorLost,
    /// The host of the target cannot be reached, so nothing was done.
    #[error("cannot reach `{target}`: {reason}")]
    Unreachable {
        /// The name of the target.
        target: String,
        /// Why not.
        reason: String,
    },
    /// The connection to the host was lost during a call, so its outcome is not known. The host ends what runs as soon as
    /// it learns of the loss; the next call makes a new connection.
    #[error("the connection to `{target}` was lost, the outcome is unknown{}{reason}", if reason.is_empty() { "" } else { ": " })]
    ConnectionLost {
        /// The name of the target.
        target: String,
        /// What the client of the connection said.
        reason: String,
    },
    /// The host lacks something that the target needs.
    #[error("`{target}` cannot do this: {reason}")]
    NotSupported {
        /// The name of the target.
        target: String,
        /// What is missing.
        reason: String,
    },
    /// The exit of this run was already handed out.
    #[error("the exit of the command was already taken")]
    ExitTaken,
    /// Something about a pane.
    #[error(transparent)]
    Pane(#[from] PaneError),
    /// Anything else that the system refused.
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

/// Where a link leads, for a message.
fn leading(to: Option<&Path>) -> String {
    to.map(|to| format!("; it leads to `{}`", to.display())).unwrap_or_default()
}

/// What a path is when it is not a regular file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotFile {
    /// A directory.
    Directory,
    /// A named pipe.
    Fifo,
    /// A character or block device.
    Device,
    /// A socket.
    Socket,
    /// Something else.
    Other,
}

impl fmt::Display for NotFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Directory => "a directory",
            Self::Fifo => "a named pipe",
            Self::Device => "a device",
            Self::Socket => "a socket",
            Self::Other => "something else",
        })
    }
}

impl TargetError {
    /// Whether it is about the way to the host, so that another try may get through.
    pub(crate) fn is_connection(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::ConnectionLost { .. })
    }

    /// Sorts an error of the system into the kind that a caller branches on.
    pub(crate) fn from_io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { path },
            io::ErrorKind::NotADirectory => Self::NotADirectory { path },
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            io::ErrorKind::InvalidFilename => Self::BadPath { why: "is too long" },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { path },
            _ => Self::Io { action, path, source },
        }
    }
}
