//! A live session: its actor, and the pump that hands commands to its agent.
//!
//! The two are separate tasks, because an agent reports facts to the actor before it accepts a command.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use buddy_protocol::{
    Agent, AgentError, AgentSession, Answer, AskId, AuthoredFact, Change, Clock, Command, Event, Fact,
    ItemId, LogEntry, Opening, Principal, SessionChanged, SessionEnded, SessionId, SessionStore,
    SessionWriter, SessionsError, StoreError, Transcript, recovery,
};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, Stream, StreamExt, stream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::access::SessionResource;
use crate::actor::{Actor, ActorState, MAILBOX, Message};
use crate::feed::Feed;
use crate::limits::limits_in;
use crate::sink::ActorSink;

/// The number of events of a damaged log to read at once.
const WHOLE_PAGE: usize = 1000;

/// The maximum number of commands that wait for an agent.
const COMMANDS: usize = 64;
/// The maximum number of commands whose outcome an agent owes. An agent that holds back fewer always takes an interrupt.
const UNDER_WAY: usize = 128;
/// The number of events per part of a log that is read when a session is opened.
const PART: u64 = 2_000;
/// The number of parts to read concurrently.
const READS_AT_ONCE: usize = 2;

struct PumpOrder {
    by: Principal,
    command: Command,
    done: oneshot::Sender<Result<(), Undone>>,
}

/// The reason why the agent did not do what a command says.
enum Undone {
    Refused(AgentError),
    /// The session is being unloaded, and the agent has not seen the command.
    Unloaded,
}

/// The reason why a command was not taken.
#[derive(Debug)]
pub(crate) enum Unsent {
    Refused(SessionsError),
    /// The session is being unloaded. The command had no effect and can be sent again.
    Unloaded,
}

impl From<SessionsError> for Unsent {
    fn from(error: SessionsError) -> Self {
        Self::Refused(error)
    }
}

/// Counts a command until the agent has taken it, or its sender no longer waits.
struct Pending<'a>(&'a AtomicUsize);

impl<'a> Pending<'a> {
    fn count(counter: &'a AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::SeqCst);
        Self(counter)
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Work for the pump.
enum Errand {
    Command(Box<PumpOrder>),
    /// Unload the session if it is idle.
    Unload(oneshot::Sender<bool>),
}

/// A handle on a live session.
pub(crate) struct Live {
    session: SessionId,
    pub(crate) access: SessionResource,
    messages: mpsc::Sender<Message>,
    errands: Mutex<Option<mpsc::Sender<Errand>>>,
    /// The time of the last command.
    used: Mutex<Instant>,
    /// Commands that the agent has not taken yet.
    pending: AtomicUsize,
    tasks: tokio::sync::Mutex<JoinSet<()>>,
}

/// The parts that a live session is built from.
pub(crate) struct Parts {
    pub(crate) session: SessionId,
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) idle_after: Duration,
    /// Cancelled to give the opening up while the agent takes its time with it.
    pub(crate) give_up: CancellationToken,
}

impl Live {
    /// Starts a session whose first fact is `first`.
    pub(crate) async fn create(parts: Parts, first: AuthoredFact) -> Result<Self, SessionsError> {
        let writer = parts.store.writer(&parts.session).await.map_err(busy)?;
        Self::begin(parts, writer, Transcript::default(), vec![first]).await
    }

    /// Opens a session from its log. First closes everything that a dead writer left open.
    pub(crate) async fn resume(parts: Parts) -> Result<Self, SessionsError> {
        let session = parts.session.clone();
        if parts.give_up.is_cancelled() {
            return Err(interrupted_opening(&session));
        }
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
        facts: Vec<AuthoredFact>,
    ) -> Result<Self, SessionsError> {
        let time = parts.clock.now();
        let stamp = |(place, AuthoredFact { by, fact })| {
            let seq = Some(transcript.head() + 1 + place as u64);
            Arc::new(Event { session: parts.session.clone(), seq, time, by, fact })
        };
        let events: Vec<Arc<Event>> = facts.into_iter().enumerate().map(stamp).collect();
        if !events.is_empty() {
            writer.append(events.clone()).await?;
        }
        for event in &events {
            transcript.apply(event).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        }
        let started = transcript.started().ok_or_else(|| SessionsError::NotFound(parts.session.clone()))?;
        let access = SessionResource {
            owner: started.owner.id.clone(),
            workspace: started.cwd.clone(),
            ancestors: Vec::new(),
        };
        let limits = limits_in(&*parts.store, &parts.session, started).await?;
        let opening = Opening { session: parts.session.clone(), transcript, limits };
        Self::spawn(parts, writer, opening, access).await
    }

    async fn spawn(
        parts: Parts,
        writer: Box<dyn SessionWriter>,
        opening: Opening,
        access: SessionResource,
    ) -> Result<Self, SessionsError> {
        let Parts { session, clock, agent, idle_after, give_up, .. } = parts;
        let (messages, mailbox) = mpsc::channel(MAILBOX);
        let (withdrawn, withdrawals) = mpsc::unbounded_channel();
        let head = opening.transcript.head();
        let mut tasks = JoinSet::new();
        let actor = Actor {
            session: session.clone(),
            clock,
            writer,
            head,
            messages: mailbox,
            withdrawn: withdrawals,
            state: ActorState::default(),
        };
        // A failure is logged where it happens; every waiting sender sees the actor's channel close.
        tasks.spawn(async move { drop(actor.run().await) });
        let sink = Arc::new(ActorSink { messages: messages.clone(), withdrawn });
        let opened = tokio::select! {
            opened = agent.open(opening, sink) => {
                opened.map_err(|error| SessionsError::Agent(error.failure))
            }
            () = give_up.cancelled() => Err(interrupted_opening(&session)),
        };
        let agent_session = match opened {
            Ok(agent_session) => agent_session,
            Err(error) => {
                // The next attempt can have the session only when its writer is gone.
                let _ = messages.send(Message::Stop).await;
                tasks.join_next().await;
                return Err(error);
            }
        };
        let (errands, queue) = mpsc::channel(COMMANDS);
        let pump = Pump {
            agent: agent_session,
            queue,
            actor: messages.clone(),
            idle_after,
            under_way: FuturesUnordered::new(),
        };
        tasks.spawn(pump.run());
        Ok(Self {
            session,
            access,
            messages,
            errands: Mutex::new(Some(errands)),
            used: Mutex::new(Instant::now()),
            pending: AtomicUsize::new(0),
            tasks: tokio::sync::Mutex::new(tasks),
        })
    }

    /// Whether the session takes no more messages and must be opened again.
    pub(crate) fn is_closed(&self) -> bool {
        self.messages.is_closed() || self.errands().is_none_or(|errands| errands.is_closed())
    }

    fn errands(&self) -> Option<mpsc::Sender<Errand>> {
        self.errands.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The time of the last command.
    pub(crate) fn last_used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Unloads the session if it is idle. Returns whether it is gone.
    pub(crate) async fn unload(&self) -> bool {
        // The agent may take its time with a command, which nobody should have to wait for.
        if self.pending.load(Ordering::SeqCst) > 0 {
            return false;
        }
        let Some(errands) = self.errands() else { return false };
        let (done, outcome) = oneshot::channel();
        if errands.try_send(Errand::Unload(done)).is_err() || !outcome.await.unwrap_or(false) {
            return false;
        }
        self.close().await;
        true
    }

    /// Passes a command to the actor or to the agent.
    pub(crate) async fn send(&self, by: Principal, command: Command) -> Result<(), Unsent> {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        match command {
            Command::Answer { ask, answer } => self.answer(by, ask, answer).await,
            Command::Change(change) => self.change(by, change).await,
            Command::End => self.end(by).await,
            Command::Prompt { .. }
            | Command::Run { .. }
            | Command::Call { .. }
            | Command::Stop { .. }
            | Command::Interrupt { .. }
            | Command::WindUp { .. }
            | Command::Compact => self.order(by, command).await,
        }
    }

    async fn order(&self, by: Principal, command: Command) -> Result<(), Unsent> {
        let errands = self.errands().ok_or(Unsent::Unloaded)?;
        let (done, outcome) = oneshot::channel();
        let _pending = Pending::count(&self.pending);
        let sent = errands.send(Errand::Command(Box::new(PumpOrder { by, command, done }))).await;
        // The pump closes its queue only to unload.
        sent.map_err(|_| Unsent::Unloaded)?;
        // The pump ends with the last sender, and a session that is closed waits for no outcome.
        drop(errands);
        outcome.await.map_err(|_| SessionsError::Closed)?.map_err(|undone| match undone {
            Undone::Refused(error) => Unsent::Refused(SessionsError::Agent(error.failure)),
            Undone::Unloaded => Unsent::Unloaded,
        })
    }

    async fn answer(&self, by: Principal, ask: AskId, answer: Answer) -> Result<(), Unsent> {
        if matches!(answer, Answer::Expired | Answer::Withdrawn) {
            return Err(SessionsError::Invalid("only buddy itself lets an ask expire".to_owned()).into());
        }
        let (done, outcome) = oneshot::channel();
        self.tell(Message::Answer { by, ask, answer, done }).await?;
        Ok(outcome.await.map_err(|_| Unsent::Unloaded)??)
    }

    async fn change(&self, by: Principal, mut change: Change) -> Result<(), Unsent> {
        if let Some(title) = change.title.take() {
            let changed = SessionChanged { title: Some(title), ..SessionChanged::default() };
            self.report(AuthoredFact::new(&by, Fact::SessionChanged(changed))).await?;
        }
        if change != Change::default() {
            // Only the agent knows the meaning of the rest, so the agent reports the change.
            self.order(by, Command::Change(change)).await?;
        }
        Ok(())
    }

    async fn end(&self, by: Principal) -> Result<(), Unsent> {
        self.order(by.clone(), Command::interrupt()).await?;
        self.report(AuthoredFact::new(&by, Fact::SessionEnded(SessionEnded {}))).await?;
        self.close().await;
        Ok(())
    }

    async fn report(&self, fact: AuthoredFact) -> Result<(), Unsent> {
        let (done, outcome) = oneshot::channel();
        self.tell(Message::Facts { facts: vec![fact], done: Some(done) }).await?;
        // A fact that the actor did not take was not stored.
        outcome.await.map_err(|_| Unsent::Unloaded)?.map_err(|_| SessionsError::Closed.into())
    }

    /// The client that made a call which runs.
    pub(crate) async fn caller(&self, item: ItemId) -> Option<Principal> {
        let (answer, caller) = oneshot::channel();
        self.tell(Message::Caller { item, answer }).await.ok()?;
        caller.await.ok()?
    }

    /// The reader's end of a new subscription.
    pub(crate) async fn subscribe(&self) -> Result<Feed, Unsent> {
        let (feed, reader) = oneshot::channel();
        self.tell(Message::Subscribe { feed }).await?;
        reader.await.map_err(|_| Unsent::Unloaded)
    }

    async fn tell(&self, message: Message) -> Result<(), Unsent> {
        self.messages.send(message).await.map_err(|_| Unsent::Unloaded)
    }

    /// Stops the agent, then the actor, and frees the session for other writers.
    pub(crate) async fn close(&self) {
        drop(self.errands.lock().unwrap_or_else(PoisonError::into_inner).take());
        while let Some(ended) = self.tasks.lock().await.join_next().await {
            if let Err(error) = ended {
                tracing::error!(session = %self.session, %error, "a task of the session panicked");
            }
        }
    }
}

/// Hands commands to the agent in their order, until the session is closed or has been idle for long. It does not wait for
/// the outcome of one before it hands the next one over.
struct Pump {
    agent: Box<dyn AgentSession>,
    queue: mpsc::Receiver<Errand>,
    actor: mpsc::Sender<Message>,
    idle_after: Duration,
    /// Commands that the agent has, each until its sender knows the outcome.
    under_way: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl Pump {
    async fn run(mut self) {
        let mut wait = self.idle_after;
        loop {
            let errand = tokio::select! {
                errand = timeout(wait, self.queue.recv()), if self.under_way.len() < UNDER_WAY => errand,
                Some(()) = self.under_way.next() => continue,
            };
            match errand {
                Ok(Some(Errand::Command(order))) => self.hand_over(*order).await,
                Ok(Some(Errand::Unload(done))) => {
                    let is_idle = self.idle_for().await.is_some();
                    let _ = done.send(is_idle);
                    if is_idle {
                        break;
                    }
                }
                Ok(None) => break,
                Err(_) => match self.idle_for().await {
                    Some(idle) if idle >= self.idle_after => break,
                    Some(idle) => {
                        wait = self.idle_after.saturating_sub(idle);
                        continue;
                    }
                    None => {}
                },
            }
            wait = self.idle_after;
        }
        self.refuse_rest().await;
        self.agent.close().await;
        // A closed agent owes nothing more.
        while self.under_way.next().await.is_some() {}
        // The actor may be gone already if its store failed.
        let _ = self.actor.send(Message::Stop).await;
    }

    async fn hand_over(&mut self, order: PumpOrder) {
        let PumpOrder { by, command, done } = order;
        let outcome = self.agent.command(by, command).await;
        let answer = outcome.map(|outcome| drop(done.send(outcome.map_err(Undone::Refused))));
        self.under_way.push(answer.boxed());
    }

    /// The time since the session became idle; `None` if it is not.
    async fn idle_for(&mut self) -> Option<Duration> {
        if self.agent.is_busy() || !self.under_way.is_empty() {
            return None;
        }
        let (answer, idle) = oneshot::channel();
        self.actor.send(Message::IdleFor { answer }).await.ok()?;
        idle.await.ok()?
    }

    /// Gives commands back that came while the session was being unloaded.
    async fn refuse_rest(&mut self) {
        self.queue.close();
        while let Some(errand) = self.queue.recv().await {
            match errand {
                Errand::Command(order) => drop(order.done.send(Err(Undone::Unloaded))),
                Errand::Unload(done) => drop(done.send(true)),
            }
        }
    }
}

/// Folds a whole log. Reads its parts concurrently, since reading is most of the work.
pub(crate) async fn read_all(
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

fn interrupted_opening(session: &SessionId) -> SessionsError {
    SessionsError::Conflict(format!("session `{session}` was interrupted while it was being opened"))
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
