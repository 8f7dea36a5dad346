//! The ports: traits through which the crates meet without knowing each other.
//!
//! Faces hold an `Arc<dyn Sessions>`; the hub holds `Arc<dyn Agent>`s and an `Arc<dyn SessionStore>`; an agent reports
//! through an `Arc<dyn EventSink>`.

use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use futures::Stream;
use serde::Serialize;

use crate::{
    Answer, Ask, Bill, Command, Event, Fact, Failure, ForkKind, ForkPoint, Introduction, LogEntry,
    NewSession, Principal, SessionId, SessionSummary, Transcript, UnixMillis,
};

/// Sessions as a face sees them: the hub in this process, or a remote one.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Starts a session.
    async fn create(&self, who: &Principal, new: NewSession) -> Result<SessionId, SessionsError>;

    /// Starts a session that begins with what another one had, which stays as it was.
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

    /// All durable events after number `after`, then everything live, without a gap and without a duplicate.
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

    /// What a list would show of one session.
    async fn find(&self, who: &Principal, session: &SessionId) -> Result<SessionSummary, SessionsError>;

    /// Everything that waits for `who` in all their sessions, those that other sessions opened included.
    async fn asks(&self, who: &Principal) -> Result<Vec<WaitingAsk>, SessionsError>;

    /// Sessions that `who` may see, last used first.
    async fn list(&self, who: &Principal, query: SessionQuery) -> Result<Vec<SessionSummary>, SessionsError>;

    /// At most `limit` sessions of `who` in which all these words were said in one breath, last used first.
    async fn search(&self, who: &Principal, words: &str, limit: usize) -> Result<Vec<Found>, SessionsError>;
}

/// A session in which words were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The session.
    pub summary: SessionSummary,
    /// What was said around the words, on one line.
    pub excerpt: String,
    /// The last event that has them.
    pub seq: u64,
}

/// Something that waits for a person, in one of their sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WaitingAsk {
    /// The session.
    pub session: SessionId,
    /// What the session is called.
    pub title: Option<String>,
    /// The session that opened it.
    pub parent: Option<SessionId>,
    /// The directory it works in.
    pub cwd: String,
    /// What waits.
    pub ask: Ask,
}

/// The events of a session as they come. Ends with an error when the reader must subscribe anew.
pub type Subscription = Pin<Box<dyn Stream<Item = Result<Arc<Event>, SubscriptionError>> + Send>>;

/// Why a subscription ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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

/// Which sessions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionQuery {
    /// Only sessions of this owner.
    pub owner: Option<String>,
    /// Only sessions that work in this directory.
    pub cwd: Option<String>,
    /// Only sessions in which something waits for a person.
    pub is_waiting: bool,
    /// At most so many; 0 means as many as the store gives at once.
    pub limit: usize,
}

/// Why a request about sessions was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum SessionsError {
    /// There is no such session, or it is not theirs to know of.
    #[error("there is no session `{0}`")]
    NotFound(SessionId),
    /// Another process works on the session.
    #[error("session `{session}` is in use by {holder}")]
    Busy {
        /// The session.
        session: SessionId,
        /// Who works on it.
        holder: String,
    },
    /// They may not do this.
    #[error("{who} may not {what}")]
    Forbidden {
        /// Who.
        who: String,
        /// What.
        what: &'static str,
    },
    /// The session is not in a state in which this makes sense.
    #[error("{0}")]
    Conflict(String),
    /// The request makes no sense.
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

/// An agent: something that turns prompts into facts.
#[async_trait]
pub trait Agent: Send + Sync {
    /// The name that sessions are started with.
    fn name(&self) -> &str;

    /// The conditions that a new session begins with; none where the agent has nothing to tell.
    async fn introduce(&self, _: &NewSession) -> Option<Introduction> {
        None
    }

    /// Takes up a session, new or old. The transcript is whole: nothing in it is open.
    async fn open(
        &self,
        opening: Opening,
        sink: Arc<dyn EventSink>,
    ) -> Result<Box<dyn AgentSession>, AgentError>;
}

/// What an agent is given to take up a session.
#[derive(Debug)]
pub struct Opening {
    /// The session.
    pub session: SessionId,
    /// Everything that happened in it.
    pub transcript: Transcript,
}

/// A session in an agent's hands.
#[async_trait]
pub trait AgentSession: Send {
    /// Takes a command. Returns when it is accepted; what it brings about goes to the sink.
    async fn command(&mut self, by: Principal, command: Command) -> Result<(), AgentError>;

    /// Stops all work and returns when nothing runs any more.
    async fn close(self: Box<Self>);
}

/// Why an agent could not take up a session or a command.
#[derive(Debug, thiserror::Error)]
#[error("{}", .failure.message)]
pub struct AgentError {
    /// What went wrong.
    pub failure: Failure,
}

/// Where an agent reports. Facts keep their order, whichever method took them.
#[async_trait]
pub trait EventSink: Send + Sync {
    /// Reports facts and returns when they are accepted. They may still be lost in a crash.
    async fn push(&self, facts: Vec<Fact>) -> Result<(), SinkClosed>;

    /// Reports facts and returns when they, and all before them, are durable.
    async fn commit(&self, facts: Vec<Fact>) -> Result<(), SinkClosed>;

    /// Asks and waits for the answer. Dropping the future withdraws the ask.
    async fn ask(&self, ask: Ask) -> Result<Answer, SinkClosed>;
}

/// The session no longer takes facts: it was closed, or its store failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the session no longer takes facts")]
pub struct SinkClosed;

/// The event log of all sessions and what is derived from it.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Takes the right to write to a session, new or old, which nobody else has until the writer is dropped or its
    /// process dies.
    async fn writer(&self, session: &SessionId) -> Result<Box<dyn SessionWriter>, StoreError>;

    /// Up to `limit` events after number `after`, in order, private data included.
    async fn read(&self, session: &SessionId, after: u64, limit: usize) -> Result<Vec<Event>, StoreError>;

    /// The events after number `after` up to number `until`, for a reader that wants to know how things stand: an event
    /// that a later one of them makes irrelevant may be given as superseded. May stop early, never empty-handed.
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

    /// The summary of a session; none when there is no such session.
    async fn find(&self, session: &SessionId) -> Result<Option<SessionSummary>, StoreError>;

    /// Summaries, last used first.
    async fn list(&self, query: SessionQuery) -> Result<Vec<SessionSummary>, StoreError>;

    /// At most `limit` sessions of an owner with an event that has all these words, last used first. Nothing in the words
    /// has a meaning of its own.
    async fn search(&self, owner: &str, words: &str, limit: usize) -> Result<Vec<Found>, StoreError>;
}

/// What was spent.
#[async_trait]
pub trait Ledger: Send + Sync {
    /// The bill of everything in a scope.
    async fn bill(&self, scope: Spending) -> Result<Bill, StoreError>;
}

/// A scope of spending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spending {
    /// A session, the sessions above it and all sessions that these opened.
    Tree(SessionId),
    /// All sessions of an owner since a time.
    Since {
        /// The owner's name.
        owner: String,
        /// From when on.
        time: UnixMillis,
    },
}

/// The right to write to one session.
#[async_trait]
pub trait SessionWriter: Send + Sync {
    /// Appends durable events, all or none, and returns when they would survive a power cut. Their numbers must
    /// follow on the last one.
    async fn append(&self, events: Vec<Arc<Event>>) -> Result<(), StoreError>;
}

/// Why the store failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Somebody else writes to the session.
    #[error("session `{session}` is in use by {holder}")]
    Busy {
        /// The session.
        session: SessionId,
        /// Who writes.
        holder: String,
    },
    /// Another server uses the store.
    #[error("the store is in use by {holder}")]
    InUse {
        /// Who.
        holder: String,
    },
    /// The events do not follow on the log.
    #[error("event {found} does not follow on event {head} of session `{session}`")]
    OutOfOrder {
        /// The session.
        session: SessionId,
        /// The last event in the log.
        head: u64,
        /// The number that was to be appended.
        found: u64,
    },
    /// What is stored is damaged.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
    /// The store was written by a newer version.
    #[error("the store has schema {found}, this version knows up to {known}; use a newer buddy")]
    TooNew {
        /// The schema that was found.
        found: u32,
        /// The newest schema that this version knows.
        known: u32,
    },
    /// The disk is full. Nothing was written; what is stored is whole.
    #[error("the disk is full")]
    Full,
    /// Anything else that reading or writing met.
    #[error("{0}")]
    Io(String),
}
