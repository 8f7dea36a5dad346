//! Commands: what a face sends down to a session. A command is accepted or refused; its results come as events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Answer, AskId, SessionId};

/// What a face wants a session to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Command {
    /// Say something to the agent. While a turn runs it steers that turn: the agent sees it before its next step.
    Prompt {
        /// The text.
        text: String,
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
    /// Change what is said about the session. Absent fields stay as they are.
    Change {
        /// A new title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// A new model, from the next model call on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// Put a summary in the place of what was said so far, to make room.
    Compact,
    /// End the session for good.
    End,
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
}
