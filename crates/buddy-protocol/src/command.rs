//! Commands that a face sends to a session. The session accepts or refuses a command; results come as events.
//!
//! serde's internally tagged enums cannot hold uninterpreted JSON, so [`Command`] is read in two steps: its fields as text, and
//! then the variant. Duplicate fields are an error, wherever they stand.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{
    Answer, ApprovalPolicy, AskId, Attachment, ItemId, Json, SessionId, SessionTarget, SessionTerms,
    TargetChange, TurnId,
};

/// The most fields that the JSON of a command has. Unknown ones are passed over.
const MAX_FIELDS: usize = 64;

/// A request of a face to a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", tag = "type", rename_all = "snake_case")]
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

impl Serialize for Command {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CommandVisitor)
    }
}

struct CommandVisitor;

/// The fields of [`Command::Call`].
#[derive(Deserialize)]
struct CallFields {
    tool: String,
    input: Json,
}

impl<'de> Visitor<'de> for CommandVisitor {
    type Value = Command;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a command with a `type`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Command, A::Error> {
        let mut fields: Vec<(String, Box<RawValue>)> = Vec::new();
        while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
            if fields.iter().any(|(known, _)| *known == name) {
                return Err(Error::custom(format!("duplicate field `{name}`")));
            }
            if fields.len() >= MAX_FIELDS {
                return Err(Error::custom(format!("more than {MAX_FIELDS} fields")));
            }
            fields.push((name, value));
        }
        let texts = fields
            .iter()
            .map(|(name, value)| Ok(format!("{}:{}", serde_json::to_string(name)?, value.get())));
        let texts = texts.collect::<Result<Vec<_>, serde_json::Error>>().map_err(Error::custom)?;
        let text = format!("{{{}}}", texts.join(","));
        let kind = fields
            .iter()
            .find(|(name, _)| name == "type")
            .map(|(_, value)| serde_json::from_str::<String>(value.get()));
        let is_call = matches!(kind, Some(Ok(kind)) if kind == "call");
        if is_call {
            let call: CallFields = serde_json::from_str(&text).map_err(Error::custom)?;
            return Ok(Command::Call { tool: call.tool, input: call.input });
        }
        Command::deserialize(&mut serde_json::Deserializer::from_str(&text)).map_err(Error::custom)
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
