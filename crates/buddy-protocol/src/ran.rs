//! Commands that a person runs themselves in a conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command that a person ran themselves: with their own rights, without a question. The agent sees what came out with
/// its next model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ran {
    /// The command line.
    pub command: String,
    /// The target it ran on.
    pub target: String,
    /// The directory it ran in.
    pub cwd: String,
    /// How it ended; absent while it runs, and where buddy stopped before its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<RanOutcome>,
}

/// How such a command ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RanOutcome {
    /// The exit code, unless a signal ended it or it could not be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// What it printed, its head and tail where that was long.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// The same of the standard error.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// How long it ran.
    #[serde(default)]
    pub duration_ms: u64,
    /// The file with all of what it printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// What else is to be said, for example that it was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
