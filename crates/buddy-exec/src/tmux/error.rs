//! The reasons why an action on a pane failed.

use std::path::PathBuf;

/// A failure that has to do with panes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PaneError {
    /// A session or pane of this name exists and is not buddy's.
    #[error(
        "buddy has no record of making `{name}`, so nothing is done to it; close it to let buddy make its own"
    )]
    Foreign {
        /// The requested name.
        name: String,
    },
    /// There is no such session or pane.
    #[error("there is no {what} `{name}`")]
    Missing {
        /// The kind of object.
        what: &'static str,
        /// The requested name.
        name: String,
    },
    /// The name is not valid.
    #[error("`{name}` cannot be a name: letters, digits, `-` and `_`, at most 40 of them")]
    BadName {
        /// The requested name.
        name: String,
    },
    /// Another program runs in the pane.
    #[error("the pane is busy with `{program}`")]
    Busy {
        /// The program in the foreground.
        program: String,
    },
    /// The limit is reached.
    #[error("the limit of {limit} {what} is reached; end one, or raise the limit under `[tmux]`")]
    TooMany {
        /// The kind of object.
        what: &'static str,
        /// The limit.
        limit: u32,
    },
    /// The object may not be removed.
    #[error("the {what} `{name}` is the one that is shared by default, and stays")]
    Protected {
        /// The kind of object.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// The call has bounds, and the shells of this target's panes are in no jail.
    #[error("the shell of a pane is not in the jail here, so it is not used while commands have bounds")]
    Bounded,
    /// The shell has other bounds, and a program runs in it.
    #[error("the pane is busy with `{program}`, which runs with other bounds than hold now")]
    OtherBounds {
        /// The program in the foreground.
        program: String,
    },
    /// The pane went away before anything was typed.
    #[error("the pane was closed before anything was typed into it")]
    Vanished,
    /// The user has taken over the pane.
    #[error("the user has taken the pane and not given it back yet")]
    Taken,
    /// The keys of one pane go to others too.
    #[error("the panes of this window are synchronised, so that keys would go to others too")]
    Synchronised,
    /// The shell in the pane does not answer to the hooks.
    #[error("the shell in the pane does not tell where commands begin and end")]
    NoHooks,
    /// A command did not begin in time, and may have begun later.
    #[error("the command did not begin when it was typed into the pane, the outcome is unknown: {why}")]
    Unsure {
        /// The reason why it may still begin.
        why: String,
    },
    /// The pane went away while a command ran in it.
    #[error("the pane was closed while the command ran, the outcome is unknown")]
    Closed,
    /// The server went away while a command ran.
    #[error("the tmux server ended while the command ran, the outcome is unknown")]
    ServerLost,
    /// The host of the pane cannot be reached any more.
    #[error(
        "the connection to the pane was lost and could not be made again; the command was not ended and still runs in \
         the pane unless it is done by now; look with `{attach}`"
    )]
    OutOfReach {
        /// The command by which a user attaches to the pane.
        attach: String,
    },
    /// Another buddy uses the session.
    #[error("another buddy uses the tmux session `{session}`")]
    InUse {
        /// The session.
        session: String,
    },
    /// The directory of the sockets is not private.
    #[error("`{}` must belong to the account alone", path.display())]
    NotPrivate {
        /// The directory.
        path: PathBuf,
    },
    /// No answer came within the time limit.
    #[error("tmux does not answer")]
    Silent,
    /// There is no tmux on the target.
    #[error("tmux cannot be used here: {reason}")]
    Unusable {
        /// Its message.
        reason: String,
    },
}
