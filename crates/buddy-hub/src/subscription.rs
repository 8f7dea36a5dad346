//! Subscriptions: the stored events after a number, then the published ones, without gaps or duplicates.
//!
//! The actor registers a subscriber between two flushes, at a known head. Events up to that head come from
//! the store, later ones through a bounded queue. A reader whose queue fills up gets an error and is dropped.
//!
//! A session that is not live in this process has no actor here, and reading it starts none. Its events come from the store,
//! whoever appends them, and from the actor as soon as there is one.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use buddy_protocol::{
    Event, Fact, SessionId, SessionStore, StoreChanges, StoreError, Subscription, SubscriptionError,
};
use futures::{StreamExt, stream};
use tokio::sync::watch;

use crate::feed::Feed;
use crate::live_sessions::{LiveSessions, Turnover};

/// The number of events to read from the store at once while replaying.
const PAGE: usize = 1_000;

/// The source of the events that are not in the store yet.
enum Source {
    /// The session's actor in this process.
    Live(Feed),
    /// The store, which another process may append to.
    Stored { changes: StoreChanges, turnover: watch::Receiver<Turnover>, closed: u64 },
}

struct Reader {
    store: Arc<dyn SessionStore>,
    live: Arc<LiveSessions>,
    session: SessionId,
    source: Source,
    /// The last delivered durable event.
    delivered: u64,
    page: VecDeque<Event>,
    is_over: bool,
}

/// The events of `session` after `after`, as a stream. They come from `ended` if the session has ended, from its actor if it
/// is live here, and otherwise from the store until it is.
pub(crate) fn stream(
    store: Arc<dyn SessionStore>,
    live: Arc<LiveSessions>,
    session: SessionId,
    after: u64,
    ended: Option<Feed>,
) -> Result<Subscription, StoreError> {
    let source = if let Some(feed) = ended {
        Source::Live(feed)
    } else {
        let turnover = live.watch();
        let closed = turnover.borrow().closed;
        Source::Stored { changes: store.changes()?, turnover, closed }
    };
    let page = VecDeque::new();
    let reader = Reader { store, live, session, source, delivered: after, page, is_over: false };
    Ok(Box::pin(stream::unfold(reader, |mut reader| async move { Some((reader.next().await?, reader)) })))
}

impl Reader {
    async fn next(&mut self) -> Option<Result<Arc<Event>, SubscriptionError>> {
        if self.is_over {
            return None;
        }
        let next = loop {
            match &self.source {
                Source::Live(feed) if self.delivered < feed.head => break Some(self.replay().await),
                Source::Live(_) => break self.live().await,
                Source::Stored { .. } => {}
            }
            if let Some(feed) = self.live.feed(&self.session).await {
                self.source = Source::Live(feed);
                continue;
            }
            match self.stored().await {
                Ok(Some(event)) => break Some(Ok(event)),
                Ok(None) if self.wait().await => {}
                Ok(None) => break None,
                Err(error) => break Some(Err(error)),
            }
        };
        self.is_over = !matches!(next, Some(Ok(_)));
        if let Some(Ok(event)) = &next {
            self.delivered = event.seq.unwrap_or(self.delivered);
            // Nothing follows the end of a session.
            let is_live = matches!(self.source, Source::Live(_));
            self.is_over = !is_live && matches!(event.fact, Fact::SessionEnded(_));
        }
        next
    }

    async fn replay(&mut self) -> Result<Arc<Event>, SubscriptionError> {
        let missing = SubscriptionError::Store(format!("event {} is missing", self.delivered + 1));
        self.stored().await?.ok_or(missing)
    }

    /// The next event in the store, if there is one.
    async fn stored(&mut self) -> Result<Option<Arc<Event>>, SubscriptionError> {
        if self.page.is_empty() {
            let read = self.store.read(&self.session, self.delivered, PAGE).await;
            self.page = read.map_err(|error| SubscriptionError::Store(error.to_string()))?.into();
        }
        Ok(self.page.pop_front().map(Arc::new))
    }

    /// Waits until the store has more, or the session may be live here. Returns whether there is anything to wait for.
    async fn wait(&mut self) -> bool {
        let Source::Stored { changes, turnover, closed } = &mut self.source else { return true };
        tokio::select! {
            changed = changes.next() => changed.is_some(),
            turned = turnover.changed() => turned.is_ok() && turnover.borrow_and_update().closed == *closed,
        }
    }

    async fn live(&mut self) -> Option<Result<Arc<Event>, SubscriptionError>> {
        let Source::Live(feed) = &mut self.source else { return None };
        loop {
            match feed.queue.recv().await {
                // A page of the store can be ahead of the queue, and a subscriber that asked for events after a future
                // number waits for that number.
                Some(event) if event.seq.is_some_and(|seq| seq <= self.delivered) => {}
                Some(event) => return Some(Ok(event)),
                None if feed.lagged.load(Ordering::Acquire) => {
                    return Some(Err(SubscriptionError::Lagged { resume_after: self.delivered }));
                }
                None => return None,
            }
        }
    }
}
