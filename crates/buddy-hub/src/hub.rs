//! The hub: all live sessions of this process, and access to those that are only in the store.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use buddy_protocol::{
    Agent, Attachment, AuthoredFact, BadTerms, Clock, Command, CommandKey, CommandKeys, Event, Fact,
    ForkKind, ForkPoint, FoundPage, Ids, KeyClaim, KeyedCommand, MAX_IMAGES, MAX_IMAGES_BYTES, MAX_TARGETS,
    Members, NewSession, Principal, PrincipalId, PrincipalKind, SearchQuery, SessionBounds, SessionCursor,
    SessionId, SessionPage, SessionQuery, SessionStarted, SessionState, SessionStore, SessionSummary,
    Sessions, SessionsError, Subscription, WaitingAsk, WaitingAskPage,
};
use tokio_util::sync::CancellationToken;

use crate::access::{Action, OwnerScope, Resource, SessionResource, authorize};
use crate::feed::pair;
use crate::fork::Fork;
use crate::limits::MAX_DEPTH;
use crate::live::{Live, Parts, Unsent, read_all};
use crate::live_sessions::{LiveCell, LiveSessions, SessionCell};
use crate::subscription;

/// The maximum number of live sessions in one process. Each holds its transcript in memory.
const MAX_LIVE: usize = 1_024;
/// The time after which an idle session is unloaded: long enough that a user who comes back does not wait for it.
const IDLE_AFTER: Duration = Duration::from_mins(10);
/// The number of attempts to send a command to a session that is unloaded at that moment.
const SEND_ATTEMPTS: usize = 3;
/// The maximum number of events in the answer to one request.
const MAX_EVENTS: usize = 10_000;
/// The number of waiting sessions that are read at once.
const WAITING_PAGE: usize = 200;
/// The maximum size of a prompt, in bytes.
const MAX_PROMPT: usize = 4 * 1024 * 1024;
/// The maximum length of the name of a tool, in bytes.
const MAX_TOOL_NAME: usize = 128;
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
    /// Roles and memberships of users.
    pub members: Arc<dyn Members>,
    /// The memory of keys that commands came with.
    pub keys: Arc<dyn CommandKeys>,
    /// Bounds on live sessions.
    pub limits: HubLimits,
}

/// Bounds on live sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HubLimits {
    /// The maximum number of live sessions. Beyond it an idle one is unloaded.
    pub max_live: usize,
    /// The time after which an idle session is unloaded.
    pub idle_after: Duration,
}

impl Default for HubLimits {
    fn default() -> Self {
        Self { max_live: MAX_LIVE, idle_after: IDLE_AFTER }
    }
}

/// All live sessions of this process.
pub struct Hub {
    parts: HubParts,
    live: Arc<LiveSessions>,
}

impl Hub {
    /// A hub without live sessions.
    pub fn new(parts: HubParts) -> Self {
        let live = Arc::new(LiveSessions::new(parts.limits.max_live));
        Self { parts, live }
    }

    /// Stops all sessions and frees them for other processes.
    pub async fn close(&self) {
        self.live.close().await;
    }

    fn agent(&self, name: &str) -> Result<Arc<dyn Agent>, SessionsError> {
        let agent = self.parts.agents.iter().find(|agent| agent.name() == name);
        agent.cloned().ok_or_else(|| SessionsError::Invalid(format!("there is no agent `{name}`")))
    }

    fn live_parts(
        &self,
        session: &SessionId,
        agent: &str,
        give_up: CancellationToken,
    ) -> Result<Parts, SessionsError> {
        Ok(Parts {
            session: session.clone(),
            store: self.parts.store.clone(),
            clock: self.parts.clock.clone(),
            agent: self.agent(agent)?,
            idle_after: self.parts.limits.idle_after,
            give_up,
        })
    }

    async fn summary(&self, session: &SessionId) -> Result<SessionSummary, SessionsError> {
        self.parts.store.find(session).await?.ok_or_else(|| SessionsError::NotFound(session.clone()))
    }

    fn authorize(
        &self,
        who: &Principal,
        action: Action,
        resource: Resource<'_>,
    ) -> Result<(), SessionsError> {
        Ok(authorize(&*self.parts.members, who, action, resource)?)
    }

    /// Whether `who` may see a session in a list.
    fn is_visible(&self, who: &Principal, summary: &SessionSummary) -> bool {
        self.authorize(who, Action::Read, Resource::Session(&SessionResource::of(summary))).is_ok()
    }

    /// Refuses unless `who` may do this in a session. A stranger gets the same error as for a session that does not
    /// exist.
    async fn permit(
        &self,
        who: &Principal,
        session: &SessionId,
        action: Action,
    ) -> Result<(), SessionsError> {
        let mut resource = match self.live.access(session) {
            Some(access) => access,
            None => SessionResource::of(&self.summary(session).await?),
        };
        if self.authorize(who, Action::Read, Resource::Session(&resource)).is_err() {
            return Err(SessionsError::NotFound(session.clone()));
        }
        if action == Action::Attach {
            resource.ancestors = self.owners_above(session).await?;
        }
        self.authorize(who, action, Resource::Session(&resource))
    }

    /// Refuses a command unless `who` may send it. A client may stop a call that it made itself.
    async fn permit_command(
        &self,
        who: &Principal,
        session: &SessionId,
        command: &Command,
    ) -> Result<(), SessionsError> {
        let permitted = self.permit(who, session, Action::of(command)).await;
        let (Command::Stop { item }, Err(SessionsError::Forbidden { .. })) = (command, &permitted) else {
            return permitted;
        };
        // Only a call that runs can be stopped, and then its session is live here.
        let call = self.live.access(session).zip(self.live.caller(session, item).await);
        let Some((session, caller)) = call else { return permitted };
        self.authorize(who, Action::Stop, Resource::Call { session: &session, caller: &caller })
    }

    /// The owners of the sessions above a session.
    async fn owners_above(&self, session: &SessionId) -> Result<Vec<PrincipalId>, SessionsError> {
        let mut owners = Vec::new();
        let mut next = self.summary(session).await?.parent;
        while let Some(parent) = next {
            if owners.len() + 2 >= MAX_DEPTH {
                return Err(SessionsError::Invalid(format!(
                    "session `{session}` is {MAX_DEPTH} sessions deep; open the new one above it"
                )));
            }
            let summary = self.summary(&parent).await?;
            owners.push(summary.owner.id);
            next = summary.parent;
        }
        Ok(owners)
    }

    /// The owner of a session that `who` starts: the user that an agent acts for, otherwise `who`.
    async fn owner_of_new(
        &self,
        who: &Principal,
        parent: Option<&SessionId>,
    ) -> Result<Principal, SessionsError> {
        let Some(user) = who.on_behalf_of.clone() else { return Ok(who.clone()) };
        let above = match parent {
            Some(parent) => Some(self.summary(parent).await?.owner),
            None => None,
        };
        let id = PrincipalId::User(user.clone());
        // The name is only shown; without a session of the user's above, the id has to do.
        Ok(above.filter(|owner| owner.id == id).unwrap_or_else(|| Principal::user(user, id.as_str())))
    }

    /// The bounds that a session sets for those below it, as it is now.
    async fn bounds_below(&self, parent: &SessionId) -> Result<SessionBounds, SessionsError> {
        let head = self.summary(parent).await?.head;
        let transcript = read_all(&*self.parts.store, parent, head).await?;
        SessionBounds::of(&transcript).ok_or_else(|| SessionsError::NotFound(parent.clone()))
    }

    /// A session that is to be started, with nothing wider than in the session above it.
    async fn bounded(&self, mut new: NewSession) -> Result<NewSession, SessionsError> {
        let invalid = |error: BadTerms| SessionsError::Invalid(error.to_string());
        new.terms.check().map_err(invalid)?;
        if new.targets.len() > MAX_TARGETS {
            return Err(SessionsError::Invalid(format!("a session has at most {MAX_TARGETS} targets")));
        }
        if let Some(parent) = &new.parent {
            let above = self.bounds_below(parent).await?;
            new.terms = new.terms.below(&above.terms).map_err(invalid)?;
            new.targets = above.admit(&new.cwd, new.targets).map_err(invalid)?;
        }
        Ok(new)
    }

    /// An id that a client chose, if no session has it.
    async fn unused(&self, chosen: SessionId) -> Result<SessionId, SessionsError> {
        match self.parts.store.find(&chosen).await? {
            Some(_) => Err(id_taken(&chosen)),
            None => Ok(chosen),
        }
    }

    /// The live session, opened if necessary. An ended session stays ended.
    async fn with_live(&self, session: &SessionId) -> Result<LiveCell, SessionsError> {
        let cell = self.live.cell(session).await?;
        let is_new = cell.get().is_none();
        let taken_up = cell.get_or_open(|give_up| async {
            let summary = self.summary(session).await?;
            if summary.state == SessionState::Ended {
                return Err(SessionsError::Conflict(format!("session `{session}` has ended")));
            }
            Live::resume(self.live_parts(session, &summary.agent, give_up)?).await
        });
        taken_up.await?;
        if is_new {
            self.live.note_opened();
        }
        Ok(cell)
    }
}

fn id_taken(chosen: &SessionId) -> SessionsError {
    SessionsError::Conflict(format!("there is a session `{chosen}` already"))
}

fn live(cell: &SessionCell) -> Result<&Live, SessionsError> {
    cell.get().ok_or(SessionsError::Closed)
}

#[async_trait]
impl Sessions for Hub {
    async fn create(&self, who: &Principal, new: NewSession) -> Result<SessionId, SessionsError> {
        self.authorize(who, Action::Use, Resource::Agent(&new.agent))?;
        self.authorize(who, Action::Use, Resource::Workspace(&new.cwd))?;
        if let Some(parent) = &new.parent {
            self.permit(who, parent, Action::Attach).await?;
        }
        let owner = self.owner_of_new(who, new.parent.as_ref()).await?;
        self.authorize(who, Action::Create, Resource::User(&owner.id))?;
        let mut new = self.bounded(new).await?;
        let session = match new.id.take() {
            Some(chosen) => self.unused(chosen).await?,
            None => SessionId::new(&*self.parts.ids),
        };
        let agent = self.agent(&new.agent)?;
        let began_with = agent.introduce(&new).await;
        let NewSession { agent, cwd, model, parent, targets, terms, id: _ } = new;
        let agent_name = agent.clone();
        let started = SessionStarted {
            owner,
            agent,
            cwd,
            model,
            parent,
            targets,
            forked_from: None,
            began_with,
            terms,
        };
        let cell = self.live.cell(&session).await?;
        let first = AuthoredFact::new(who, Fact::SessionStarted(started));
        let mut is_made_here = false;
        let make = |give_up| {
            is_made_here = true;
            let parts = self.live_parts(&session, &agent_name, give_up);
            async { Live::create(parts?, first).await }
        };
        cell.get_or_open(make).await?;
        if !is_made_here {
            // Somebody else chose the same id since it was looked up.
            return Err(id_taken(&session));
        }
        self.live.note_opened();
        Ok(session)
    }

    async fn fork(
        &self,
        who: &Principal,
        session: &SessionId,
        point: ForkPoint,
        kind: ForkKind,
    ) -> Result<SessionId, SessionsError> {
        let action = if kind == ForkKind::Beneath { Action::Attach } else { Action::Read };
        self.permit(who, session, action).await?;
        let summary = self.summary(session).await?;
        let above = match (kind, &summary.parent) {
            (ForkKind::Beneath, _) => Some(self.bounds_below(session).await?),
            (ForkKind::Beside, Some(parent)) => {
                // The fork has the same session above it, which pays for it too.
                self.permit(who, parent, Action::Attach).await?;
                Some(self.bounds_below(parent).await?)
            }
            (ForkKind::Beside, None) => None,
        };
        // The fork has the owner of the original.
        self.authorize(who, Action::Create, Resource::User(&summary.owner.id))?;
        self.authorize(who, Action::Use, Resource::Agent(&summary.agent))?;
        self.authorize(who, Action::Use, Resource::Workspace(&summary.cwd))?;
        self.agent(&summary.agent)?;
        let into = SessionId::new(&*self.parts.ids);
        let now = self.parts.clock.now();
        let fork = Fork {
            by: who.clone(),
            from: summary.id,
            head: summary.head,
            into: into.clone(),
            point,
            kind,
            above,
            now,
        };
        fork.write(&*self.parts.store).await?;
        Ok(into)
    }

    async fn send(
        &self,
        who: &Principal,
        session: &SessionId,
        command: Command,
    ) -> Result<(), SessionsError> {
        self.permit_command(who, session, &command).await?;
        check(&command)?;
        // No turn runs in a session that is being opened, so only an interrupt that names none means the opening.
        if let Command::Interrupt { turn } = &command
            && self.live.interrupt_opening(session, turn.is_none())
        {
            return Ok(());
        }
        let command = as_typed(who, command);
        for _ in 0..SEND_ATTEMPTS {
            let cell = self.with_live(session).await?;
            match live(&cell)?.send(who.clone(), command.clone()).await {
                Err(Unsent::Unloaded) => {}
                Err(Unsent::Refused(error)) => return Err(error),
                Ok(()) => return Ok(()),
            }
        }
        Err(SessionsError::Closed)
    }

    async fn send_once(
        &self,
        who: &Principal,
        session: &SessionId,
        key: CommandKey,
        command: Command,
    ) -> Result<(), SessionsError> {
        // A refusal that has nothing to do with the session's state is not worth remembering.
        self.permit_command(who, session, &command).await?;
        check(&command)?;
        let keyed = KeyedCommand::new(who.id.clone(), session.clone(), key, &command);
        let keyed = keyed.map_err(|error| SessionsError::Invalid(error.to_string()))?;
        match self.parts.keys.claim(&keyed, self.parts.clock.now()).await? {
            KeyClaim::Fresh => {}
            KeyClaim::Settled(outcome) => return recall_outcome(&keyed, &outcome),
            KeyClaim::Unsettled => {
                return Err(SessionsError::Conflict(format!(
                    "{keyed} is under way, or its outcome was lost; look at the session's events"
                )));
            }
            KeyClaim::Taken => {
                return Err(SessionsError::Conflict(format!("{keyed} was another command; use a new key")));
            }
        }
        let outcome = self.send(who, session, command).await;
        self.parts.keys.settle(&keyed, lasting_outcome(&outcome)).await?;
        outcome
    }

    async fn take_up(&self, who: &Principal, session: &SessionId) -> Result<(), SessionsError> {
        self.permit(who, session, Action::Prompt).await?;
        // An ended session has nothing left to take up.
        if self.summary(session).await?.state == SessionState::Ended {
            return Ok(());
        }
        self.with_live(session).await.map(drop)
    }

    async fn subscribe(
        &self,
        who: &Principal,
        session: &SessionId,
        after: u64,
    ) -> Result<Subscription, SessionsError> {
        self.permit(who, session, Action::Read).await?;
        let summary = self.summary(session).await?;
        // Nothing more can happen in an ended session, so the log has everything.
        let ended = (summary.state == SessionState::Ended).then(|| pair(summary.head).1);
        let (store, live) = (self.parts.store.clone(), self.live.clone());
        Ok(subscription::stream(store, live, session.clone(), after, ended)?)
    }

    async fn events(
        &self,
        who: &Principal,
        session: &SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Event>, SessionsError> {
        self.permit(who, session, Action::Read).await?;
        Ok(self.parts.store.read(session, after, limit.min(MAX_EVENTS)).await?)
    }

    async fn find(&self, who: &Principal, session: &SessionId) -> Result<SessionSummary, SessionsError> {
        self.permit(who, session, Action::Read).await?;
        self.summary(session).await
    }

    async fn asks(
        &self,
        who: &Principal,
        after: Option<SessionCursor>,
    ) -> Result<WaitingAskPage, SessionsError> {
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
        let query = SessionQuery { is_waiting: true, limit: WAITING_PAGE, after, ..SessionQuery::default() };
        let SessionPage { sessions, next } = self.list(who, query).await?;
        Ok(WaitingAskPage { asks: sessions.into_iter().flat_map(waiting).collect(), next })
    }

    async fn list(&self, who: &Principal, query: SessionQuery) -> Result<SessionPage, SessionsError> {
        let owner = match OwnerScope::of(who).narrowed(query.owner) {
            OwnerScope::Nobody => return Ok(SessionPage::default()),
            OwnerScope::Everybody => None,
            OwnerScope::Owner(owner) => Some(owner),
        };
        let mut sessions = self.parts.store.list(SessionQuery { owner, ..query }).await?;
        sessions.retain(|summary| self.is_visible(who, summary));
        // An empty page ends the list, so the last page has a cursor too. It names no session that is hidden.
        let next = sessions.last().map(SessionSummary::cursor);
        Ok(SessionPage { sessions, next })
    }

    async fn search(&self, who: &Principal, query: SearchQuery) -> Result<FoundPage, SessionsError> {
        let owner = match OwnerScope::of(who).narrowed(query.owner) {
            OwnerScope::Nobody => return Ok(FoundPage::default()),
            OwnerScope::Everybody => None,
            OwnerScope::Owner(owner) => Some(owner),
        };
        let mut found = self.parts.store.search(SearchQuery { owner, ..query }).await?;
        found.retain(|found| self.is_visible(who, &found.summary));
        let next = found.last().map(|found| found.summary.cursor());
        Ok(FoundPage { found, next })
    }
}

/// The outcome of a command as it is remembered; `None` if another attempt can have another one.
fn lasting_outcome(outcome: &Result<(), SessionsError>) -> Option<String> {
    match outcome {
        Err(SessionsError::Busy { .. } | SessionsError::Closed | SessionsError::Store(_)) => None,
        lasting => serde_json::to_string(lasting).ok(),
    }
}

fn recall_outcome(keyed: &KeyedCommand, outcome: &str) -> Result<(), SessionsError> {
    let recalled: Result<Result<(), SessionsError>, _> = serde_json::from_str(outcome);
    recalled.unwrap_or_else(|_| {
        Err(SessionsError::Conflict(format!("the outcome of {keyed} was written by another version")))
    })
}

/// The command with the words that a person typed. The words of an agent name no hosts, whoever it acts for.
fn as_typed(who: &Principal, command: Command) -> Command {
    match command {
        Command::Prompt { text, images, .. } if who.kind() == PrincipalKind::Agent => {
            Command::Prompt { text, images, typed: Some(String::new()) }
        }
        command => command,
    }
}

fn check(command: &Command) -> Result<(), SessionsError> {
    match command {
        Command::Call { tool, .. } if tool.is_empty() || tool.len() > MAX_TOOL_NAME => {
            Err(SessionsError::Invalid(format!("the name of a tool has between 1 and {MAX_TOOL_NAME} bytes")))
        }
        Command::Call { input, .. } if input.text().len() > MAX_PROMPT => Err(SessionsError::Invalid(
            format!("the arguments have {} bytes, {MAX_PROMPT} are allowed", input.text().len()),
        )),
        Command::Call { input, .. } if !input.value().is_object() => {
            Err(SessionsError::Invalid("the arguments of a call are an object".to_owned()))
        }
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
