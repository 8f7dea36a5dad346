//! A live session: its actor, and the pump that hands commands to its agent.
//!
//! The two are separate tasks, because an agent reports facts to the actor before it accepts a command.

use std::sync::{Arc, Mutex, PoisonError};

use buddy_protocol::{
    Agent, AgentError, AgentSession, Answer, AskId, Change, Clock, Command, Event, Fact, LogEntry, Opening,
    Principal, SessionChanged, SessionEnded, SessionId, SessionStore, SessionWriter, SessionsError,
    StoreError, Transcript, recovery,
};
use futures::{Stream, StreamExt, stream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::actor::{Actor, MAILBOX, Message, State};
use crate::sink::ActorSink;
use crate::subscription::Feed;

/// The number of events of a damaged log to read at once.
const WHOLE_PAGE: usize = 1000;

/// The maximum number of commands that wait for an agent.
const COMMANDS: usize = 64;
/// The number of events per part of a log that is read when a session is opened.
const PART: u64 = 2_000;
/// The number of parts to read concurrently.
const READS_AT_ONCE: usize = 2;

struct Order {
    by: Principal,
    command: Command,
    done: oneshot::Sender<Result<(), AgentError>>,
}

/// A handle on a live session.
pub(crate) struct Live {
    session: SessionId,
    pub(crate) owner: Principal,
    messages: mpsc::Sender<Message>,
    orders: Mutex<Option<mpsc::Sender<Order>>>,
    tasks: tokio::sync::Mutex<JoinSet<()>>,
}

/// The parts that a live session is built from.
pub(crate) struct Parts {
    pub(crate) session: SessionId,
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) agent: Arc<dyn Agent>,
}

impl Live {
    /// Starts a session whose first fact is `first`.
    pub(crate) async fn create(parts: Parts, first: Fact) -> Result<Self, SessionsError> {
        let writer = parts.store.writer(&parts.session).await.map_err(busy)?;
        Self::begin(parts, writer, Transcript::default(), vec![first]).await
    }

    /// Opens a session from its log. First closes everything that a dead writer left open.
    pub(crate) async fn resume(parts: Parts) -> Result<Self, SessionsError> {
        let session = parts.session.clone();
        Self::take_up(parts).await.map_err(|error| with_way_out(error, &session))
    }

    async fn take_up(parts: Parts) -> Result<Self, SessionsError> {
        let writer = parts.store.writer(&parts.session).await.map_err(busy)?;
        // Nobody else writes from here on, so the head stays the same.
        let summary = parts.store.find(&parts.session).await?;
        let head = summary.ok_or_else(|| SessionsError::NotFound(parts.session.clone()))?.head;
        let transcript = read_all(&*parts.store, &parts.session, head).await?;
        let closing = recovery(&transcript, parts.clock.now());
        Self::begin(parts, writer, transcript, closing).await
    }

    async fn begin(
        parts: Parts,
        writer: Box<dyn SessionWriter>,
        mut transcript: Transcript,
        facts: Vec<Fact>,
    ) -> Result<Self, SessionsError> {
        let time = parts.clock.now();
        let stamp = |(place, fact)| {
            let seq = Some(transcript.head() + 1 + place as u64);
            Arc::new(Event { session: parts.session.clone(), seq, time, fact })
        };
        let events: Vec<Arc<Event>> = facts.into_iter().enumerate().map(stamp).collect();
        if !events.is_empty() {
            writer.append(events.clone()).await?;
        }
        for event in &events {
            transcript.apply(event).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        }
        let owner = transcript.started().map(|started| started.owner.clone());
        let owner = owner.ok_or_else(|| SessionsError::NotFound(parts.session.clone()))?;
        Self::spawn(parts, writer, transcript, owner).await
    }

    async fn spawn(
        parts: Parts,
        writer: Box<dyn SessionWriter>,
        transcript: Transcript,
        owner: Principal,
    ) -> Result<Self, SessionsError> {
        let Parts { session, clock, agent, .. } = parts;
        let (messages, mailbox) = mpsc::channel(MAILBOX);
        let (withdrawn, withdrawals) = mpsc::unbounded_channel();
        let head = transcript.head();
        let mut tasks = JoinSet::new();
        let actor = Actor {
            session: session.clone(),
            clock,
            writer,
            head,
            messages: mailbox,
            withdrawn: withdrawals,
            state: State::default(),
        };
        // A failure is logged where it happens; every waiting sender sees the actor's channel close.
        tasks.spawn(async move { drop(actor.run().await) });
        let sink = Arc::new(ActorSink { messages: messages.clone(), withdrawn });
        let opening = Opening { session: session.clone(), transcript };
        let agent_session =
            agent.open(opening, sink).await.map_err(|error| SessionsError::Agent(error.failure))?;
        let (orders, queue) = mpsc::channel(COMMANDS);
        let stop = messages.clone();
        tasks.spawn(async move {
            pump(agent_session, queue).await;
            // The actor may be gone already if its store failed.
            let _ = stop.send(Message::Stop).await;
        });
        let orders = Mutex::new(Some(orders));
        Ok(Self { session, owner, messages, orders, tasks: tokio::sync::Mutex::new(tasks) })
    }

    /// Whether the session takes no more messages and must be opened again.
    pub(crate) fn is_closed(&self) -> bool {
        self.messages.is_closed() || self.orders().is_none()
    }

    fn orders(&self) -> Option<mpsc::Sender<Order>> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Passes a command to the actor or to the agent.
    pub(crate) async fn send(&self, by: Principal, command: Command) -> Result<(), SessionsError> {
        match command {
            Command::Answer { ask, answer } => self.answer(by, ask, answer).await,
            Command::Change(change) => self.change(by, change).await,
            Command::End => self.end(by).await,
            Command::Prompt { .. }
            | Command::Run { .. }
            | Command::Stop { .. }
            | Command::Interrupt
            | Command::WindUp { .. }
            | Command::Compact => self.order(by, command).await,
        }
    }

    async fn order(&self, by: Principal, command: Command) -> Result<(), SessionsError> {
        let orders = self.orders().ok_or(SessionsError::Closed)?;
        let (done, outcome) = oneshot::channel();
        orders.send(Order { by, command, done }).await.map_err(|_| SessionsError::Closed)?;
        let outcome = outcome.await.map_err(|_| SessionsError::Closed)?;
        outcome.map_err(|error| SessionsError::Agent(error.failure))
    }

    async fn answer(&self, by: Principal, ask: AskId, answer: Answer) -> Result<(), SessionsError> {
        if matches!(answer, Answer::Expired | Answer::Withdrawn) {
            return Err(SessionsError::Invalid("only buddy itself lets an ask expire".to_owned()));
        }
        let (done, outcome) = oneshot::channel();
        self.tell(Message::Answer { by, ask, answer, done }).await?;
        outcome.await.map_err(|_| SessionsError::Closed)?
    }

    async fn change(&self, by: Principal, mut change: Change) -> Result<(), SessionsError> {
        if let Some(title) = change.title.take() {
            let changed = SessionChanged { title: Some(title), ..SessionChanged::default() };
            self.report(Fact::SessionChanged(changed)).await?;
        }
        if change != Change::default() {
            // Only the agent knows the meaning of the rest, so the agent reports the change.
            self.order(by, Command::Change(change)).await?;
        }
        Ok(())
    }

    async fn end(&self, by: Principal) -> Result<(), SessionsError> {
        self.order(by.clone(), Command::Interrupt).await?;
        self.report(Fact::SessionEnded(SessionEnded { by })).await?;
        self.close().await;
        Ok(())
    }

    async fn report(&self, fact: Fact) -> Result<(), SessionsError> {
        let (done, outcome) = oneshot::channel();
        self.tell(Message::Facts { facts: vec![fact], done: Some(done) }).await?;
        outcome.await.map_err(|_| SessionsError::Closed)?.map_err(|_| SessionsError::Closed)
    }

    /// The reader's end of a new subscription.
    pub(crate) async fn subscribe(&self) -> Result<Feed, SessionsError> {
        let (feed, reader) = oneshot::channel();
        self.tell(Message::Subscribe { feed }).await?;
        reader.await.map_err(|_| SessionsError::Closed)
    }

    async fn tell(&self, message: Message) -> Result<(), SessionsError> {
        self.messages.send(message).await.map_err(|_| SessionsError::Closed)
    }

    /// Stops the agent, then the actor, and frees the session for other writers.
    pub(crate) async fn close(&self) {
        drop(self.orders.lock().unwrap_or_else(PoisonError::into_inner).take());
        while let Some(ended) = self.tasks.lock().await.join_next().await {
            if let Err(error) = ended {
                tracing::error!(session = %self.session, %error, "a task of the session panicked");
            }
        }
    }
}

async fn pump(mut agent: Box<dyn AgentSession>, mut queue: mpsc::Receiver<Order>) {
    while let Some(Order { by, command, done }) = queue.recv().await {
        let _ = done.send(agent.command(by, command).await);
    }
    agent.close().await;
}

/// Folds a whole log. Reads its parts concurrently, since reading is most of the work.
async fn read_all(
    store: &dyn SessionStore,
    session: &SessionId,
    head: u64,
) -> Result<Transcript, StoreError> {
    let mut parts = parts(store, session, head);
    let mut transcript = Transcript::default();
    while let Some(part) = parts.next().await {
        for entry in part? {
            transcript.settle(entry).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        }
    }
    Ok(transcript)
}

/// A whole log, settled.
pub(crate) async fn read_log(
    store: &dyn SessionStore,
    session: &SessionId,
    head: u64,
) -> Result<Vec<LogEntry>, StoreError> {
    let mut parts = parts(store, session, head);
    let mut entries = Vec::new();
    while let Some(part) = parts.next().await {
        entries.extend(part?);
    }
    Ok(entries)
}

/// The events before the first damage of a log; the whole log if it is not damaged.
pub(crate) async fn read_whole_part(store: &dyn SessionStore, session: &SessionId) -> Vec<LogEntry> {
    let mut entries = Vec::new();
    while let Ok(page) = store.read(session, entries.len() as u64, WHOLE_PAGE).await {
        if page.is_empty() {
            break;
        }
        entries.extend(page.into_iter().map(LogEntry::Event));
    }
    entries
}

fn parts<'a>(
    store: &'a dyn SessionStore,
    session: &'a SessionId,
    head: u64,
) -> impl Stream<Item = Result<Vec<LogEntry>, StoreError>> + Unpin + 'a {
    let starts = (0..head.div_ceil(PART)).map(|part| part * PART);
    let parts = starts.map(move |after| read_part(store, session, after, (after + PART).min(head)));
    Box::pin(stream::iter(parts).buffered(READS_AT_ONCE))
}

async fn read_part(
    store: &dyn SessionStore,
    session: &SessionId,
    mut after: u64,
    until: u64,
) -> Result<Vec<LogEntry>, StoreError> {
    let mut entries = Vec::new();
    while after < until {
        let read = store.read_settled(session, after, until).await?;
        if read.is_empty() {
            return Err(StoreError::Corrupt(format!("event {} is missing", after + 1)));
        }
        after += read.len() as u64;
        entries.extend(read);
    }
    Ok(entries)
}

/// buddy does not continue a damaged session. The error says what the user can do.
fn with_way_out(error: SessionsError, session: &SessionId) -> SessionsError {
    match error {
        SessionsError::Store(StoreError::Corrupt(reason)) => {
            SessionsError::Store(StoreError::Corrupt(format!(
                "{reason}. buddy adds nothing to this session. Run `buddy store check` to see all damage, \
                 or `buddy resume {session} --fork` to go on from the part that is whole"
            )))
        }
        other => other,
    }
}

fn busy(error: StoreError) -> SessionsError {
    match error {
        StoreError::Busy { session, holder } => SessionsError::Busy { session, holder },
        other => SessionsError::Store(other),
    }
}
