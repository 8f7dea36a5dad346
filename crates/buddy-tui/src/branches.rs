//! Other conversations to go on in: forks of one, new ones, old ones.

use std::sync::Arc;

use buddy_protocol::{
    Change, Command, Content, ForkKind, ForkPoint, Item, ItemId, NewSession, Principal, SessionId, Sessions,
    SessionsError, Transcript,
};

use crate::event_feed::{EventFeed, follow_events};

/// A conversation to go on in.
pub(crate) struct OpenedSession {
    pub(crate) session: SessionId,
    /// Its last event so far.
    pub(crate) head: u64,
    /// Its events from the first on.
    pub(crate) events: EventFeed,
    /// The text that says who works on it, if another process does.
    pub(crate) in_use: Option<String>,
}

/// Forks a session. The fork goes on with the model that the session uses now, wherever it begins.
pub(crate) async fn fork_session(
    sessions: &Arc<dyn Sessions>,
    who: &Principal,
    session: &SessionId,
    point: ForkPoint,
    kind: ForkKind,
) -> Result<OpenedSession, SessionsError> {
    let now = sessions.find(who, session).await?.model;
    let fork = sessions.fork(who, session, point, kind).await?;
    let then = sessions.find(who, &fork).await?.model;
    if now.is_some() && now != then {
        let change = Change { model: now, ..Change::default() };
        sessions.send(who, &fork, Command::Change(change)).await?;
    }
    open_session(sessions, who, fork).await
}

/// Follows a session from its beginning, and takes it up if it is free.
pub(crate) async fn open_session(
    sessions: &Arc<dyn Sessions>,
    who: &Principal,
    session: SessionId,
) -> Result<OpenedSession, SessionsError> {
    let in_use = take_up(&**sessions, who, &session).await?;
    let head = sessions.find(who, &session).await?.head;
    let events = follow_events(sessions.clone(), who.clone(), session.clone(), 0).await?;
    Ok(OpenedSession { session, head, events, in_use })
}

/// Takes a session up if it is free. If another process works on it, the session can still be read along, and the returned
/// text says so.
pub(crate) async fn take_up(
    sessions: &dyn Sessions,
    who: &Principal,
    session: &SessionId,
) -> Result<Option<String>, SessionsError> {
    match sessions.take_up(who, session).await {
        Ok(()) => Ok(None),
        Err(SessionsError::Busy { holder, .. }) => Ok(Some(format!(
            "This session is in use by {holder}. You read along. You can prompt and answer here once it is free."
        ))),
        Err(error) => Err(error),
    }
}

/// The text about a refusal, with the next step where there is one.
pub(crate) fn describe_refusal(error: &SessionsError) -> String {
    match error {
        SessionsError::Agent(failure) => match &failure.hint {
            Some(hint) => format!("{}\n  {hint}", failure.message),
            None => failure.message.clone(),
        },
        SessionsError::Busy { .. } => {
            format!("{error}, so this was not sent. Use it there, or continue in a copy with /fork.")
        }
        other => other.to_string(),
    }
}

/// A conversation that begins as another one is now: with the same agent, directory, model, hosts and mode.
#[derive(Debug, PartialEq)]
pub(crate) struct Another {
    new: NewSession,
    is_plan_only: bool,
}

impl Another {
    /// One like this.
    pub(crate) fn like(transcript: &Transcript) -> Option<Self> {
        let started = transcript.started()?;
        let new = NewSession {
            model: transcript.model().map(str::to_owned),
            targets: transcript.targets().to_vec(),
            terms: started.terms.clone(),
            ..NewSession::new(&started.agent, &started.cwd)
        };
        Some(Self { new, is_plan_only: transcript.is_plan_only() })
    }

    /// Begins it.
    pub(crate) async fn begin(
        self,
        sessions: &dyn Sessions,
        who: &Principal,
    ) -> Result<SessionId, SessionsError> {
        let session = sessions.create(who, self.new).await?;
        if self.is_plan_only {
            let change = Change { plan_only: Some(true), ..Change::default() };
            sessions.send(who, &session, Command::Change(change)).await?;
        }
        Ok(session)
    }
}

/// The prompts so far as they were typed, with their places among the items, the oldest first.
pub(crate) fn list_prompts(transcript: &Transcript) -> impl Iterator<Item = (usize, &Item, &str)> {
    transcript.items().iter().enumerate().filter_map(|(at, item)| match &item.content {
        Content::UserMessage { text, ran: None, typed, .. } => {
            let typed = typed.as_deref().filter(|typed| !typed.is_empty());
            Some((at, item, typed.unwrap_or(text)))
        }
        _ => None,
    })
}

/// The calls from an item on.
pub(crate) fn list_calls_since(transcript: &Transcript, at: usize) -> Vec<ItemId> {
    let later = transcript.items().iter().skip(at);
    later.filter(|item| matches!(item.content, Content::ToolCall(_))).map(|item| item.id.clone()).collect()
}

/// The text about calls that changed files since, as far as they are known.
pub(crate) fn describe_changed_since(count: Option<usize>) -> String {
    match count {
        None => String::new(),
        Some(0) => "no call has changed files since\n".to_owned(),
        Some(1) => "1 call has changed files since\n".to_owned(),
        Some(count) => format!("{count} calls have changed files since\n"),
    }
}
