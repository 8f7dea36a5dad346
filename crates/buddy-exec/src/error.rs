//! The reasons why a target could not do what it was asked to.

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
        /// The requested path.
        path: PathBuf,
    },
    /// The user of the target may not do this.
    #[error("permission denied for `{}`", path.display())]
    PermissionDenied {
        /// The requested path.
        path: PathBuf,
    },
    /// The path is not a regular file.
    #[error("`{}` is {what}, not a regular file", path.display())]
    NotAFile {
        /// The requested path.
        path: PathBuf,
        /// Its kind.
        what: NotFile,
    },
    /// The path is not a directory.
    #[error("`{}` is not a directory", path.display())]
    NotADirectory {
        /// The requested path.
        path: PathBuf,
    },
    /// The path is outside what the call may touch, or leads there.
    #[error("`{}` is outside the directories that are open here", path.display())]
    Outside {
        /// The requested path.
        path: PathBuf,
    },
    /// The path is hidden from everyone.
    #[error("`{}` is off limits", path.display())]
    Hidden {
        /// The requested path.
        path: PathBuf,
    },
    /// The path may be read but not changed.
    #[error("`{}` is protected, so it was not changed", path.display())]
    Guarded {
        /// The requested path.
        path: PathBuf,
    },
    /// The file can hold secrets, so its contents are not read; its name is seen.
    #[error("`{}` can hold secrets, so it is not read", path.display())]
    Sealed {
        /// The requested path.
        path: PathBuf,
        /// Its real path, when a link led there.
        real: Option<PathBuf>,
    },
    /// Another directory now has the name of one that the user opened.
    #[error("`{}` is no longer the directory that the session first used", path.display())]
    Replaced {
        /// The directory.
        path: PathBuf,
    },
    /// A symbolic link stands on a path that a change may only take without links.
    #[error("`{}` is or goes through a symbolic link, which is not written through{}", path.display(), leading(to.as_deref()))]
    Link {
        /// The requested path.
        path: PathBuf,
        /// The target of the link, as far as it is known and may be shown.
        to: Option<PathBuf>,
    },
    /// The path is a root: a directory that everything else is in.
    #[error("refusing to delete the workspace root `{}`", path.display())]
    IsRoot {
        /// The requested path.
        path: PathBuf,
    },
    /// Another file system is mounted there.
    #[error("something else is mounted at `{}`", path.display())]
    Mount {
        /// The mount point.
        path: PathBuf,
    },
    /// The directory is not empty, and a recursive removal was not requested.
    #[error("the directory `{}` is not empty", path.display())]
    NotEmpty {
        /// The requested path.
        path: PathBuf,
    },
    /// The path exists already.
    #[error("`{}` already exists", path.display())]
    Exists {
        /// The requested path.
        path: PathBuf,
    },
    /// The path cannot be the name of anything here.
    #[error("the path {why}")]
    BadPath {
        /// The problem with it.
        why: &'static str,
    },
    /// There are more items than the target accepts.
    #[error("more than {limit} {what}")]
    TooMany {
        /// The kind of item.
        what: &'static str,
        /// The most that the target accepts.
        limit: usize,
    },
    /// A search pattern is not understood.
    #[error("invalid pattern: {reason}")]
    BadPattern {
        /// The reason.
        reason: String,
    },
    /// The current content could not be kept for undo, so nothing was changed.
    #[error("nothing was changed, as `{}` could not be kept for undo", path.display())]
    NotKept {
        /// The path to change.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// There is no space left for the file.
    #[error("no space left to write `{}`", path.display())]
    NoSpace {
        /// The path to write.
        path: PathBuf,
    },
    /// An item is larger than the target accepts.
    #[error("{what} has {size} bytes, the limit is {limit}")]
    TooLarge {
        /// The kind of item.
        what: &'static str,
        /// Its size in bytes.
        size: u64,
        /// The largest accepted size.
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
        /// The cause.
        source: io::Error,
    },
    /// The program could not be started.
    #[error("cannot start `{program}`")]
    CommandNotStarted {
        /// The first word of the command.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// A layer of the jail could not be applied, so the command was not run: it would not have been kept to its bounds.
    #[error("the command did not run, because its jail cannot be set up: {layer}: {reason}")]
    NotJailed {
        /// The layer, by the name that [`crate::layers`] gives it.
        layer: String,
        /// The reason.
        reason: String,
    },
    /// The supervisor could not be started, so the command was not either.
    #[error("cannot start the supervisor `{}`", program.display())]
    SupervisorNotStarted {
        /// The program of the supervisor.
        program: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The supervisor went away without a report, so the outcome of the command is not known. All its
    /// processes that could still be found were killed.
    #[error("the supervisor of the command was lost, the outcome is unknown")]
    SupervisorLost,
    /// The host of the target cannot be reached, so nothing was done.
    #[error("cannot reach `{target}`: {reason}")]
    Unreachable {
        /// The name of the target.
        target: String,
        /// The reason.
        reason: String,
    },
    /// The connection to the host was lost during a call, so its outcome is not known. The host kills the
    /// running command as soon as it learns of the loss; the next call makes a new connection.
    #[error("the connection to `{target}` was lost, the outcome is unknown{}{reason}", if reason.is_empty() { "" } else { ": " })]
    ConnectionLost {
        /// The name of the target.
        target: String,
        /// The message of the connection's client.
        reason: String,
    },
    /// The host lacks something that the target needs.
    #[error("`{target}` cannot do this: {reason}")]
    NotSupported {
        /// The name of the target.
        target: String,
        /// The missing part.
        reason: String,
    },
    /// The exit of this run was already handed out.
    #[error("the exit of the command was already taken")]
    ExitTaken,
    /// A failure of a pane.
    #[error(transparent)]
    Pane(#[from] PaneError),
    /// Any other error of the system.
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

/// The target of a link, for a message.
fn leading(to: Option<&Path>) -> String {
    to.map(|to| format!("; it leads to `{}`", to.display())).unwrap_or_default()
}

/// The kind of a path that is not a regular file.
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
    /// Anything else.
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
    /// Whether the failure is about the way to the host, so that a retry may get through.
    pub(crate) fn is_connection(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::ConnectionLost { .. })
    }

    /// Sorts a system error into the kind that a caller branches on.
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
