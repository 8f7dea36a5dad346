//! Commands that a face sends to a session. The session accepts or refuses a command; results come as events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, AskId, Attachment, ItemId, Json, SessionId, SessionTarget, SessionTerms, TargetChange, TurnId,
};

/// A request of a face to a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Command {
    /// Say something to the agent. While a turn runs, the prompt steers it: the agent sees it before its next
    /// step.
    Prompt {
        /// The text; may be empty if there are images.
        text: String,
        /// Images that the agent sees with the prompt.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Attachment>,
        /// The part of it that the user typed, if a command file or a pipe gave the text. Only what the user typed names hosts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        typed: Option<String>,
    },
    /// Run a shell command as the user: with their own rights, without an approval and in parallel to the
    /// turn. One at a time.
    Run {
        /// The command line.
        command: String,
        /// The target to run it on; absent means the default target.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target: Option<String>,
    },
    /// Make one call of a tool, as the agent would: judged, asked about, confined, undoable and logged in the same way. It
    /// runs beside the turn, and the model is told of it.
    Call {
        /// The name of the tool.
        tool: String,
        /// The arguments, an object.
        input: Json,
    },
    /// Stop a command that the user runs, or a call that a client made.
    Stop {
        /// Its item.
        item: ItemId,
    },
    /// Stop the running turn, in whatever state it is.
    Interrupt {
        /// The turn that is meant. If another one runs by now, it goes on. Absent means any turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<TurnId>,
    },
    /// Stop whatever the running turn does and ask the model for a last answer without tools, for this reason; the turn then
    /// ends as interrupted. A turn in its first model call goes on.
    WindUp {
        /// The reason, as the model reads it.
        reason: String,
    },
    /// Answer an ask.
    Answer {
        /// The ask.
        ask: AskId,
        /// The answer.
        answer: Answer,
    },
    /// Change settings of the session. Absent fields stay as they are.
    Change(Change),
    /// Replace the conversation so far by a summary, to make room in the context window.
    Compact,
    /// End the session for good.
    End,
}

impl Command {
    /// A prompt with text only.
    pub fn prompt(text: impl Into<String>) -> Self {
        Self::Prompt { text: text.into(), images: Vec::new(), typed: None }
    }

    /// Stop whatever turn runs.
    pub fn interrupt() -> Self {
        Self::Interrupt { turn: None }
    }

    /// A prompt whose text is from elsewhere, with the part that the user typed.
    pub fn given(text: impl Into<String>, typed: impl Into<String>) -> Self {
        Self::Prompt { text: text.into(), images: Vec::new(), typed: Some(typed.into()) }
    }
}

/// Changes to the settings of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// A new title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A new model, from the next model call on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The policy on calls that need an approval, from the next call on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalPolicy>,
    /// Whether the agent only reads and plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_only: Option<bool>,
    /// Whether the user takes the shared panes or gives them back. While the user has them, the agent types
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panes_taken: Option<bool>,
    /// Adds a target, removes one, or sets the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetChange>,
}

/// A session's policy on calls that need an approval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ApprovalPolicy {
    /// Ask the user.
    Ask,
    /// Approve them.
    All,
    /// Deny them.
    None,
    /// Approve them for a limited time, except dangerous calls and those that buddy does not understand; then
    /// ask again.
    Window {
        /// The duration.
        seconds: u64,
    },
    /// Approve changes that the file tools make in the workspace, unless the changed file decides what runs
    /// later. Ask for everything else.
    Edits,
    /// Approve calls that run in the jail, stay in the workspace and can be undone. Ask for everything else.
    #[default]
    Auto,
}

impl ApprovalPolicy {
    /// The names of all policies but a window, which has a time for a name.
    pub const NAMES: [&str; 5] = ["ask", "none", "all", "edits", "auto"];

    /// The name, as people write it on the command line, in files and in a conversation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::All => "all",
            Self::None => "none",
            Self::Window { .. } => "window",
            Self::Edits => "edits",
            Self::Auto => "auto",
        }
    }

    /// The policy of a name. A time is read by the caller, who knows how people write it there.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Ask, Self::None, Self::All, Self::Edits, Self::Auto];
        all.into_iter().find(|policy| policy.name() == name)
    }

    /// Whether it approves nothing by itself that another one does not approve too.
    pub fn is_within(self, other: Self) -> bool {
        match (self, other) {
            (Self::Window { seconds }, Self::Window { seconds: most }) => seconds <= most,
            _ => self.width() <= other.width(),
        }
    }

    /// The narrower of two.
    #[must_use]
    pub fn narrower(self, other: Self) -> Self {
        if self.is_within(other) { self } else { other }
    }

    fn width(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Ask => 1,
            Self::Edits => 2,
            Self::Auto => 3,
            Self::Window { .. } => 4,
            Self::All => 5,
        }
    }
}

/// The settings of a new session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NewSession {
    /// The agent that drives it.
    pub agent: String,
    /// The directory it works in.
    pub cwd: String,
    /// The model, if the agent has a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The session that opened this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// The hosts it works on, the default first; empty means this machine only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<SessionTarget>,
    /// The terms that it is started on.
    #[serde(default, skip_serializing_if = "SessionTerms::is_unset")]
    pub terms: SessionTerms,
    /// The id, chosen by the client; absent means a fresh one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<SessionId>,
}

impl NewSession {
    /// A session of an agent in a directory, with nothing else said.
    pub fn new(agent: impl Into<String>, cwd: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            cwd: cwd.into(),
            model: None,
            parent: None,
            targets: Vec::new(),
            terms: SessionTerms::default(),
            id: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_found_by_its_name_and_a_window_has_none() {
        for name in ApprovalPolicy::NAMES {
            assert_eq!(ApprovalPolicy::from_name(name).map(ApprovalPolicy::name), Some(name));
        }
        for name in ["window", "Auto", "10m", ""] {
            assert_eq!(ApprovalPolicy::from_name(name), None, "{name}");
        }
    }
}
