//! The session actor: the only writer of a session's log.
//!
//! It takes messages, drains all that are ready, stamps the facts and appends them in one go. Then it
//! publishes them and answers the waiting senders. It publishes or acknowledges nothing that the store has
//! not taken. If the store fails, the actor stops: a session whose log cannot grow must not go on.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use buddy_protocol::{
    Answer, Answered, Ask, AskId, Asked, AuthoredFact, Clock, Content, Event, Fact, ItemId, Misfit,
    Principal, SessionId, SessionWriter, SessionsError, SinkClosed, StoreError,
};
use fail::fail_point;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::asks::Asks;
use crate::feed::{Feed, Subscriber, pair};
use crate::parts::parts;

/// The size of an actor's mailbox. Senders wait when it is full.
pub(crate) const MAILBOX: usize = 1_024;
/// The maximum number of messages in one append.
const MAX_BATCH: usize = 512;

/// A message to the actor.
pub(crate) enum Message {
    /// The agent or the hub reports facts; `done` waits until they are durable.
    Facts { facts: Vec<AuthoredFact>, done: Option<oneshot::Sender<Result<(), SinkClosed>>> },
    /// The agent asks.
    Ask { ask: Box<Ask>, asker: oneshot::Sender<Answer> },
    /// A user answers.
    Answer { by: Principal, ask: AskId, answer: Answer, done: oneshot::Sender<Result<(), SessionsError>> },
    /// A face subscribes.
    Subscribe { feed: oneshot::Sender<Feed> },
    /// Which client made this call, if it runs?
    Caller { item: ItemId, answer: oneshot::Sender<Option<Principal>> },
    /// How long has nothing been going on? `None` if something is.
    IdleFor { answer: oneshot::Sender<Option<Duration>> },
    /// Finish all queued messages and stop.
    Stop,
}

/// A sender that waits for the next flush.
enum Waiter {
    Durable(oneshot::Sender<Result<(), SinkClosed>>),
    Answered { ask: AskId, answer: Answer, done: Option<oneshot::Sender<Result<(), SessionsError>>> },
}

/// The state of one live session.
pub(crate) struct Actor {
    pub(crate) session: SessionId,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) writer: Box<dyn SessionWriter>,
    /// The number of the last event in the store.
    pub(crate) head: u64,
    pub(crate) messages: mpsc::Receiver<Message>,
    /// Withdrawn asks. Unbounded, but an open ask sends at most once and open asks are bounded.
    pub(crate) withdrawn: mpsc::UnboundedReceiver<AskId>,
    pub(crate) state: ActorState,
}

/// The actor's state between messages.
pub(crate) struct ActorState {
    /// The time of the last message.
    active: Instant,
    /// Whether a turn runs.
    is_in_turn: bool,
    /// Items that have not ended, such as a command of the user, each with the client whose call it is.
    open_items: HashMap<ItemId, Option<Principal>>,
    subscribers: Vec<Subscriber>,
    asks: Asks,
    staged: Vec<AuthoredFact>,
    waiters: Vec<Waiter>,
    is_stopping: bool,
}

impl Default for ActorState {
    fn default() -> Self {
        Self {
            active: Instant::now(),
            is_in_turn: false,
            open_items: HashMap::new(),
            subscribers: Vec::new(),
            asks: Asks::default(),
            staged: Vec::new(),
            waiters: Vec::new(),
            is_stopping: false,
        }
    }
}

impl ActorState {
    /// The time since nothing goes on any more: no turn, no open item, no ask and no reader.
    fn idle_for(&mut self) -> Option<Duration> {
        let readers = self.subscribers.len();
        self.subscribers.retain(|subscriber| !subscriber.is_gone());
        if self.subscribers.len() < readers {
            self.active = Instant::now();
        }
        let is_idle = !self.is_in_turn
            && self.open_items.is_empty()
            && self.subscribers.is_empty()
            && self.asks.is_empty()
            && self.staged.is_empty();
        is_idle.then(|| self.active.elapsed())
    }

    /// Notes what a fact begins or ends.
    fn note(&mut self, fact: &Fact) {
        match fact {
            Fact::TurnStarted(_) => self.is_in_turn = true,
            Fact::TurnEnded(_) => self.is_in_turn = false,
            fact => match fact.item() {
                Some(item) if item.status.is_final() => {
                    self.open_items.remove(&item.id);
                }
                Some(item) => {
                    let caller = match &item.content {
                        Content::ToolCall(call) => call.caller.clone(),
                        _ => None,
                    };
                    self.open_items.insert(item.id.clone(), caller);
                }
                None => {}
            },
        }
    }
}

impl Actor {
    /// Runs until it is told to stop, all senders are gone, or the store fails.
    pub(crate) async fn run(mut self) -> Result<(), StoreError> {
        while !self.state.is_stopping {
            let deadline = self.state.asks.next_deadline();
            tokio::select! {
                message = self.messages.recv() => match message {
                    Some(message) => self.take(message).await?,
                    None => break,
                },
                Some(ask) = self.withdrawn.recv() => self.settle(ask, Answer::Withdrawn),
                () = sleep_until(deadline) => self.expire(),
            }
            self.flush().await?;
        }
        Ok(())
    }

    async fn take(&mut self, first: Message) -> Result<(), StoreError> {
        self.handle(first).await?;
        for _ in 1..MAX_BATCH {
            match self.messages.try_recv() {
                Ok(message) => self.handle(message).await?,
                Err(_) => break,
            }
        }
        Ok(())
    }

    async fn handle(&mut self, message: Message) -> Result<(), StoreError> {
        match message {
            Message::Facts { facts, done } => {
                self.state.staged.extend(facts);
                self.state.waiters.extend(done.map(Waiter::Durable));
            }
            Message::Ask { ask, asker } => self.ask(*ask, asker),
            Message::Answer { by, ask, answer, done } => self.answer(by, ask, answer, done),
            Message::Subscribe { feed } => {
                self.flush().await?;
                let (subscriber, reader) = pair(self.head);
                if feed.send(reader).is_ok() {
                    self.state.subscribers.push(subscriber);
                }
            }
            Message::Caller { item, answer } => {
                let _ = answer.send(self.state.open_items.get(&item).cloned().flatten());
                return Ok(());
            }
            Message::IdleFor { answer } => {
                let _ = answer.send(self.state.idle_for());
                return Ok(());
            }
            Message::Stop => self.state.is_stopping = true,
        }
        self.state.active = Instant::now();
        Ok(())
    }

    fn ask(&mut self, ask: Ask, asker: oneshot::Sender<Answer>) {
        if self.state.asks.is_full() {
            let reason = "too many asks wait in this session".to_owned();
            let _ = asker.send(Answer::Unanswered { reason });
            return;
        }
        self.state.asks.open(&ask, self.clock.now(), asker);
        self.state.staged.push(Fact::Asked(Asked { ask }).into());
    }

    fn answer(
        &mut self,
        by: Principal,
        ask: AskId,
        answer: Answer,
        done: oneshot::Sender<Result<(), SessionsError>>,
    ) {
        let is_taken =
            |waiter: &Waiter| matches!(waiter, Waiter::Answered { ask: taken, .. } if *taken == ask);
        let refusal = match self.state.asks.accepts(&ask, &answer) {
            Some(_) if self.state.waiters.iter().any(is_taken) => Some(not_open(&ask)),
            Some(Ok(())) => None,
            Some(Err(Misfit::Word)) if has_word(&answer) => Some(self.wrong_word(&ask)),
            Some(Err(misfit)) => Some(SessionsError::Invalid(misfit.to_string())),
            None => Some(not_open(&ask)),
        };
        if let Some(refusal) = refusal {
            let _ = done.send(Err(refusal));
            return;
        }
        // An unanswered ask is no user's decision, whoever reports it.
        let by = if matches!(answer, Answer::Unanswered { .. }) { Principal::system() } else { by };
        self.stage_answer(&by, &ask, &answer);
        self.state.waiters.push(Waiter::Answered { ask, answer, done: Some(done) });
    }

    /// Counts a wrong word. After the last permitted one the ask is denied.
    fn wrong_word(&mut self, ask: &AskId) -> SessionsError {
        let left = self.state.asks.count_wrong_word(ask);
        if left == 0 {
            let reason = Some("the word was wrong too often".to_owned());
            self.settle(ask.clone(), Answer::Deny { reason });
            return SessionsError::Invalid("that is not the word either, so this is denied".to_owned());
        }
        let tries = if left == 1 { "1 try is".to_owned() } else { format!("{left} tries are") };
        SessionsError::Invalid(format!("that is not the word; {tries} left"))
    }

    /// Answers an ask in buddy's own name.
    fn settle(&mut self, ask: AskId, answer: Answer) {
        if self.state.asks.is_open(&ask) {
            self.stage_answer(&Principal::system(), &ask, &answer);
            self.state.waiters.push(Waiter::Answered { ask, answer, done: None });
        }
    }

    fn stage_answer(&mut self, by: &Principal, ask: &AskId, answer: &Answer) {
        let answered = Answered { ask: ask.clone(), answer: answer.clone() };
        self.state.staged.push(AuthoredFact::new(by, Fact::Answered(answered)));
    }

    fn expire(&mut self) {
        for ask in self.state.asks.expired(Instant::now()) {
            self.settle(ask, Answer::Expired);
        }
    }

    /// Stamp, append, publish, answer: in this order.
    async fn flush(&mut self) -> Result<(), StoreError> {
        let events = self.stamp();
        for event in &events {
            self.state.note(&event.fact);
        }
        let durable: Vec<Arc<Event>> = events.iter().filter(|event| event.seq.is_some()).cloned().collect();
        if !durable.is_empty() {
            fail_point!("hub.stamped");
            for part in parts(&durable, usize::MAX) {
                self.writer.append(part).await.inspect_err(|error| {
                    tracing::error!(session = %self.session, %error, "cannot append to the session's log");
                })?;
            }
            fail_point!("hub.appended");
        }
        self.head = events.iter().rev().find_map(|event| event.seq).unwrap_or(self.head);
        self.publish(&events);
        self.answer_waiters();
        Ok(())
    }

    fn stamp(&mut self) -> Vec<Arc<Event>> {
        let time = self.clock.now();
        let mut seq = self.head;
        let stamp = |AuthoredFact { by, fact }| {
            let seq = fact.is_durable().then(|| {
                seq += 1;
                seq
            });
            Arc::new(Event { session: self.session.clone(), seq, time, by, fact })
        };
        self.state.staged.drain(..).map(stamp).collect()
    }

    fn publish(&mut self, events: &[Arc<Event>]) {
        self.state.subscribers.retain(|subscriber| events.iter().all(|event| subscriber.offer(event)));
    }

    fn answer_waiters(&mut self) {
        for waiter in self.state.waiters.drain(..) {
            match waiter {
                Waiter::Durable(done) => {
                    let _ = done.send(Ok(()));
                }
                Waiter::Answered { ask, answer, done } => {
                    self.state.asks.settle(&ask, answer);
                    let _ = done.map(|done| done.send(Ok(())));
                }
            }
        }
    }
}

fn not_open(ask: &AskId) -> SessionsError {
    SessionsError::Conflict(format!("ask `{ask}` does not wait for an answer"))
}

/// Whether an answer has a word at all. An answer without one is not a guess.
fn has_word(answer: &Answer) -> bool {
    match answer {
        Answer::Allow { word, .. } => word.is_some(),
        Answer::Each { answers } => answers.iter().any(has_word),
        _ => false,
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
