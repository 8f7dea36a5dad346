//! Facts: what happened, in the past tense. Fourteen kinds, closed in Rust and open on the wire.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, Value};

use crate::{
    Answer, ApprovalPolicy, Ask, AskId, Item, ItemId, MicroUsd, SessionId, SessionTarget, TurnId, Usage,
};

macro_rules! facts {
    ($($(#[$doc:meta])* $kind:literal => $name:ident($payload:ident);)*) => {
        /// What happened in a session.
        #[derive(Debug, Clone)]
        pub enum Fact {
            $($(#[$doc])* $name($payload),)*
            /// A kind this version does not know, kept byte for byte.
            Unknown(UnknownFact),
        }

        impl Fact {
            /// The kinds this version knows, as they stand on the wire.
            pub const KINDS: &[&str] = &[$($kind),*];

            /// The kind, as it stands on the wire.
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$name(_) => $kind,)*
                    Self::Unknown(unknown) => &unknown.kind,
                }
            }

            /// The payload as JSON text.
            pub fn data(&self) -> Result<Box<RawValue>, serde_json::Error> {
                match self {
                    $(Self::$name(payload) => serde_json::value::to_raw_value(payload),)*
                    Self::Unknown(unknown) => Ok(unknown.data.clone()),
                }
            }

            /// Reads a fact. An unknown kind is kept; a known kind with a bad payload is an error.
            pub fn from_parts(kind: &str, data: &RawValue) -> Result<Self, serde_json::Error> {
                match kind {
                    $($kind => serde_json::from_str(data.get()).map(Self::$name),)*
                    _ => Ok(Self::Unknown(UnknownFact { kind: kind.to_owned(), data: data.to_owned() })),
                }
            }

            /// Reads a fact from its payload as text, which is parsed once.
            pub fn from_json(kind: &str, data: &str) -> Result<Self, serde_json::Error> {
                match kind {
                    $($kind => serde_json::from_str(data).map(Self::$name),)*
                    _ => Ok(Self::Unknown(UnknownFact {
                        kind: kind.to_owned(),
                        data: RawValue::from_string(data.to_owned())?,
                    })),
                }
            }

            /// The schema of each kind's payload.
            pub(crate) fn schemas(generator: &mut SchemaGenerator) -> Vec<(&'static str, Schema)> {
                vec![$(($kind, generator.subschema_for::<$payload>())),*]
            }
        }
    };
}

facts! {
    /// The session began.
    "session.started" => SessionStarted(SessionStarted);
    /// Something said about the session changed.
    "session.changed" => SessionChanged(SessionChanged);
    /// The session ended for good.
    "session.ended" => SessionEnded(SessionEnded);
    /// The agent began to work on a prompt.
    "turn.started" => TurnStarted(TurnStarted);
    /// The agent stopped working on it.
    "turn.ended" => TurnEnded(TurnEnded);
    /// An item appeared.
    "item.started" => ItemStarted(ItemStarted);
    /// An item grew. The only live kind: it is streamed and not stored.
    "item.delta" => ItemDelta(ItemDelta);
    /// An item reached another state before its end.
    "item.changed" => ItemChanged(ItemChanged);
    /// An item reached its end; this is its whole value.
    "item.ended" => ItemEnded(ItemEnded);
    /// A person was asked.
    "asked" => Asked(Asked);
    /// An ask was answered; there is one answer an ask.
    "answered" => Answered(Answered);
    /// A model call consumed tokens.
    "usage" => UsageReported(UsageReported);
    /// Something worth telling people that belongs to no item.
    "notice" => Notice(Notice);
    /// Something another agent said that has no word here, kept as it came.
    "native" => Native(Native);
}

impl Fact {
    /// Whether the fact is stored and counted. Live facts are streamed and forgotten.
    pub fn is_durable(&self) -> bool {
        !matches!(self, Self::ItemDelta(_))
    }

    /// The item inside, where the fact carries one.
    pub fn item(&self) -> Option<&Item> {
        match self {
            Self::ItemStarted(ItemStarted { item })
            | Self::ItemChanged(ItemChanged { item })
            | Self::ItemEnded(ItemEnded { item }) => Some(item),
            _ => None,
        }
    }

    /// The item inside, to be changed.
    pub fn item_mut(&mut self) -> Option<&mut Item> {
        match self {
            Self::ItemStarted(ItemStarted { item })
            | Self::ItemChanged(ItemChanged { item })
            | Self::ItemEnded(ItemEnded { item }) => Some(item),
            _ => None,
        }
    }
}

impl PartialEq for Fact {
    fn eq(&self, other: &Self) -> bool {
        self.kind() == other.kind()
            && match (self.data(), other.data()) {
                (Ok(mine), Ok(theirs)) => mine.get() == theirs.get(),
                _ => false,
            }
    }
}

/// A fact of a kind that a newer version added.
#[derive(Debug, Clone)]
pub struct UnknownFact {
    /// The kind as it came.
    pub kind: String,
    /// The payload as it came.
    pub data: Box<RawValue>,
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Principal {
    /// What they are.
    pub kind: PrincipalKind,
    /// What they are called: a user name, an agent's name.
    pub name: String,
}

impl Principal {
    /// A person.
    pub fn person(name: impl Into<String>) -> Self {
        Self { kind: PrincipalKind::Person, name: name.into() }
    }

    /// buddy itself.
    pub fn system() -> Self {
        Self { kind: PrincipalKind::System, name: "buddy".to_owned() }
    }
}

/// What somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrincipalKind {
    /// A person.
    Person,
    /// An agent.
    Agent,
    /// buddy itself.
    System,
}

/// Payload of `session.started`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStarted {
    /// Whose session it is.
    pub owner: Principal,
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
    /// Where it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<Origin>,
    /// The conditions that it began with, where its agent tells them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_with: Option<Introduction>,
}

/// The conditions that a session begins with, for programs that read its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Introduction {
    /// The version of the agent.
    pub version: String,
    /// The model as its provider names it; absent where none can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How far commands are kept: `development`, `production` or `throwaway`.
    pub mode: String,
    /// The policy on calls that a person would have to approve.
    pub approvals: ApprovalPolicy,
    /// The tools that are switched on. A model with a small context window is told of fewer.
    pub tools: Vec<String>,
}

/// Where the first facts of a fork come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// The session.
    pub session: SessionId,
    /// The last event of it that counts for the fork.
    pub seq: u64,
}

/// Payload of `session.changed`. Absent fields stayed as they were.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionChanged {
    /// The new title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The new model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The new policy on calls that a person would have to approve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalPolicy>,
    /// Whether the agent only reads and plans from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_only: Option<bool>,
    /// Whether the person has the shared panes from now on, so that the agent waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panes_taken: Option<bool>,
    /// All targets that the session has from now on, the default first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<SessionTarget>>,
}

/// Payload of `session.ended`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionEnded {
    /// Who ended it.
    pub by: Principal,
}

/// Payload of `turn.started`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStarted {
    /// Names the turn.
    pub turn: TurnId,
    /// Who prompted.
    pub by: Principal,
}

/// Payload of `turn.ended`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEnded {
    /// The turn.
    pub turn: TurnId,
    /// How it ended.
    pub outcome: TurnOutcome,
    /// Why the model stopped, where it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<AnswerStop>,
    /// What went wrong, where something did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// Why the last answer of a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerStop {
    /// The model had said what it wanted.
    Completed,
    /// The bound on the answer or the context window was reached.
    Length,
    /// The provider withheld the rest.
    Filtered,
    /// The model declined.
    Refused,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    /// The agent said all it had to say.
    Completed,
    /// Somebody stopped it, or buddy died under it.
    Interrupted,
    /// Something broke.
    Failed,
    /// The cap on model calls was reached.
    TurnLimit,
}

/// What went wrong, for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The class.
    pub kind: FailureKind,
    /// What happened.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The status that a server answered with, where that is what failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
}

/// Classes of failures that a program branches on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The model's provider does not accept the key.
    Auth,
    /// The conversation no longer fits the model's context window.
    ContextOverflow,
    /// A quota or spending limit of the provider is used up.
    Quota,
    /// The provider asks to slow down, and went on asking.
    RateLimited,
    /// The provider is overloaded or out of order, and stayed so.
    Unavailable,
    /// The provider refused the request.
    InvalidRequest,
    /// The model does not exist there.
    ModelMissing,
    /// The network, or a stream that broke.
    Transport,
    /// Nothing came for too long.
    Timeout,
    /// The cap on model calls in a turn.
    TurnLimit,
    /// The person's own limit on money or tokens.
    Budget,
    /// The command line or the configuration cannot be used.
    Usage,
    /// Something in buddy itself.
    Internal,
}

/// Payload of `item.started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemStarted {
    /// The item as it is now.
    pub item: Item,
}

/// Payload of `item.delta`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemDelta {
    /// The item.
    pub item: ItemId,
    /// Which of its texts grew.
    pub stream: DeltaStream,
    /// By what.
    pub text: String,
}

/// The texts of an item that can grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeltaStream {
    /// The text of a message or of reasoning.
    Text,
    /// A command's standard output.
    Stdout,
    /// A command's standard error.
    Stderr,
}

/// Payload of `item.changed`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemChanged {
    /// The item as it is now.
    pub item: Item,
}

/// Payload of `item.ended`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemEnded {
    /// The whole item.
    pub item: Item,
}

/// Payload of `asked`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Asked {
    /// The ask.
    pub ask: Ask,
}

/// Payload of `answered`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Answered {
    /// The ask.
    pub ask: AskId,
    /// The answer that counts.
    pub answer: Answer,
    /// Who gave it.
    pub by: Principal,
}

/// Payload of `usage`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageReported {
    /// The turn that called the model.
    pub turn: TurnId,
    /// The model that answered.
    pub model: String,
    /// What the call consumed.
    pub usage: Usage,
    /// The model call of that turn, from 1; that of the call which a summary made room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// What it cost, in millionths of a US dollar; absent while the price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<MicroUsd>,
}

/// The word of a notice that something is allowed for longer.
pub const GRANTED: &str = "granted";

/// The code of the notice that a command in the background has ended.
pub const BACKGROUND_ENDED: &str = "background_ended";

/// Payload of `notice`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// How much it matters.
    pub level: NoticeLevel,
    /// A stable word for what it is about.
    pub code: String,
    /// What people are told.
    pub text: String,
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something is not as it should be.
    Warning,
    /// Something went wrong.
    Error,
}

/// Payload of `native`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Native {
    /// Where it came from.
    pub source: String,
    /// What came.
    pub data: Value,
}
