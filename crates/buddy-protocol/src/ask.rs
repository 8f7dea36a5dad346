//! Asks: what waits for a person, and what they answered. Approvals and questions are one thing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AskId, ItemId, TurnId, UnixMillis};

/// Something that waits for a person. The first answer wins; the others are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ask {
    /// Names the ask; an answer carries it.
    pub id: AskId,
    /// The turn that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The item the ask is about, for example the tool call that wants to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// What is asked.
    pub question: Question,
    /// When the ask is denied by itself; absent means it waits for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<UnixMillis>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Question {
    /// May this be done?
    Approval(Approval),
    /// A question with options, free text, or both.
    Text {
        /// The question.
        text: String,
        /// Answers to pick from; empty means free text only.
        #[serde(default)]
        options: Vec<String>,
    },
}

/// What would be done, with everything a person needs to judge it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// Who wants to do it, for example `buddy`.
    pub actor: String,
    /// The account and host it would happen on, for example `ann@atlas`.
    pub place: String,
    /// The directory it would happen in.
    pub cwd: String,
    /// One line: the exact command, or what would be written.
    pub action: String,
    /// What the agent says it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// How dangerous policy holds it to be.
    pub risk: Risk,
    /// Why policy asks.
    pub reasons: Vec<String>,
}

/// How dangerous an action is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Easily undone or without effect.
    Low,
    /// Changes something.
    Medium,
    /// Hard to undo, or reaches far.
    High,
}

/// An answer to an ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Answer {
    /// Do it, this once.
    Allow,
    /// Do not do it.
    Deny {
        /// What the agent is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The reply to a question.
    Reply {
        /// The text, or the option that was picked.
        text: String,
    },
    /// Nobody answered in time. Only the hub gives this answer.
    Expired,
    /// The asker no longer wants to know. Only the hub gives this answer.
    Withdrawn,
}
