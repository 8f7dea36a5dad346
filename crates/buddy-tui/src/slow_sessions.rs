//! Sessions of tests whose readers fall behind, and a stream that keeps what is written to it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use buddy_protocol::{
    Command, CommandKey, Event, ForkKind, ForkPoint, FoundPage, NewSession, Principal, SearchQuery,
    SessionCursor, SessionId, SessionPage, SessionQuery, SessionSummary, Sessions, SessionsError,
    Subscription, SubscriptionError, WaitingAskPage,
};
use futures::{StreamExt, stream};

/// One session. Each subscription delivers its part of the events; after each part but the last the reader has fallen behind.
pub(crate) struct SlowSessions {
    parts: Vec<Vec<Event>>,
    asked_after: Mutex<Vec<u64>>,
    sent: Mutex<Vec<Command>>,
}

impl SlowSessions {
    pub(crate) fn delivering(parts: impl IntoIterator<Item = Vec<Event>>) -> Self {
        Self { parts: parts.into_iter().collect(), asked_after: Mutex::default(), sent: Mutex::default() }
    }

    /// The events behind which each subscription began.
    pub(crate) fn asked_after(&self) -> Vec<u64> {
        self.asked_after.lock().unwrap().clone()
    }

    /// The commands that were sent since the last call.
    pub(crate) fn take_sent(&self) -> Vec<Command> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }
}

/// The session.
pub(crate) fn session_id() -> SessionId {
    format!("ses_{:026}", 1).parse().unwrap()
}

#[async_trait]
impl Sessions for SlowSessions {
    async fn create(&self, _: &Principal, _: NewSession) -> Result<SessionId, SessionsError> {
        Ok(session_id())
    }

    async fn fork(
        &self,
        _: &Principal,
        _: &SessionId,
        _: ForkPoint,
        _: ForkKind,
    ) -> Result<SessionId, SessionsError> {
        Err(SessionsError::Closed)
    }

    async fn send(&self, _: &Principal, _: &SessionId, command: Command) -> Result<(), SessionsError> {
        self.sent.lock().unwrap().push(command);
        Ok(())
    }

    async fn send_once(
        &self,
        who: &Principal,
        session: &SessionId,
        _: CommandKey,
        command: Command,
    ) -> Result<(), SessionsError> {
        self.send(who, session, command).await
    }

    async fn take_up(&self, _: &Principal, _: &SessionId) -> Result<(), SessionsError> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _: &Principal,
        _: &SessionId,
        after: u64,
    ) -> Result<Subscription, SessionsError> {
        let mut asked_after = self.asked_after.lock().unwrap();
        let part = self.parts.get(asked_after.len()).cloned().unwrap_or_default();
        asked_after.push(after);
        let resume_after = part.iter().filter_map(|event| event.seq).max().unwrap_or(after);
        let events = stream::iter(part.into_iter().map(|event| Ok(Arc::new(event))));
        if asked_after.len() >= self.parts.len() {
            return Ok(events.chain(stream::pending()).boxed());
        }
        let lagged = Err(SubscriptionError::Lagged { resume_after });
        Ok(events.chain(stream::iter([lagged])).boxed())
    }

    async fn events(
        &self,
        _: &Principal,
        _: &SessionId,
        _: u64,
        _: usize,
    ) -> Result<Vec<Event>, SessionsError> {
        Err(SessionsError::Closed)
    }

    async fn find(&self, _: &Principal, _: &SessionId) -> Result<SessionSummary, SessionsError> {
        Err(SessionsError::Closed)
    }

    async fn asks(&self, _: &Principal, _: Option<SessionCursor>) -> Result<WaitingAskPage, SessionsError> {
        Err(SessionsError::Closed)
    }

    async fn list(&self, _: &Principal, _: SessionQuery) -> Result<SessionPage, SessionsError> {
        Err(SessionsError::Closed)
    }

    async fn search(&self, _: &Principal, _: SearchQuery) -> Result<FoundPage, SessionsError> {
        Err(SessionsError::Closed)
    }
}

/// The written text.
#[derive(Clone, Default)]
pub(crate) struct WrittenText(Arc<Mutex<Vec<u8>>>);

impl WrittenText {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for WrittenText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
