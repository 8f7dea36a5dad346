//! Errands: effects that take their time and end in a reply. A screen sends them off; line by line each is waited for.

use std::sync::Arc;

use buddy_protocol::{
    ForkKind, ForkPoint, Principal, SearchQuery, SessionId, SessionQuery, SessionState, SessionSummary,
    SessionTarget, Sessions, SessionsError,
};

use super::branch::{Branch, Branched, Purpose};
use super::desk::{Desk, DeskCommand};
use super::effect::{EffectReply, Errand};
use super::state::Console;
use crate::branches::{Another, OpenedSession, fork_session, open_session};
use crate::event_feed::{EventFeed, follow_events};

/// The result of an errand.
pub(super) enum ErrandDone {
    Reply(EffectReply),
    /// A session to follow, and what is to be told about it.
    Follow(SessionId, EventFeed, EffectReply),
}

/// Somebody who goes on an errand, with the conversation as it is now.
pub(super) struct ErrandRunner {
    sessions: Arc<dyn Sessions>,
    desk: Arc<dyn Desk>,
    who: Principal,
    /// The conversation that is shown.
    session: SessionId,
    /// The target that it works on.
    target: SessionTarget,
    /// The model that it names.
    model: Option<String>,
    /// The most conversations in a list.
    most_listed: usize,
}

impl ErrandRunner {
    pub(super) fn new(
        sessions: &Arc<dyn Sessions>,
        desk: &Arc<dyn Desk>,
        who: &Principal,
        console: &Console,
        most_listed: usize,
    ) -> Self {
        let (sessions, desk, who) = (sessions.clone(), desk.clone(), who.clone());
        let front = console.front();
        let model = front.reader.transcript().model().map(str::to_owned);
        Self {
            sessions,
            desk,
            who,
            session: front.session.clone(),
            target: console.target(),
            model,
            most_listed,
        }
    }

    pub(super) async fn run(self, errand: Errand) -> ErrandDone {
        let done = match errand {
            Errand::Begin(session, prompt) => self.begin(&session, prompt).await,
            Errand::Fork(branch) => self.fork(branch).await,
            Errand::New(another) => self.create(another).await,
            Errand::Open(session) => self.open(session).await,
            Errand::OpenLast => self.open_last().await,
            Errand::LookAfterOwner(session) => Ok(self.look_after_owner(session).await),
            Errand::ListSessions => self.list().await,
            Errand::Search(words) => self.search(&words).await,
            other => Ok(ErrandDone::Reply(self.ask_desk(other).await)),
        };
        done.unwrap_or_else(|error| ErrandDone::Reply(EffectReply::Failed(error.to_string())))
    }

    /// Starts a task in a fork of a conversation, which pays for it.
    async fn begin(&self, session: &SessionId, prompt: String) -> Result<ErrandDone, SessionsError> {
        let opened =
            fork_session(&self.sessions, &self.who, session, ForkPoint::Now, ForkKind::Beneath).await?;
        let OpenedSession { session, head, events, .. } = opened;
        Ok(ErrandDone::Follow(session.clone(), events, EffectReply::Begun { session, head, prompt }))
    }

    async fn fork(&self, branch: Branch) -> Result<ErrandDone, SessionsError> {
        let Branch { session: left, point, purpose } = branch;
        let changes = match &purpose {
            Purpose::Rewind(rewound) => self.desk.changes(&rewound.calls).await,
            Purpose::Copy | Purpose::Background => None,
        };
        let opened = fork_session(&self.sessions, &self.who, &left, point, ForkKind::Beside).await?;
        let OpenedSession { session, head, events, .. } = opened;
        let branched = Branched { session: session.clone(), head, left, purpose, changes };
        Ok(ErrandDone::Follow(session, events, EffectReply::Forked(branched)))
    }

    async fn create(&self, another: Another) -> Result<ErrandDone, SessionsError> {
        let session = another.begin(&*self.sessions, &self.who).await?;
        let events = follow_events(self.sessions.clone(), self.who.clone(), session.clone(), 0).await?;
        let opened = EffectReply::Opened { session: session.clone(), head: 0, in_use: None };
        Ok(ErrandDone::Follow(session, events, opened))
    }

    async fn open(&self, session: SessionId) -> Result<ErrandDone, SessionsError> {
        let opened = open_session(&self.sessions, &self.who, session).await?;
        let OpenedSession { session, head, events, in_use } = opened;
        Ok(ErrandDone::Follow(session.clone(), events, EffectReply::Opened { session, head, in_use }))
    }

    async fn open_last(&self) -> Result<ErrandDone, SessionsError> {
        let listed = self.sessions.list(&self.who, self.listing()).await?.sessions;
        let is_meant = |other: &SessionSummary| other.is_conversation() && other.id != self.session;
        match listed.into_iter().find(is_meant) {
            Some(session) => self.open(session.id).await,
            None => Err(SessionsError::Conflict("There is no other conversation.".to_owned())),
        }
    }

    async fn look_after_owner(&self, session: SessionId) -> ErrandDone {
        // A failure says nothing about it, and the next look comes soon.
        ErrandDone::Reply(match self.sessions.find(&self.who, &session).await {
            Ok(SessionSummary { state: SessionState::Idle, head, .. }) => {
                EffectReply::OwnerGone { session, head }
            }
            _ => EffectReply::OwnerWorks,
        })
    }

    async fn list(&self) -> Result<ErrandDone, SessionsError> {
        let sessions = self.sessions.list(&self.who, self.listing()).await?.sessions;
        Ok(ErrandDone::Reply(EffectReply::Sessions { sessions, now: self.desk.now() }))
    }

    async fn search(&self, words: &str) -> Result<ErrandDone, SessionsError> {
        let query = SearchQuery { limit: self.most_listed, ..SearchQuery::new(words) };
        let page = self.sessions.search(&self.who, query).await?;
        Ok(ErrandDone::Reply(EffectReply::Found(page.found)))
    }

    fn listing(&self) -> SessionQuery {
        SessionQuery { owner: Some(self.who.id.clone()), limit: self.most_listed, ..SessionQuery::default() }
    }

    async fn ask_desk(&self, errand: Errand) -> EffectReply {
        let model = self.model.as_deref();
        match errand {
            Errand::ListModels => EffectReply::Models(self.desk.models(model).await),
            Errand::FindModel(wish) => match self.desk.find_model(&wish, model).await {
                Ok(name) => EffectReply::ModelFound(name),
                Err(text) => EffectReply::Failed(text),
            },
            Errand::ListPaths => EffectReply::Paths(self.desk.paths(&self.target).await),
            Errand::LookAround => {
                EffectReply::Surroundings(self.desk.surroundings(&self.target, model).await)
            }
            Errand::AskStatus(facts) => EffectReply::Status(self.desk.status(facts).await),
            Errand::Run(command) => self.run_command(command).await,
            Errand::CountChanges(turn, calls) => {
                EffectReply::CountedChanges(turn, self.desk.changes(&calls).await)
            }
            Errand::PasteImage => match self.desk.pasted_image().await {
                Ok(path) => EffectReply::PastedImage(path),
                Err(reason) => EffectReply::Failed(reason),
            },
            // The others need no desk.
            _ => EffectReply::Said(String::new()),
        }
    }

    async fn run_command(&self, command: DeskCommand) -> EffectReply {
        let is_diff = command == DeskCommand::Diff;
        let is_undo = matches!(command, DeskCommand::Undo(_) | DeskCommand::Redo(_));
        match self.desk.run(&self.session, &self.target, command).await {
            said if is_undo => EffectReply::Undone(said),
            Ok(text) if is_diff => EffectReply::Changes(text),
            Ok(text) => EffectReply::Said(text),
            Err(text) => EffectReply::Failed(text),
        }
    }
}
