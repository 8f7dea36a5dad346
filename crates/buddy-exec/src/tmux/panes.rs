//! The port: the operations on the panes of a target.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::oneshot;

use super::key::Key;
use crate::{Bounds, OutputLimits, Running, TargetError};

/// Terminals that an agent shares with people.
#[async_trait]
pub trait Panes: Send + Sync {
    /// Types a command into a pane and returns once it runs. Calls for one pane take turns.
    async fn start(&self, pane: &PaneSelector, command: PaneCommand) -> Result<PaneRunning, TargetError>;

    /// Types a command into a pane and leaves it there. Returns the pane's id once the command runs.
    async fn dispatch(&self, pane: &PaneSelector, command: PaneCommand) -> Result<String, TargetError>;

    /// Captures the screen of a pane.
    async fn capture(&self, pane: &PaneSelector, options: &CaptureOptions) -> Result<Screen, TargetError>;

    /// Types keys into a pane, into any program that runs in it.
    async fn send_keys(&self, bounds: &Bounds, pane: &PaneSelector, keys: &Keys) -> Result<(), TargetError>;

    /// Makes a session with a shared pane. Returns false if buddy has it already.
    async fn create_session(&self, bounds: &Bounds, name: &str) -> Result<bool, TargetError>;

    /// Ends a session with everything that runs in it.
    async fn kill_session(&self, bounds: &Bounds, name: &str) -> Result<(), TargetError>;

    /// Makes a pane with a shell. Returns false if it exists already.
    async fn create_pane(&self, bounds: &Bounds, pane: &PaneSelector) -> Result<bool, TargetError>;

    /// Ends a pane with the program in it.
    async fn kill_pane(&self, bounds: &Bounds, pane: &PaneSelector) -> Result<(), TargetError>;

    /// Hands the panes to the user: commands and keys of the agent wait from now on.
    fn hand_over(&self);

    /// Takes the panes back from the user.
    fn take_back(&self);

    /// The command by which a user attaches to the default session.
    fn attach_command(&self) -> String;

    /// The existing sessions, for when buddy ends.
    async fn remaining(&self) -> Result<Vec<Remaining>, TargetError>;
}

/// The pane that is meant. An absent name is the default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaneSelector {
    /// The name of a session.
    pub session: Option<String>,
    /// The name of a pane in it.
    pub pane: Option<String>,
}

/// A command for a pane.
#[derive(Debug, Clone)]
pub struct PaneCommand {
    /// The command to run.
    pub text: PaneText,
    /// The directory. Each command starts there, even if an earlier one went elsewhere.
    pub cwd: PathBuf,
    /// The timeout, after which it is stopped.
    pub timeout: Option<Duration>,
    /// The part of the output that is kept.
    pub output: OutputLimits,
    /// Its bounds. Only open bounds let it into a pane.
    pub bounds: Bounds,
}

/// The command of a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaneText {
    /// A text for the pane's own shell.
    Shell(String),
    /// A program with its arguments, which no shell reads.
    Words(Vec<String>),
}

/// A command that runs in a pane.
#[derive(Debug)]
pub struct PaneRunning {
    /// The run. Both streams come as one, which is stdout; a note says so.
    pub running: Running,
    /// Notes about it beside its output; they come before its exit.
    pub notes: oneshot::Receiver<Vec<String>>,
}

/// Options of a capture. The defaults give the visible screen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct CaptureOptions {
    /// The first line: 0 is the top of the screen, negative numbers are history, `-` is its beginning.
    pub start: Option<String>,
    /// The last line.
    pub end: Option<String>,
    /// Joins lines that were wrapped.
    pub join_wrapped_lines: bool,
    /// Keeps spaces at the ends of lines.
    pub preserve_trailing_spaces: bool,
    /// Keeps colours and the like as escape sequences.
    pub include_escape_sequences: bool,
    /// Shows unprintable characters as octal numbers.
    pub escape_non_printable: bool,
    /// The alternate screen, if there is one.
    pub include_alternate_screen: bool,
}

/// The screen of a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    /// The text.
    pub text: String,
    /// Whether it is the same as the last capture with the same options.
    pub is_unchanged: bool,
    /// The program in the foreground.
    pub program: String,
    /// The position of the cursor: column and line, from 0.
    pub cursor: (u32, u32),
    /// The outcome of a command that was left in the pane, reported once.
    pub note: Option<String>,
}

/// Keys for a pane, in this order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys {
    /// Text that is typed as it is.
    pub literal_text: Option<String>,
    /// Keys by tmux's names, such as `C-c`, and texts.
    pub keys: Vec<Key>,
    /// Whether Enter follows.
    pub enter: bool,
}

/// A session that lives on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remaining {
    /// Its name.
    pub session: String,
    /// The number of its panes.
    pub panes: usize,
    /// The command to attach to it.
    pub attach: String,
}
