//! Why something could not be done with a pane.

use std::path::PathBuf;

/// A failure that has to do with panes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PaneError {
    /// A session or pane of this name is there and is not buddy's.
    #[error(
        "buddy has no record of making `{name}`, so nothing is done to it; close it to let buddy make its own"
    )]
    Foreign {
        /// What was asked for.
        name: String,
    },
    /// There is no such session or pane.
    #[error("there is no {what} `{name}`")]
    Missing {
        /// What was looked for.
        what: &'static str,
        /// What was asked for.
        name: String,
    },
    /// The name cannot be one.
    #[error("`{name}` cannot be a name: letters, digits, `-` and `_`, at most 40 of them")]
    BadName {
        /// What was asked for.
        name: String,
    },
    /// Something else runs in the pane.
    #[error("the pane is busy with `{program}`")]
    Busy {
        /// The program in the foreground.
        program: String,
    },
    /// There are as many as there may be.
    #[error("there are {limit} {what} already, and no more are allowed")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The most that there may be.
        limit: u32,
    },
    /// It is one that stays.
    #[error("the {what} `{name}` is the one that is shared by default, and stays")]
    Protected {
        /// What it is.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// The call has bounds, and the shells of this target's panes are in no jail.
    #[error("the shell of a pane is not in the jail here, so it is not used while commands have bounds")]
    Bounded,
    /// The shell has other bounds, and something runs in it.
    #[error("the pane is busy with `{program}`, which runs with other bounds than hold now")]
    OtherBounds {
        /// The program in the foreground.
        program: String,
    },
    /// The pane went away before anything was typed.
    #[error("the pane was closed before anything was typed into it")]
    Vanished,
    /// The person has the pane.
    #[error("the person has taken the pane and not given it back yet")]
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
        /// Why it is not known to never begin.
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
        /// How a person attaches to the pane.
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
    /// Nothing was heard within the time that there is.
    #[error("tmux does not answer")]
    Silent,
    /// There is no tmux on the target.
    #[error("tmux cannot be used here: {reason}")]
    Unusable {
        /// What it said.
        reason: String,
    },
}
