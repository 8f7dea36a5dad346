//! The ports: traits through which the crates meet without knowing each other.
//!
//! Faces hold an `Arc<dyn Sessions>`; the hub holds `Arc<dyn Agent>`s and an `Arc<dyn SessionStore>`; an agent reports
//! through an `Arc<dyn EventSink>`.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures::Stream;
use serde::{Deserialize, Serialize};

use crate::{
    Answer, Ask, AuthoredFact, Bill, Command, CommandKey, Event, Fact, Failure, ForkKind, ForkPoint,
    Introduction, LogEntry, NewSession, Principal, PrincipalId, SessionCursor, SessionId, SessionSummary,
    SpendingLimit, StoreError, Transcript, UnixMillis,
};

/// Sessions as a face sees them: the hub in this process, or a remote one.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Starts a session.
    async fn create(&self, who: &Principal, new: NewSession) -> Result<SessionId, SessionsError>;

    /// Starts a session with the facts of another one, which stays unchanged.
    async fn fork(
        &self,
        who: &Principal,
        session: &SessionId,
        point: ForkPoint,
        kind: ForkKind,
    ) -> Result<SessionId, SessionsError>;

    /// Sends a command. `Ok` means that it was accepted; results come as events.
    async fn send(&self, who: &Principal, session: &SessionId, command: Command)
    -> Result<(), SessionsError>;

    /// Like [`Sessions::send`], but carries a command out once, however often it is sent with this key. Another command
    /// with the same key is refused.
    async fn send_once(
        &self,
        who: &Principal,
        session: &SessionId,
        key: CommandKey,
        command: Command,
    ) -> Result<(), SessionsError>;

    /// Takes a session up in this process: closes what a dead writer left open, and keeps other processes from writing.
    /// A command does the same when it needs to.
    async fn take_up(&self, who: &Principal, session: &SessionId) -> Result<(), SessionsError>;

    /// All durable events after number `after`, then all later ones, without gaps or duplicates. Takes nothing up: a session
    /// that another process works on is followed in the store, without its live events.
    async fn subscribe(
        &self,
        who: &Principal,
        session: &SessionId,
        after: u64,
    ) -> Result<Subscription, SessionsError>;

    /// Up to `limit` durable events after number `after`, from the store. Needs no running session.
    async fn events(
        &self,
        who: &Principal,
        session: &SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Event>, SessionsError>;

    /// The summary of one session.
    async fn find(&self, who: &Principal, session: &SessionId) -> Result<SessionSummary, SessionsError>;

    /// Pending asks in the sessions that `who` may read, including sessions that other sessions opened: those behind a place
    /// in the list, most recently used first. A page has all asks of its sessions.
    async fn asks(
        &self,
        who: &Principal,
        after: Option<SessionCursor>,
    ) -> Result<WaitingAskPage, SessionsError>;

    /// Sessions that `who` may see, most recently used first.
    async fn list(&self, who: &Principal, query: SessionQuery) -> Result<SessionPage, SessionsError>;

    /// Sessions that `who` may read with an event that contains some words, most recently used first.
    async fn search(&self, who: &Principal, query: SearchQuery) -> Result<FoundPage, SessionsError>;
}

/// A part of the list of sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionPage {
    /// The sessions, most recently used first.
    pub sessions: Vec<SessionSummary>,
    /// Where the list goes on, for [`SessionQuery::after`]; absent on an empty page, which is its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<SessionCursor>,
}

/// A session that matches a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The session.
    pub summary: SessionSummary,
    /// The text around the words, on one line.
    pub excerpt: String,
    /// The last event that contains them.
    pub seq: u64,
}

/// A part of what a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundPage {
    /// The sessions, most recently used first.
    pub found: Vec<Found>,
    /// Where the search goes on, for [`SearchQuery::after`]; absent on an empty page, which is its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<SessionCursor>,
}

/// A part of the pending asks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingAskPage {
    /// The asks, those of one session together.
    pub asks: Vec<WaitingAsk>,
    /// Where the list goes on; absent on an empty page, which is its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<SessionCursor>,
}

/// A pending ask in one of a user's sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingAsk {
    /// The session.
    pub session: SessionId,
    /// The title of the session.
    pub title: Option<String>,
    /// The session that opened it.
    pub parent: Option<SessionId>,
    /// The directory it works in.
    pub cwd: String,
    /// The pending ask.
    pub ask: Ask,
}

/// The events of a session as they arrive. Ends with an error if the reader must subscribe again.
pub type Subscription = Pin<Box<dyn Stream<Item = Result<Arc<Event>, SubscriptionError>> + Send>>;

/// The reason why a subscription ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "code", content = "fields", rename_all = "snake_case")]
pub enum SubscriptionError {
    /// The reader was too slow.
    #[error("the reader was too slow; go on after event {resume_after}")]
    Lagged {
        /// The last durable event that was delivered.
        resume_after: u64,
    },
    /// The events could not be read.
    #[error("cannot read the session's events: {0}")]
    Store(String),
}

/// A filter for the list of sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionQuery {
    /// Only sessions of this owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<PrincipalId>,
    /// Only sessions that work in this directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Only sessions with a pending ask.
    pub is_waiting: bool,
    /// The maximum number of sessions; 0 means the store's own limit.
    pub limit: usize,
    /// Only sessions after this place in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<SessionCursor>,
}

/// A search in the sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SearchQuery {
    /// The words, all of which an event contains. They have no query syntax.
    pub words: String,
    /// Only sessions of this owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<PrincipalId>,
    /// Only sessions that work in this directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The maximum number of sessions; 0 means the store's own limit.
    pub limit: usize,
    /// Only sessions after this place in the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<SessionCursor>,
}

impl SearchQuery {
    /// A search for words in all sessions.
    pub fn new(words: impl Into<String>) -> Self {
        Self { words: words.into(), ..Self::default() }
    }
}

/// The reason why a request about sessions was refused or failed.
#[derive(Debug, Clone, thiserror::Error, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "code", content = "fields", rename_all = "snake_case")]
pub enum SessionsError {
    /// The session does not exist, or the caller may not know of it.
    #[error("there is no session `{0}`")]
    NotFound(SessionId),
    /// Another process works on the session.
    #[error("session `{session}` is in use by {holder}")]
    Busy {
        /// The session.
        session: SessionId,
        /// The process that works on it.
        holder: String,
    },
    /// The caller may not do this.
    #[error("{who} may not {what}")]
    Forbidden {
        /// The caller.
        who: String,
        /// The refused action.
        what: String,
    },
    /// The state of the session does not permit this.
    #[error("{0}")]
    Conflict(String),
    /// The request is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The hub is shutting down.
    #[error("buddy is shutting down")]
    Closed,
    /// The agent could not be started.
    #[error("{}", .0.message)]
    Agent(Failure),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// On the wire an error is an object with its code, its fields and its message, which a reader shows as it is.
macro_rules! coded_errors {
    ($($name:ident)*) => {$(
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let coded = Self::serialize(self, serde_json::value::Serializer);
                let mut coded = coded.map_err(serde::ser::Error::custom)?;
                if let Some(object) = coded.as_object_mut() {
                    object.insert("message".to_owned(), self.to_string().into());
                }
                coded.serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::deserialize(deserializer)
            }
        }
    )*};
}

coded_errors! { SessionsError SubscriptionError StoreError }

/// An agent: something that turns prompts into facts.
#[async_trait]
pub trait Agent: Send + Sync {
    /// The name that sessions are started with.
    fn name(&self) -> &str;

    /// The conditions at the start of a new session; `None` if the agent reports none.
    async fn introduce(&self, _: &NewSession) -> Option<Introduction> {
        None
    }

    /// Opens a session, new or old. The transcript is whole: nothing in it is open.
    async fn open(
        &self,
        opening: Opening,
        sink: Arc<dyn EventSink>,
    ) -> Result<Box<dyn AgentSession>, AgentError>;
}

/// The input with which an agent opens a session.
#[derive(Debug)]
pub struct Opening {
    /// The session.
    pub session: SessionId,
    /// The fold of everything that happened in it.
    pub transcript: Transcript,
    /// The limits in the terms of the session and of those above it.
    pub limits: Vec<SubtreeLimit>,
}

/// The outcome of a command, once it is accepted or refused. Its results go to the sink.
pub type CommandOutcome = Pin<Box<dyn Future<Output = Result<(), AgentError>> + Send>>;

/// An open session of an agent.
#[async_trait]
pub trait AgentSession: Send {
    /// Hands a command over. Returns as soon as the agent has it, so that the next command need not wait until this one is
    /// carried out. Commands take effect in their order, except that one that stops something may overtake others.
    async fn command(&mut self, by: Principal, command: Command) -> CommandOutcome;

    /// Whether work goes on outside a turn, such as a command in the background, that would end with the session.
    fn is_busy(&self) -> bool {
        false
    }

    /// Stops all work and returns when nothing runs any more.
    async fn close(self: Box<Self>);
}

/// The reason why an agent could not open a session or take a command.
#[derive(Debug, thiserror::Error)]
#[error("{}", .failure.message)]
pub struct AgentError {
    /// The failure.
    pub failure: Failure,
}

/// The receiver of an agent's facts. Facts keep their order across all methods.
#[async_trait]
pub trait EventSink: Send + Sync {
    /// Reports facts with their authors and returns when they are accepted. They may still be lost in a crash.
    async fn push_authored(&self, facts: Vec<AuthoredFact>) -> Result<(), SinkClosed>;

    /// Reports facts with their authors and returns when they, and all facts before them, are durable.
    async fn commit_authored(&self, facts: Vec<AuthoredFact>) -> Result<(), SinkClosed>;

    /// Reports facts of the agent's own work and returns when they are accepted.
    async fn push(&self, facts: Vec<Fact>) -> Result<(), SinkClosed> {
        self.push_authored(facts.into_iter().map(AuthoredFact::from).collect()).await
    }

    /// Reports facts of the agent's own work and returns when they, and all facts before them, are durable.
    async fn commit(&self, facts: Vec<Fact>) -> Result<(), SinkClosed> {
        self.commit_authored(facts.into_iter().map(AuthoredFact::from).collect()).await
    }

    /// Asks and waits for the answer. Dropping the future withdraws the ask.
    async fn ask(&self, ask: Ask) -> Result<Answer, SinkClosed>;
}

/// The session no longer takes facts: it was closed, or its store failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the session no longer takes facts")]
pub struct SinkClosed;

/// Notices of appends to a store. Ends when the store is closed.
pub type StoreChanges = Pin<Box<dyn Stream<Item = ()> + Send>>;

/// The event logs of all sessions and the data derived from them.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Takes the exclusive right to write to a session, new or old, until the writer is dropped or its
    /// process dies.
    async fn writer(&self, session: &SessionId) -> Result<Box<dyn SessionWriter>, StoreError>;

    /// Up to `limit` events after number `after`, in order, private data included.
    async fn read(&self, session: &SessionId, after: u64, limit: usize) -> Result<Vec<Event>, StoreError>;

    /// The events after number `after` up to number `until`, for a reader that only needs the final state: an
    /// event that a later one makes irrelevant may come as superseded. May stop early, but never returns an
    /// empty list.
    async fn read_settled(
        &self,
        session: &SessionId,
        after: u64,
        until: u64,
    ) -> Result<Vec<LogEntry>, StoreError> {
        let limit = usize::try_from(until.saturating_sub(after)).unwrap_or(usize::MAX);
        let events = self.read(session, after, limit).await?;
        Ok(events.into_iter().map(LogEntry::Event).collect())
    }

    /// Something was appended to some log, by any process. A reader that read after it subscribed misses nothing; one
    /// item can stand for many appends.
    fn changes(&self) -> Result<StoreChanges, StoreError>;

    /// The summary of a session; `None` if it does not exist.
    async fn find(&self, session: &SessionId) -> Result<Option<SessionSummary>, StoreError>;

    /// Summaries, most recently used first.
    async fn list(&self, query: SessionQuery) -> Result<Vec<SessionSummary>, StoreError>;

    /// Sessions with an event that contains some words, most recently used first.
    async fn search(&self, query: SearchQuery) -> Result<Vec<Found>, StoreError>;
}

/// The spending of sessions.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// The bill for a scope.
    async fn bill(&self, scope: Spending) -> Result<Bill, StoreError>;
}

/// A scope of spending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spending {
    /// A session, the sessions above it and all sessions that these opened.
    Tree(SessionId),
    /// A session and the sessions below it.
    Beneath(SessionId),
    /// All sessions of an owner since a time.
    Since {
        /// The owner.
        owner: PrincipalId,
        /// The start time.
        time: UnixMillis,
    },
}

/// A limit on what a session with the sessions below it may spend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubtreeLimit {
    /// The session.
    pub session: SessionId,
    /// The limit in its terms.
    pub limit: SpendingLimit,
}

/// The right to write to one session.
#[async_trait]
pub trait SessionWriter: Send + Sync {
    /// Appends durable events, all or none, and returns when they would survive a power cut. Their numbers
    /// must follow the last one in the log.
    async fn append(&self, events: Vec<Arc<Event>>) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureKind;

    fn session() -> SessionId {
        "ses_00000000000000000000000001".parse().unwrap()
    }

    /// The error on the wire, after it was read back.
    fn round_trip(error: &SessionsError) -> serde_json::Value {
        let text = serde_json::to_string(error).unwrap();
        let again: SessionsError = serde_json::from_str(&text).unwrap();
        assert_eq!(again.to_string(), error.to_string());
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn errors_have_a_code_a_message_and_fields_on_the_wire() {
        let failure = Failure {
            kind: FailureKind::Auth,
            message: "no key".to_owned(),
            hint: Some("set one".to_owned()),
            http_status: Some(401),
        };
        let errors = [
            (SessionsError::NotFound(session()), "not_found"),
            (SessionsError::Busy { session: session(), holder: "process 7".to_owned() }, "busy"),
            (SessionsError::Forbidden { who: "ann".to_owned(), what: "answer".to_owned() }, "forbidden"),
            (SessionsError::Conflict("it ended".to_owned()), "conflict"),
            (SessionsError::Invalid("empty".to_owned()), "invalid"),
            (SessionsError::Closed, "closed"),
            (SessionsError::Agent(failure), "agent"),
            (SessionsError::Store(StoreError::Full), "store"),
            (SessionsError::Store(StoreError::TooNew { found: 9, known: 7 }), "store"),
        ];
        for (error, code) in errors {
            let wire = round_trip(&error);
            assert_eq!(
                (wire["code"].as_str(), wire["message"].as_str()),
                (Some(code), Some(&*error.to_string()))
            );
        }
        let busy = round_trip(&SessionsError::Busy { session: session(), holder: "process 7".to_owned() });
        assert_eq!(busy["fields"]["holder"], "process 7");
        let lagged = SubscriptionError::Lagged { resume_after: 7 };
        let text = serde_json::to_string(&lagged).unwrap();
        assert_eq!(serde_json::from_str::<SubscriptionError>(&text).unwrap(), lagged);
        assert!(text.contains(r#""code":"lagged""#), "{text}");
    }
}
