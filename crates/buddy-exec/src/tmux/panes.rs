//! The port: what can be done with the panes of a target.

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

    /// What a pane shows.
    async fn capture(&self, pane: &PaneSelector, options: &CaptureOptions) -> Result<Screen, TargetError>;

    /// Types keys into a pane, whatever runs in it.
    async fn send_keys(&self, bounds: &Bounds, pane: &PaneSelector, keys: &Keys) -> Result<(), TargetError>;

    /// Makes a session with a shared pane. False when buddy has it already.
    async fn create_session(&self, bounds: &Bounds, name: &str) -> Result<bool, TargetError>;

    /// Ends a session with all that runs in it.
    async fn kill_session(&self, bounds: &Bounds, name: &str) -> Result<(), TargetError>;

    /// Makes a pane with a shell. False when it is there already.
    async fn create_pane(&self, bounds: &Bounds, pane: &PaneSelector) -> Result<bool, TargetError>;

    /// Ends a pane with what runs in it.
    async fn kill_pane(&self, bounds: &Bounds, pane: &PaneSelector) -> Result<(), TargetError>;

    /// Says that the person takes the panes: commands and keys of the agent wait from now on.
    fn hand_over(&self);

    /// Says that the person gives the panes back.
    fn take_back(&self);

    /// How a person attaches to the default session.
    fn attach_command(&self) -> String;

    /// The sessions that are there, for when buddy ends.
    async fn remaining(&self) -> Result<Vec<Remaining>, TargetError>;
}

/// Which pane is meant. What is absent is the default.
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
    /// What is run.
    pub text: PaneText,
    /// Where. Each command starts there, wherever an earlier one went.
    pub cwd: PathBuf,
    /// How long it may run before it is stopped.
    pub timeout: Option<Duration>,
    /// How much of the output is kept.
    pub output: OutputLimits,
    /// What it may touch. Only open bounds let it into a pane.
    pub bounds: Bounds,
}

/// What is run in a pane.
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
    /// The run. Its streams are apart where the target has a marker; a note says where they are not.
    pub running: Running,
    /// What is to be known about it beside its output; comes before its exit.
    pub notes: oneshot::Receiver<Vec<String>>,
}

/// How a pane is captured. The defaults give what is seen.
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
    /// Shows what cannot be printed as octal numbers.
    pub escape_non_printable: bool,
    /// The alternate screen, where there is one.
    pub include_alternate_screen: bool,
}

/// What a pane shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    /// The text.
    pub text: String,
    /// Whether it is what the last capture in the same way gave.
    pub is_unchanged: bool,
    /// The program in the foreground.
    pub program: String,
    /// Where the cursor is: column and line, from 0.
    pub cursor: (u32, u32),
    /// How a command ended that was left in the pane, told once.
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
    /// How many panes it has.
    pub panes: usize,
    /// How to attach to it.
    pub attach: String,
}
