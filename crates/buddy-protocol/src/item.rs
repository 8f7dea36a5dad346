//! Items carry the variety of a session: messages, reasoning, tool calls and what else a face can draw.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Envelope, Image, ItemId, Json, Ran, SessionId, TurnId};

/// One piece of content. `item.started` introduces it, `item.ended` carries its whole value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    /// Names the item.
    pub id: ItemId,
    /// The turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// Which model call of the turn it came from, counted from 1. Items of one model call are one message to the
    /// model, so a reader that builds a prompt keeps them together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Where in that model call's answer it stood, counted from 1. Items can stream in another order than the one in
    /// which they must be sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
    /// The item it stands under, for example the call that a change came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ItemId>,
    /// How far it is.
    pub status: ItemStatus,
    /// What it is.
    pub content: Content,
    /// Provider-bound data needed to go on (signatures, encrypted reasoning). The store keeps it; no face ever
    /// sees it, because serialization leaves it out.
    #[serde(skip)]
    pub private: Option<Private>,
}

impl Item {
    /// The same item with the result of its call. Content of another kind stays as it is.
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
    /// The wire it came over.
    pub wire: String,
    /// The data, exactly as it came.
    pub data: Value,
}

impl Private {
    /// Whether this may be sent back on a call to this model over this wire.
    pub fn belongs_to(&self, provider: &str, model: &str, wire: &str) -> bool {
        self.provider == provider && self.model == model && self.wire == wire
    }
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// Proposed; nothing was done yet.
    Pending,
    /// Under way. For a tool call this is the durable intent: it may have had effects from here on.
    Running,
    /// Done.
    Completed,
    /// Done, and it did not work.
    Failed,
    /// Not done because policy or a person said no.
    Denied,
    /// Cut off before its end.
    Interrupted,
}

impl ItemStatus {
    /// Whether nothing more will happen to the item.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Running)
    }
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// What a person said, or ran.
    UserMessage {
        /// The text; of a command that they ran, the line as they typed it.
        text: String,
        /// The images that they gave with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<Image>,
        /// The command, where they ran one themselves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ran: Option<Box<Ran>>,
    },
    /// What the agent said.
    AgentMessage {
        /// The text, as Markdown.
        text: String,
    },
    /// What the agent thought, as far as its provider shows it.
    Reasoning {
        /// The text.
        text: String,
    },
    /// A tool call and, once it ended, its result.
    ToolCall(Box<ToolCall>),
    /// A file that was changed.
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
        /// What it is for.
        title: String,
    },
    /// Something drawn on the canvas.
    Canvas {
        /// The element, as the canvas describes it.
        element: Json,
    },
    /// From here on the model sees the summary instead of what came before.
    Compaction {
        /// What stands for the items before.
        summary: String,
        /// The first of the items before that the model still sees as they are; none when it sees none of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept_from: Option<ItemId>,
    },
}

impl Content {
    /// The images in it.
    pub fn images(&self) -> &[Image] {
        match self {
            Self::UserMessage { images, .. } => images,
            Self::ToolCall(call) => &call.images,
            _ => &[],
        }
    }

    /// Words that a person said.
    pub fn said(text: impl Into<String>) -> Self {
        Self::UserMessage { text: text.into(), images: Vec::new(), ran: None }
    }
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The id the model gave the call; its result goes back under it.
    pub call_id: String,
    /// The name the model called.
    pub name: String,
    /// What kind of thing it does, so that any face can draw any agent's tool.
    pub kind: ToolKind,
    /// One line for people.
    pub title: String,
    /// The arguments.
    pub input: Json,
    /// The result; absent until the call ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Envelope>,
    /// Images that came of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// The target it runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Whether files with secrets were open to it because a person allowed it. The session counts as having read one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub had_secrets: bool,
}

/// The kinds of tools, which are ACP's.
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
    /// What changed, as a unified diff.
    pub diff: String,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: PlanStepState,
}

/// How far a step of a plan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanStepState {
    /// Not begun.
    Pending,
    /// Under way.
    Active,
    /// Done.
    Done,
}
