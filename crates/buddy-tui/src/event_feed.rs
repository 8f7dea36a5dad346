//! The events of one session, as every face follows them: a reader that was too slow goes on where it was.

use std::sync::Arc;

use buddy_protocol::{Event, Principal, SessionId, Sessions, SessionsError, Subscription, SubscriptionError};
use futures::StreamExt;
use futures::stream::{self, BoxStream};

/// The events of a session until it ends or cannot be followed any more.
pub(crate) type EventFeed = BoxStream<'static, Result<FeedPart, FeedError>>;

/// A part of a feed.
#[derive(Debug)]
pub(crate) enum FeedPart {
    /// The next event.
    Event(Arc<Event>),
    /// The reader was too slow. Durable events follow without a gap; some of what streamed is lost.
    Missed,
}

/// The reason why a feed broke off. Nothing follows it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FeedError {
    /// The events could not be read.
    #[error(transparent)]
    Unreadable(SubscriptionError),
    /// The session could not be followed again.
    #[error(transparent)]
    Unfollowed(SessionsError),
}

impl From<FeedError> for SessionsError {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::Unreadable(error) => Self::Conflict(error.to_string()),
            FeedError::Unfollowed(error) => error,
        }
    }
}

/// Follows a session from behind event `after`.
pub(crate) async fn follow_events(
    sessions: Arc<dyn Sessions>,
    who: Principal,
    session: SessionId,
    after: u64,
) -> Result<EventFeed, SessionsError> {
    let events = sessions.subscribe(&who, &session, after).await?;
    let followed = FollowedSession { sessions, who, session, events, resume_after: None };
    let parts = stream::unfold(Some(followed), |followed| async move {
        let mut followed = followed?;
        let part = followed.next().await?;
        let followed = part.is_ok().then_some(followed);
        Some((part, followed))
    });
    Ok(parts.boxed())
}

struct FollowedSession {
    sessions: Arc<dyn Sessions>,
    who: Principal,
    session: SessionId,
    events: Subscription,
    /// The last event that came before the reader was too slow; none while it keeps up.
    resume_after: Option<u64>,
}

impl FollowedSession {
    async fn next(&mut self) -> Option<Result<FeedPart, FeedError>> {
        if let Some(after) = self.resume_after.take() {
            match self.sessions.subscribe(&self.who, &self.session, after).await {
                Ok(events) => self.events = events,
                Err(error) => return Some(Err(FeedError::Unfollowed(error))),
            }
        }
        Some(match self.events.next().await? {
            Ok(event) => Ok(FeedPart::Event(event)),
            Err(SubscriptionError::Lagged { resume_after }) => {
                self.resume_after = Some(resume_after);
                Ok(FeedPart::Missed)
            }
            Err(error) => Err(FeedError::Unreadable(error)),
        })
    }
}
