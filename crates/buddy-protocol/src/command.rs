//! Commands: what a face sends down to a session. A command is accepted or refused; its results come as events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, AskId, Attachment, ItemId, SessionId, SessionTarget, TargetChange};

/// What a face wants a session to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Command {
    /// Say something to the agent. While a turn runs it steers that turn: the agent sees it before its next step.
    Prompt {
        /// The text; may be empty where there are images.
        text: String,
        /// Images that the agent is to see with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Attachment>,
    },
    /// Run a shell command as the person: with their own rights, without a question and beside the turn. One at a time.
    Run {
        /// The command line.
        command: String,
        /// The target to run it on; absent means the default one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
    },
    /// Stop a command that the person runs.
    Stop {
        /// Its item.
        item: ItemId,
    },
    /// Stop the running turn, whatever it is doing.
    Interrupt,
    /// Answer an ask.
    Answer {
        /// The ask.
        ask: AskId,
        /// The answer.
        answer: Answer,
    },
    /// Change what holds in the session. Absent fields stay as they are.
    Change(Change),
    /// Put a summary in the place of what was said so far, to make room.
    Compact,
    /// End the session for good.
    End,
}

impl Command {
    /// A prompt of words alone.
    pub fn prompt(text: impl Into<String>) -> Self {
        Self::Prompt { text: text.into(), images: Vec::new() }
    }
}

/// What is to change in a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// A new title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A new model, from the next model call on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What becomes of calls that a person would have to approve, from the next call on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalPolicy>,
    /// Whether the agent only reads and plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_only: Option<bool>,
    /// Whether the person takes the shared panes, or gives them back. Meanwhile the agent types nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panes_taken: Option<bool>,
    /// A target that comes, goes, or is the default from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetChange>,
}

/// A session's policy on calls that a person would have to approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ApprovalPolicy {
    /// Ask.
    Ask,
    /// Take them as approved.
    All,
    /// Take them as denied.
    None,
    /// Take them as approved for a while, except those that are dangerous or not understood; then ask again.
    Window {
        /// For how long.
        seconds: u64,
    },
    /// Take changes of files in the workspace as approved, by the tools for files, unless what they change decides what
    /// runs later; ask for everything else.
    Edits,
    /// Take as approved what the jail holds, what stays in the workspace and what undo takes back; ask for everything else.
    Auto,
}

/// What a new session starts with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewSession {
    /// The agent that drives it.
    pub agent: String,
    /// The directory it works in.
    pub cwd: String,
    /// The model, where the agent has a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The session that opened this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// The hosts it works on, the default first; none for this machine alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<SessionTarget>,
}
