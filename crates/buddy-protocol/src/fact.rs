//! Facts: events of the past, named in the past tense. Fourteen kinds, closed in Rust and open on the wire.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, Value};

use crate::{
    Answer, ApprovalPolicy, Ask, AskId, Content, Item, ItemId, MicroUsd, Principal, SessionId, SessionTarget,
    SessionTerms, TurnId, UnknownContent, Usage,
};

macro_rules! facts {
    ($($(#[$doc:meta])* $kind:literal => $name:ident($payload:ident);)*) => {
        /// Something that happened in a session.
        #[derive(Debug, Clone)]
        pub enum Fact {
            $($(#[$doc])* $name($payload),)*
            /// A kind this version does not know, kept byte for byte.
            Unknown(UnknownFact),
        }

        impl Fact {
            /// The kinds this version knows, by their wire names.
            pub const KINDS: &[&str] = &[$($kind),*];

            /// The wire name of the kind.
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
                    $($kind => Self::read_known(data.get(), Self::$name),)*
                    _ => Ok(Self::Unknown(UnknownFact { kind: kind.to_owned(), data: data.to_owned() })),
                }
            }

            /// Reads a fact from its payload as text, which is parsed once.
            pub fn from_json(kind: &str, data: &str) -> Result<Self, serde_json::Error> {
                match kind {
                    $($kind => Self::read_known(data, Self::$name),)*
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
    /// A setting of the session changed.
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
    /// buddy asked the user for an approval or an answer.
    "asked" => Asked(Asked);
    /// An ask was answered. Each ask has exactly one answer.
    "answered" => Answered(Answered);
    /// A model call consumed tokens.
    "usage" => UsageReported(UsageReported);
    /// A message for users that belongs to no item.
    "notice" => Notice(Notice);
    /// A message of another agent that has no equivalent here, kept as it came.
    "native" => Native(Native);
}

impl Fact {
    fn read_known<'a, T: Deserialize<'a>>(
        data: &'a str,
        make: fn(T) -> Self,
    ) -> Result<Self, serde_json::Error> {
        let mut fact = make(serde_json::from_str(data)?);
        if let Some(Content::Unknown(unknown)) = fact.item_mut().map(|item| &mut item.content) {
            *unknown = UnknownContent::of_payload(data)?;
        }
        Ok(fact)
    }

    /// Whether the fact is stored and counted. Live facts are streamed and forgotten.
    pub fn is_durable(&self) -> bool {
        !matches!(self, Self::ItemDelta(_))
    }

    /// The item that the fact carries, if any.
    pub fn item(&self) -> Option<&Item> {
        match self {
            Self::ItemStarted(ItemStarted { item })
            | Self::ItemChanged(ItemChanged { item })
            | Self::ItemEnded(ItemEnded { item }) => Some(item),
            _ => None,
        }
    }

    /// The item that the fact carries, mutable.
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

/// A fact with the principal that caused it.
#[derive(Debug, Clone, PartialEq)]
pub struct AuthoredFact {
    /// The principal that caused it; `None` for the agent's own work.
    pub by: Option<Principal>,
    /// The fact.
    pub fact: Fact,
}

impl AuthoredFact {
    /// A fact that `by` caused.
    pub fn new(by: &Principal, fact: Fact) -> Self {
        Self { by: Some(by.clone()), fact }
    }
}

impl From<Fact> for AuthoredFact {
    fn from(fact: Fact) -> Self {
        Self { by: None, fact }
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

/// Payload of `session.started`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStarted {
    /// The owner of the session.
    pub owner: Principal,
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
    /// The origin of a fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<Origin>,
    /// The conditions at the start of the session, if its agent reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_with: Option<Introduction>,
    /// The terms that it is started on.
    #[serde(default, skip_serializing_if = "SessionTerms::is_unset")]
    pub terms: SessionTerms,
}

/// The conditions at the start of a session, for programs that read its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Introduction {
    /// The version of the agent.
    pub version: String,
    /// The model as its provider names it; absent if no model is usable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The mode that confines commands: `development`, `production` or `throwaway`.
    pub mode: String,
    /// The policy on calls that need an approval.
    pub approvals: ApprovalPolicy,
    /// The tools that are switched on. A model with a small context window is given fewer.
    pub tools: Vec<String>,
}

/// The origin of the first facts of a fork.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// The session.
    pub session: SessionId,
    /// The last event of that session that the fork includes.
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
    /// The new policy on calls that need an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalPolicy>,
    /// Whether the agent only reads and plans from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_only: Option<bool>,
    /// Whether the user has the shared panes from now on, so that the agent waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panes_taken: Option<bool>,
    /// All targets of the session from now on, the default first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<SessionTarget>>,
    /// The names of tools that the session has from now on and did not have before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_tools: Option<Vec<String>>,
}

/// Payload of `session.ended`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionEnded {}

/// Payload of `turn.started`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStarted {
    /// Names the turn.
    pub turn: TurnId,
}

/// Payload of `turn.ended`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEnded {
    /// The turn.
    pub turn: TurnId,
    /// The outcome of the turn.
    pub outcome: TurnOutcome,
    /// The reason why the model stopped, if it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<AnswerStop>,
    /// The failure, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// The reason why the last answer of a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerStop {
    /// The model finished its answer.
    Completed,
    /// The answer reached the output limit or the end of the context window.
    Length,
    /// The provider withheld the rest.
    Filtered,
    /// The model declined.
    Refused,
}

/// The outcome of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    /// The agent finished.
    Completed,
    /// A client stopped it, or buddy died during it.
    Interrupted,
    /// An error ended it.
    Failed,
    /// It reached the cap on model calls.
    TurnLimit,
}

/// A failure, for users and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The class of the failure.
    pub kind: FailureKind,
    /// A description of the problem.
    pub message: String,
    /// Advice on how to fix it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The HTTP status of the server's answer, if that was the failure.
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
    /// The provider is rate limiting, also after retries.
    RateLimited,
    /// The provider is overloaded or out of order, also after retries.
    Unavailable,
    /// The provider refused the request.
    InvalidRequest,
    /// The model does not exist there.
    ModelMissing,
    /// The network failed, or a stream broke.
    Transport,
    /// No data arrived before the timeout.
    Timeout,
    /// The cap on model calls in a turn.
    TurnLimit,
    /// The model repeated itself without getting further.
    Stuck,
    /// The user's own limit on money or tokens.
    Budget,
    /// The command line or the configuration is invalid.
    Usage,
    /// A bug or a failure in buddy itself.
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
    /// The text of the item that grew.
    pub stream: DeltaStream,
    /// The text to append.
    pub text: String,
}

/// The texts of an item that can grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeltaStream {
    /// The text of a message or of reasoning.
    Text,
    /// A command's stdout.
    Stdout,
    /// A command's stderr.
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
    /// The answer that won.
    pub answer: Answer,
}

/// Payload of `usage`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageReported {
    /// The turn that called the model.
    pub turn: TurnId,
    /// The model that answered.
    pub model: String,
    /// The tokens that the call consumed.
    pub usage: Usage,
    /// The number of the model call in that turn, from 1. A summary has the number of the call that it made
    /// room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The cost in millionths of a US dollar; absent while the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<MicroUsd>,
}

/// The code of the notice that a grant was given.
pub const GRANTED: &str = "granted";

/// The field of a command's result that lists hosts which it was kept from, and which it needed as far as its end shows. Such
/// a call counts as denied.
pub const DENIED_HOSTS: &str = "denied_hosts";

/// The code of the notice that a command runs on in the background. Its text begins with the id of the command.
pub const BACKGROUND_BEGAN: &str = "background_began";

/// The code of the notice that a command in the background has ended. Its text begins with the id of the command.
pub const BACKGROUND_ENDED: &str = "background_ended";

/// The code of the notice that buddy moved a file away which a command in the background left, or which somebody changed meanwhile.
pub const BACKGROUND_SWEPT: &str = "background_swept";

/// Payload of `notice`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// The severity.
    pub level: NoticeLevel,
    /// A stable code for the subject of the notice.
    pub code: String,
    /// The text for users.
    pub text: String,
}

/// The severity of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Information.
    Info,
    /// A problem that needs attention.
    Warning,
    /// An error.
    Error,
}

/// Payload of `native`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Native {
    /// The name of the source.
    pub source: String,
    /// The message as it came.
    pub data: Value,
}
