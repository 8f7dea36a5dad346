//! Commands beside the calls of a turn: those that a user runs themselves, and ends of those in the background.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command that a user ran themselves, with their own rights and without a question; or, with `background`, one of the agent's
/// own that ran on after its call and has ended. The agent sees what came out with its next model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ran {
    /// The command line.
    pub command: String,
    /// The target it ran on.
    pub target: String,
    /// The directory it ran in.
    pub cwd: String,
    /// The id of a command of the agent's own that ran in the background; absent for a command of a user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// Whether the model is not given the output, as the command can read a secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_withheld: bool,
    /// The outcome; absent while it runs, or if buddy stopped before it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RanOutcome>,
}

/// The outcome of such a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RanOutcome {
    /// The exit code, unless a signal ended it or it could not be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Its stdout; only the head and tail if it was long.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// Its stderr; only the head and tail if it was long.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// The run time.
    #[serde(default)]
    pub duration_ms: u64,
    /// The file with its whole output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// A remark, for example that it was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
