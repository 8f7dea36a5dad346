//! The hub: all live sessions of this process, and access to those that are only in the store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use buddy_protocol::{
    Agent, Attachment, Clock, Command, Event, Fact, ForkKind, ForkPoint, Found, Ids, MAX_IMAGES,
    MAX_IMAGES_BYTES, MAX_TARGETS, NewSession, Principal, SessionId, SessionQuery, SessionStarted,
    SessionState, SessionStore, SessionSummary, Sessions, SessionsError, Subscription, WaitingAsk,
};
use tokio::sync::OnceCell;

use crate::access::{Permission, authorize};
use crate::fork::Fork;
use crate::live::{Live, Parts};
use crate::subscription;

/// The maximum number of live sessions in one process. Each holds its transcript in memory.
const MAX_LIVE: usize = 1_024;
/// The maximum number of events in the answer to one request.
const MAX_EVENTS: usize = 10_000;
/// The maximum size of a prompt, in bytes.
const MAX_PROMPT: usize = 4 * 1024 * 1024;
/// The maximum length of a user's own command, in bytes. Longer ones do not fit into the arguments of a
/// program.
const MAX_COMMAND: usize = 64 * 1024;

/// The parts that a hub is built from.
pub struct HubParts {
    /// The store with the logs.
    pub store: Arc<dyn SessionStore>,
    /// The agents that sessions can be started with.
    pub agents: Vec<Arc<dyn Agent>>,
    /// The clock that stamps events.
    pub clock: Arc<dyn Clock>,
    /// The source of session ids.
    pub ids: Arc<dyn Ids>,
}

/// All live sessions of this process.
pub struct Hub {
    parts: HubParts,
    /// Live sessions and those that are being opened. Locked for lookups only, never while waiting.
    live: Mutex<HashMap<SessionId, Arc<OnceCell<Live>>>>,
}

impl Hub {
    /// A hub without live sessions.
    pub fn new(parts: HubParts) -> Self {
        Self { parts, live: Mutex::default() }
    }

    /// Stops all sessions and frees them for other processes.
    pub async fn close(&self) {
        let cells: Vec<_> = self.cells().drain().map(|(_, cell)| cell).collect();
        let close = |cell: Arc<OnceCell<Live>>| async move {
            if let Some(live) = cell.get() {
                live.close().await;
            }
        };
        futures::future::join_all(cells.into_iter().map(close)).await;
    }

    fn cells(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Arc<OnceCell<Live>>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cell(&self, session: &SessionId) -> Result<Arc<OnceCell<Live>>, SessionsError> {
        let mut cells = self.cells();
        if cells.get(session).and_then(|cell| cell.get()).is_some_and(Live::is_closed) {
            cells.remove(session);
        }
        if !cells.contains_key(session) && cells.len() >= MAX_LIVE {
            // A cell that nobody is opening holds a session that failed to open, or one that was closed.
            cells.retain(|_, cell| {
                Arc::strong_count(cell) > 1 || cell.get().is_some_and(|live| !live.is_closed())
            });
        }
        if !cells.contains_key(session) && cells.len() >= MAX_LIVE {
            return Err(SessionsError::Conflict(format!("{MAX_LIVE} sessions are live already")));
        }
        Ok(cells.entry(session.clone()).or_default().clone())
    }

    fn agent(&self, name: &str) -> Result<Arc<dyn Agent>, SessionsError> {
        let agent = self.parts.agents.iter().find(|agent| agent.name() == name);
        agent.cloned().ok_or_else(|| SessionsError::Invalid(format!("there is no agent `{name}`")))
    }

    fn live_parts(&self, session: &SessionId, agent: &str) -> Result<Parts, SessionsError> {
        Ok(Parts {
            session: session.clone(),
            store: self.parts.store.clone(),
            clock: self.parts.clock.clone(),
            agent: self.agent(agent)?,
        })
    }

    async fn summary(&self, session: &SessionId) -> Result<SessionSummary, SessionsError> {
        self.parts.store.find(session).await?.ok_or_else(|| SessionsError::NotFound(session.clone()))
    }

    /// The owner of a session, if `who` has the permission. A stranger gets the same error as for a session
    /// that does not exist.
    async fn permit(
        &self,
        who: &Principal,
        session: &SessionId,
        permission: Permission,
    ) -> Result<(), SessionsError> {
        let known = self.cells().get(session).and_then(|cell| cell.get()).map(|live| live.owner.clone());
        let owner = match known {
            Some(owner) => owner,
            None => self.summary(session).await?.owner,
        };
        if authorize(who, &owner, Permission::Read).is_err() {
            return Err(SessionsError::NotFound(session.clone()));
        }
        authorize(who, &owner, permission)
    }

    /// The live session, opened if necessary. An ended session stays ended.
    async fn with_live(&self, session: &SessionId) -> Result<Arc<OnceCell<Live>>, SessionsError> {
        let cell = self.cell(session)?;
        let taken_up = cell.get_or_try_init(|| async {
            let summary = self.summary(session).await?;
            if summary.state == SessionState::Ended {
                return Err(SessionsError::Conflict(format!("session `{session}` has ended")));
            }
            Live::resume(self.live_parts(session, &summary.agent)?).await
        });
        taken_up.await?;
        Ok(cell)
    }
}

fn live(cell: &OnceCell<Live>) -> Result<&Live, SessionsError> {
    cell.get().ok_or(SessionsError::Closed)
}

#[async_trait]
impl Sessions for Hub {
    async fn create(&self, who: &Principal, new: NewSession) -> Result<SessionId, SessionsError> {
        authorize(who, who, Permission::Create)?;
        let session = SessionId::new(&*self.parts.ids);
        let parts = self.live_parts(&session, &new.agent)?;
        if new.targets.len() > MAX_TARGETS {
            return Err(SessionsError::Invalid(format!("a session has at most {MAX_TARGETS} targets")));
        }
        let began_with = parts.agent.introduce(&new).await;
        let NewSession { agent, cwd, model, parent, targets } = new;
        let owner = who.clone();
        let started =
            SessionStarted { owner, agent, cwd, model, parent, targets, forked_from: None, began_with };
        let cell = self.cell(&session)?;
        cell.get_or_try_init(|| Live::create(parts, Fact::SessionStarted(started))).await?;
        Ok(session)
    }

    async fn fork(
        &self,
        who: &Principal,
        session: &SessionId,
        point: ForkPoint,
        kind: ForkKind,
    ) -> Result<SessionId, SessionsError> {
        self.permit(who, session, Permission::Read).await?;
        authorize(who, who, Permission::Create)?;
        let summary = self.summary(session).await?;
        self.agent(&summary.agent)?;
        let into = SessionId::new(&*self.parts.ids);
        let now = self.parts.clock.now();
        let fork = Fork { from: summary.id, head: summary.head, into: into.clone(), point, kind, now };
        fork.write(&*self.parts.store).await?;
        Ok(into)
    }

    async fn send(
        &self,
        who: &Principal,
        session: &SessionId,
        command: Command,
    ) -> Result<(), SessionsError> {
        self.permit(who, session, Permission::of(&command)).await?;
        check(&command)?;
        live(&*self.with_live(session).await?)?.send(who.clone(), command).await
    }

    async fn subscribe(
        &self,
        who: &Principal,
        session: &SessionId,
        after: u64,
    ) -> Result<Subscription, SessionsError> {
        self.permit(who, session, Permission::Read).await?;
        let store = self.parts.store.clone();
        let summary = self.summary(session).await?;
        let feed = match summary.state {
            // Nothing more can happen in an ended session, so the log has everything.
            SessionState::Ended => subscription::pair(summary.head).1,
            _ => live(&*self.with_live(session).await?)?.subscribe().await?,
        };
        Ok(subscription::stream(store, session.clone(), after, feed))
    }

    async fn events(
        &self,
        who: &Principal,
        session: &SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Event>, SessionsError> {
        self.permit(who, session, Permission::Read).await?;
        Ok(self.parts.store.read(session, after, limit.min(MAX_EVENTS)).await?)
    }

    async fn find(&self, who: &Principal, session: &SessionId) -> Result<SessionSummary, SessionsError> {
        self.permit(who, session, Permission::Read).await?;
        self.summary(session).await
    }

    async fn asks(&self, who: &Principal) -> Result<Vec<WaitingAsk>, SessionsError> {
        let query =
            SessionQuery { owner: Some(who.name.clone()), is_waiting: true, ..SessionQuery::default() };
        let waiting = |summary: SessionSummary| {
            let SessionSummary { id, title, parent, cwd, asks, .. } = summary;
            asks.into_iter().map(move |ask| WaitingAsk {
                session: id.clone(),
                title: title.clone(),
                parent: parent.clone(),
                cwd: cwd.clone(),
                ask,
            })
        };
        Ok(self.parts.store.list(query).await?.into_iter().flat_map(waiting).collect())
    }

    async fn list(&self, who: &Principal, query: SessionQuery) -> Result<Vec<SessionSummary>, SessionsError> {
        let own = SessionQuery { owner: Some(who.name.clone()), ..query };
        Ok(self.parts.store.list(own).await?)
    }

    async fn search(&self, who: &Principal, words: &str, limit: usize) -> Result<Vec<Found>, SessionsError> {
        Ok(self.parts.store.search(&who.name, words, limit).await?)
    }
}

fn check(command: &Command) -> Result<(), SessionsError> {
    match command {
        Command::Prompt { text, images, .. } if text.trim().is_empty() && images.is_empty() => {
            Err(SessionsError::Invalid("the prompt is empty".to_owned()))
        }
        Command::Prompt { typed: Some(typed), .. } if typed.len() > MAX_PROMPT => {
            Err(SessionsError::Invalid(format!("more than {MAX_PROMPT} bytes of the prompt were typed")))
        }
        Command::Prompt { text, .. } if text.len() > MAX_PROMPT => Err(SessionsError::Invalid(format!(
            "the prompt has {} bytes, {MAX_PROMPT} are allowed",
            text.len()
        ))),
        Command::Prompt { images, .. } if images.len() > MAX_IMAGES => Err(SessionsError::Invalid(format!(
            "the prompt has {} images, {MAX_IMAGES} are allowed",
            images.len()
        ))),
        Command::Prompt { images, .. } if bytes_of(images) > MAX_IMAGES_BYTES => {
            Err(SessionsError::Invalid(format!(
                "the images of the prompt have {} bytes together, {MAX_IMAGES_BYTES} are allowed",
                bytes_of(images)
            )))
        }
        Command::Run { command, .. } if command.trim().is_empty() => {
            Err(SessionsError::Invalid("there is no command to run".to_owned()))
        }
        Command::Run { command, .. } if command.len() > MAX_COMMAND => Err(SessionsError::Invalid(format!(
            "the command has {} bytes, {MAX_COMMAND} are allowed",
            command.len()
        ))),
        _ => Ok(()),
    }
}

/// The approximate size of the files; four base64 characters encode three bytes.
fn bytes_of(images: &[Attachment]) -> usize {
    images.iter().map(|image| image.data.text().len() / 4 * 3).sum()
}
