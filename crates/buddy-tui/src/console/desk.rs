//! The port to what surrounds a terminal: the user's files, editor and models, and buddy's own commands.

use async_trait::async_trait;
use buddy_protocol::{Attachment, ItemId, SessionId, SessionTarget, UnixMillis};

/// How a line begins that names a file which is in no diff because git does not know it. No line of a diff begins so.
pub const UNKNOWN_FILE: &str = "not in git yet: ";

/// The services that a console needs beside the sessions.
#[async_trait]
pub trait Desk: Send + Sync {
    /// Earlier prompts from all sessions, the oldest first.
    fn history(&self) -> Vec<String>;

    /// The time on the wall.
    fn now(&self) -> UnixMillis;

    /// Keeps what was sent.
    fn remember(&self, text: &str);

    /// The facts about a session's target, and about its model if it names one.
    async fn surroundings(&self, target: &SessionTarget, model: Option<&str>) -> SessionSurroundings;

    /// Paths that could be meant, below the directory of the target.
    async fn paths(&self, target: &SessionTarget) -> Vec<String>;

    /// The file that a prompt names as an image: one of the target, or one of this machine. None where there is none.
    async fn image(&self, target: &SessionTarget, path: &str) -> Result<Option<Attachment>, String>;

    /// The image on the clipboard, in a file of its own, by its path.
    async fn pasted_image(&self) -> Result<String, String>;

    /// Models to choose from, where a session uses this one.
    async fn models(&self, current: Option<&str>) -> Vec<ModelOption>;

    /// The name of the model that a user means in such a session: a name, or a number of the list. The error says which
    /// one may be meant.
    async fn find_model(&self, wish: &str, current: Option<&str>) -> Result<String, String>;

    /// Lets the user edit a text. The terminal is theirs meanwhile.
    async fn edit(&self, text: &str) -> Result<String, String>;

    /// How many of these calls changed files and were not undone, as far as that is known.
    async fn changes(&self, calls: &[ItemId]) -> Option<usize>;

    /// Lets the user connect a model: log in, or give a key. The terminal is theirs meanwhile. Returns the model to go on
    /// with, where there is another one now.
    async fn log_in(&self, profile: Option<&str>) -> Result<Option<String>, String>;

    /// The output of the user's own command for the status line, given these facts. Time and size are bounded.
    async fn status(&self, facts: String) -> Result<String, String>;

    /// Carries out one of buddy's own commands and returns what it says.
    async fn run(
        &self,
        session: &SessionId,
        target: &SessionTarget,
        command: DeskCommand,
    ) -> Result<String, String>;
}

/// The surroundings of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSurroundings {
    /// The model that is called, as its provider names it.
    pub model: String,
    /// The address of its server, where it has one.
    pub endpoint: Option<String>,
    /// How many tokens fit into a call of the model, where that is known.
    pub window: Option<u64>,
    /// The branch of the repository, where there is one.
    pub branch: Option<String>,
    /// The command with which the user attaches to the terminal that the agent's commands run in, where there is one.
    pub attach: Option<String>,
    /// The suggested first prompt, if there is one.
    pub hint: Option<String>,
    /// Another host, as a prompt shows it, such as `ssh ann@atlas`; none for this machine.
    pub host: Option<String>,
    /// Whether commands run with all rights of the account.
    pub is_production: bool,
    /// Whether the directory is not trusted, so that nothing in it is changed whatever the approval mode is.
    pub is_untrusted: bool,
}

/// A model to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelOption {
    /// Its name.
    pub name: String,
    /// The model, as its provider names it.
    pub model: String,
    /// The note beside it.
    pub note: String,
}

/// A command of buddy's own that the terminal carries out and not the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeskCommand {
    /// Shows the changes in the repository.
    Diff,
    /// Undoes the last change, or this one.
    Undo(Option<String>),
    /// Takes the last undo back; the flags are those of an undo.
    Redo(Option<String>),
    /// The configuration that holds; `set KEY VALUE` and `unset KEY` change the user's file.
    Config(String),
    /// Forgets a login or a key, of this profile where one is named.
    LogOut(Option<String>),
    /// Trusts the directory of the session, or, with `off`, no longer.
    Trust(String),
    /// Whether everything is as it should be.
    Doctor,
    /// Processes that run on. This is said if there are none.
    Processes(&'static str),
    /// Ends such a process.
    Kill(String),
    /// Writes the conversation to a file: where, and as what.
    Export(Option<String>),
}

impl DeskCommand {
    /// The notice while the command runs, if it can take a while and changes files.
    pub(crate) fn progress(&self) -> Option<&'static str> {
        match self {
            Self::Undo(_) => Some("Undoing…"),
            Self::Redo(_) => Some("Redoing…"),
            _ => None,
        }
    }
}
