//! The vocabulary of buddy: ids, events, items, commands, asks, the fold and the port traits.
//!
//! A session is an append-only log of facts. This crate defines facts, their wire format, the state that the
//! facts of a session add up to, and the traits that connect the faces, the hub, the agents and the store. It
//! does no I/O, reads no clock and knows no sibling crate.

mod approval_policy;
mod ask;
mod bill;
mod climb;
mod command;
mod command_key;
mod content;
mod cost;
mod envelope;
mod event;
mod fact;
mod folded_command;
mod fork;
mod git_setting;
mod hidden;
mod id;
mod image;
mod item;
mod json;
mod members;
mod name_set;
pub mod operations;
mod path_text;
mod port;
mod principal;
mod ran;
mod recovery;
mod remotes;
mod schema;
mod session_bounds;
mod session_cursor;
mod session_terms;
mod store_error;
mod summary;
mod target;
mod time;
mod tool_definition;
mod transcript;
mod usage;

pub use approval_policy::ApprovalPolicy;
pub use ask::{
    Answer, Approval, Ask, GrantScope, GrantWish, MAX_EDIT, MAX_GRANT_SECONDS, MAX_GRANT_WORDS, Misfit,
    Offer, Question, Risk, RunLimits, RunNetwork, Unfit, sealed_line,
};
pub use bill::Bill;
pub use climb::{Climbed, ClimbedBy, LinkLook, LinkLookup, climb};
pub use command::{Change, Command, NewSession};
pub use command_key::{BadCommandKey, CommandKey, CommandKeys, KeyClaim, KeyedCommand};
pub use cost::MicroUsd;
pub use envelope::{Envelope, HarnessTimestamp, ToolFailure};
pub use event::{Event, WireError, author_in_payload};
pub use fact::{
    AnswerStop, Answered, Asked, AuthoredFact, BACKGROUND_BEGAN, BACKGROUND_ENDED, BACKGROUND_SWEPT,
    DENIED_HOSTS, DeltaStream, Fact, Failure, FailureKind, GRANTED, Introduction, ItemChanged, ItemDelta,
    ItemEnded, ItemStarted, Native, Notice, NoticeLevel, Origin, SessionChanged, SessionEnded,
    SessionStarted, TurnEnded, TurnOutcome, TurnStarted, UnknownFact, UsageReported,
};
pub use folded_command::{first_line, folded_command};
pub use fork::{ForkError, ForkKind, ForkPoint, changes_since, fork, fork_end};
pub use git_setting::{PlainIn, is_plain_git_value, plain_git_setting};
pub use hidden::is_hidden;
pub use id::{AgentId, AskId, BadId, Ids, ImportId, ItemId, SessionId, TurnId, UserId};
pub use image::{Attachment, Base64, Image, ImageType, MAX_IMAGE_BYTES, MAX_IMAGES, MAX_IMAGES_BYTES};
pub use item::{
    Content, EnvironmentFact, FileChange, Item, ItemStatus, PlanStep, PlanStepState, Private, ReminderCause,
    ToolCall, ToolKind, UnknownContent,
};
pub use json::Json;
pub use members::{Members, Role, SingleUser};
pub use name_set::{NamePattern, NameSet, OpenedRoots, fold_name, fold_path, originals};
pub use operations::{OperationError, OperationErrorCode, Operations};
pub use path_text::PathText;
pub use port::{
    Agent, AgentError, AgentSession, CommandOutcome, EventSink, Found, FoundPage, Ledger, Opening,
    SearchQuery, SessionPage, SessionQuery, SessionStore, SessionWriter, Sessions, SessionsError, SinkClosed,
    Spending, StoreChanges, Subscription, SubscriptionError, SubtreeLimit, WaitingAsk, WaitingAskPage,
};
pub use principal::{BadPrincipal, Principal, PrincipalId, PrincipalKind};
pub use ran::{Ran, RanOutcome};
pub use recovery::recovery;
pub use remotes::{RemoteLookup, RemoteName, RemoteQuery, RemoteUse};
pub use schema::event_schema;
pub use session_bounds::SessionBounds;
pub use session_cursor::{BadCursor, SessionCursor};
pub use session_terms::{BadTerms, SessionTerms, SpendingLimit};
pub use store_error::StoreError;
pub use summary::{SessionState, SessionSummary};
pub use target::{BadTarget, MAX_TARGETS, SessionTarget, TargetChange, TargetHost, TargetWish};
pub use time::{Clock, UnixMillis};
pub use tool_definition::ToolDefinition;
pub use transcript::{Decision, FoldError, LogEntry, Transcript};
pub use usage::Usage;
