//! Items carry the variety of a session: messages, reasoning, tool calls and everything else a face can draw.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;
use serde_json::value::{RawValue, Value};

use crate::{Envelope, Image, ItemId, Json, Principal, Ran, SessionId, TurnId};

/// One piece of content. `item.started` introduces it, `item.ended` carries its whole value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    /// Names the item.
    pub id: ItemId,
    /// The turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// The number of the model call in the turn that it came from, counted from 1. Items of one model call
    /// are one message to the model, so a reader that builds a prompt keeps them together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Its position in the answer of that model call, counted from 1. Items can stream in an order that
    /// differs from the one in which they must be sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
    /// The item it belongs under, for example the call that made a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ItemId>,
    /// The state of its life cycle.
    pub status: ItemStatus,
    /// The content itself.
    pub content: Content,
    /// Provider-bound data that later calls need (signatures, encrypted reasoning). The store keeps it. No
    /// face ever sees it, because serialization leaves it out.
    #[serde(skip)]
    pub private: Option<Private>,
}

impl Item {
    /// The same item with the result of its call. Other kinds of content stay as they are.
    #[must_use]
    pub fn with_output(mut self, output: Envelope) -> Self {
        if let Content::ToolCall(call) = &mut self.content {
            call.output = Some(output);
        }
        self
    }
}

/// Opaque provider data, with the provider, model and wire it may be sent back to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Private {
    /// The provider that made it.
    pub provider: String,
    /// The model that made it.
    pub model: String,
    /// The wire that carried it.
    pub wire: String,
    /// The data, exactly as it came.
    pub data: Value,
}

impl Private {
    /// Whether it may be sent back on a call to this model over this wire.
    pub fn belongs_to(&self, provider: &str, model: &str, wire: &str) -> bool {
        self.provider == provider && self.model == model && self.wire == wire
    }
}

/// The state of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// Proposed; nothing has been done yet.
    Pending,
    /// In progress. For a tool call this is the durable intent: it may have had effects from here on.
    Running,
    /// Done.
    Completed,
    /// Ended with a failure.
    Failed,
    /// Not run because policy or a user said no.
    Denied,
    /// Cut off before its end.
    Interrupted,
}

impl ItemStatus {
    /// Whether the item has reached its final state.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Running)
    }
}

/// The types of content that this version knows.
pub(crate) const CONTENT_KINDS: &[&str] = &[
    "user_message",
    "agent_message",
    "reasoning",
    "tool_call",
    "file_change",
    "plan",
    "sub_session",
    "canvas",
    "reminder",
    "environment",
    "results_cleared",
    "compaction",
];

/// The content of an item.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(remote = "Self", tag = "type", rename_all = "snake_case")]
#[schemars(transform = allow_unknown)]
pub enum Content {
    /// A prompt of a user, or a command that they ran.
    UserMessage {
        /// The text; for a command, the line as they typed it.
        text: String,
        /// The images that they attached.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
        /// The command, if they ran one themselves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ran: Option<Box<Ran>>,
        /// The part of the text that the user typed, if a command file or a pipe gave the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        typed: Option<String>,
    },
    /// A message of the agent.
    AgentMessage {
        /// The text, as Markdown.
        text: String,
    },
    /// The agent's reasoning, as far as its provider shows it.
    Reasoning {
        /// The text.
        text: String,
    },
    /// A tool call and, once it has ended, its result.
    ToolCall(Box<ToolCall>),
    /// A changed file.
    FileChange(FileChange),
    /// The agent's plan.
    Plan {
        /// The steps in order.
        steps: Vec<PlanStep>,
    },
    /// A session that the agent opened.
    SubSession {
        /// The session.
        session: SessionId,
        /// The purpose of the session.
        title: String,
    },
    /// Something drawn on the canvas.
    Canvas {
        /// The element, as the canvas describes it.
        element: Json,
    },
    /// A message of buddy itself to the model, such as a request to check its work before it finishes.
    Reminder {
        /// The reason for the message.
        cause: ReminderCause,
        /// The text that the model reads.
        text: String,
    },
    /// Facts about the place of work that the model is told: all of them at first, later the changed ones only.
    Environment {
        /// The facts, in the order in which the model reads them.
        facts: Vec<EnvironmentFact>,
    },
    /// From here on the model sees a short note instead of the long results of older calls.
    ResultsCleared {
        /// The first item whose result the model still sees in full.
        kept_from: ItemId,
    },
    /// From here on the model sees the summary instead of the items before it.
    Compaction {
        /// The summary that replaces the items before it.
        summary: String,
        /// The first of the earlier items that the model still sees in full; `None` if it sees none of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept_from: Option<ItemId>,
    },
    /// A type that this version does not know, kept byte for byte.
    #[serde(skip)]
    Unknown(UnknownContent),
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unknown(unknown) => unknown.data.serialize(serializer),
            known => Self::serialize(known, serializer),
        }
    }
}

/// Adds a branch for types that a newer version adds.
fn allow_unknown(schema: &mut Schema) {
    if let Some(Value::Array(branches)) = schema.get_mut("oneOf") {
        branches.push(json!({
            "description": "A type that this version does not know.",
            "type": "object",
            "required": ["type"],
            "properties": {"type": {"type": "string", "not": {"enum": CONTENT_KINDS}}},
        }));
    }
}

/// Content of a type that a newer version added.
#[derive(Debug, Clone)]
pub struct UnknownContent {
    kind: String,
    /// The whole object, its type included.
    data: Box<RawValue>,
}

impl UnknownContent {
    pub(crate) fn new(kind: String, data: Box<RawValue>) -> Self {
        Self { kind, data }
    }

    /// The content as it stands in the payload of an event with an item.
    pub(crate) fn of_payload(text: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Payload {
            item: Part,
        }
        #[derive(Deserialize)]
        struct Part {
            content: Box<RawValue>,
        }
        #[derive(Deserialize)]
        struct Tagged {
            r#type: String,
        }
        let Payload { item: Part { content } } = serde_json::from_str(text)?;
        let Tagged { r#type: kind } = serde_json::from_str(content.get())?;
        Ok(Self { kind, data: content })
    }

    /// The type as it came.
    pub fn kind(&self) -> &str {
        &self.kind
    }
}

impl PartialEq for UnknownContent {
    fn eq(&self, other: &Self) -> bool {
        self.data.get() == other.data.get()
    }
}

impl Content {
    /// The images in the content.
    pub fn images(&self) -> &[Image] {
        match self {
            Self::UserMessage { images, .. } => images,
            Self::ToolCall(call) => &call.images,
            _ => &[],
        }
    }

    /// A prompt with text only.
    pub fn said(text: impl Into<String>) -> Self {
        Self::UserMessage { text: text.into(), images: Vec::new(), ran: None, typed: None }
    }
}

/// A fact about the place of work, such as the branch or the date. buddy made it one line of plain text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentFact {
    /// The name of the fact; a later fact of the same name replaces an earlier one.
    pub name: String,
    /// The value.
    pub value: String,
}

/// The reasons for which buddy writes to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReminderCause {
    /// The model was about to finish, and no command succeeded after its last change.
    Unverified,
    /// The model repeats itself: the same calls with the same results, or edits of one file without a passing check.
    Repeating,
    /// The answer was empty or cut off.
    Incomplete,
    /// A limit of the turn is reached, so the model reports instead of going on.
    Limit,
    /// Plan mode began.
    PlanBegan,
    /// Plan mode ended.
    PlanEnded,
    /// The model has not touched its plan for many rounds.
    PlanRecited,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The id the model gave the call; its result goes back under it.
    pub call_id: String,
    /// The name of the tool, as the model called it.
    pub name: String,
    /// The kind of action, so that any face can draw any agent's tool.
    pub kind: ToolKind,
    /// One line for users.
    pub title: String,
    /// The arguments.
    pub input: Json,
    /// The result; absent until the call has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Envelope>,
    /// Images that the call returned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// The target it runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Whether the call could read files with secrets because a user allowed it. The session then counts as
    /// having read one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub had_secrets: bool,
    /// The client that made the call; absent if the agent's model did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Principal>,
}

/// The kinds of tools, as ACP defines them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reads files or data.
    Read,
    /// Changes files.
    Edit,
    /// Removes files.
    Delete,
    /// Moves files.
    Move,
    /// Searches.
    Search,
    /// Runs commands.
    Execute,
    /// Thinks or plans.
    Think,
    /// Fetches from the network.
    Fetch,
    /// Anything else.
    Other,
}

/// A changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    /// The file.
    pub path: String,
    /// The change, as a unified diff.
    pub diff: String,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    /// The text of the step.
    pub text: String,
    /// The state of the step.
    pub state: PlanStepState,
}

/// The state of a step of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanStepState {
    /// Not started.
    Pending,
    /// In progress.
    Active,
    /// Done.
    Done,
}
