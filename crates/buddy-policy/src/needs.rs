//! Needs: the protected places that a call would use, which are closed to calls that nobody was
//! asked about.

use std::path::PathBuf;

/// Protected places that a call would use, and the kind of approval. The bounds of the call are made from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Protected paths that it would read or change. They are open once the user allows this call.
    pub asked: Vec<PathBuf>,
    /// Protected paths that a lasting rule opens.
    pub ruled: Vec<PathBuf>,
    /// Logs of the conversation's own calls that a tool reads.
    pub logs: Vec<PathBuf>,
    /// Directories outside the workspace in which it reads files that its words do not name one by one.
    pub searched: Vec<PathBuf>,
    /// Directories outside the workspace that it changes. They are open once a user allows this call.
    pub written: Vec<PathBuf>,
    /// Paths outside the workspace that it changes and nothing beside them. They are open once a user allows this call.
    pub written_alone: Vec<PathBuf>,
    /// Directories of the workspace that it removes with all that is in them, and does nothing else.
    pub removed: Vec<PathBuf>,
    /// Whether it runs commands, or types them.
    pub runs: bool,
    /// Whether a lasting rule allows every command that it runs.
    pub is_ruled: bool,
    /// Whether it uses only files that its words name, and no secret is among them: a yes leaves secrets sealed.
    pub keeps_seals: bool,
    /// Whether it connects by git, which takes a login from its own places: a yes opens those, also where it leaves secrets sealed.
    pub takes_logins: bool,
    /// Whether a grant of exactly this call opens the directories that it changes outside the workspace.
    pub opens_granted: bool,
    /// Whether it runs a program that takes rights which no jail leaves to a command, such as those of another account.
    pub gains_rights: bool,
}
