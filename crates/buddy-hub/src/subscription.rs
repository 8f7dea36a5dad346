//! Subscriptions: the stored events after a number, then the published ones, without gaps or duplicates.
//!
//! The actor registers a subscriber between two flushes, at a known head. Events up to that head come from
//! the store, later ones through a bounded queue. A reader whose queue fills up gets an error and is dropped.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use buddy_protocol::{Event, SessionId, SessionStore, Subscription, SubscriptionError};
use futures::stream;
use tokio::sync::mpsc;

/// The size of a reader's queue. A reader that is too slow is dropped.
const QUEUE: usize = 4_096;
/// The number of events to read from the store at once while replaying.
const PAGE: usize = 1_000;

/// The actor's end of a subscription.
pub(crate) struct Subscriber {
    queue: mpsc::Sender<Arc<Event>>,
    lagged: Arc<AtomicBool>,
}

impl Subscriber {
    /// Offers an event. Returns false if the subscriber is gone or too slow and must be dropped.
    pub(crate) fn offer(&self, event: &Arc<Event>) -> bool {
        match self.queue.try_send(event.clone()) {
            Ok(()) => true,
            Err(mpsc::error::TrySendError::Full(_)) => {
                self.lagged.store(true, Ordering::Release);
                false
            }
            Err(mpsc::error::TrySendError::Closed(_)) => false,
        }
    }
}

/// The reader's end, before it becomes a stream.
pub(crate) struct Feed {
    queue: mpsc::Receiver<Arc<Event>>,
    lagged: Arc<AtomicBool>,
    head: u64,
}

/// Both ends of a subscription that goes live after event `head`.
pub(crate) fn pair(head: u64) -> (Subscriber, Feed) {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let lagged = Arc::new(AtomicBool::new(false));
    (Subscriber { queue: sender, lagged: lagged.clone() }, Feed { queue: receiver, lagged, head })
}

struct Reader {
    store: Arc<dyn SessionStore>,
    session: SessionId,
    feed: Feed,
    /// The last delivered durable event.
    delivered: u64,
    page: VecDeque<Event>,
    is_over: bool,
}

/// The events of `session` after `after`, as a stream.
pub(crate) fn stream(
    store: Arc<dyn SessionStore>,
    session: SessionId,
    after: u64,
    feed: Feed,
) -> Subscription {
    let reader = Reader { store, session, feed, delivered: after, page: VecDeque::new(), is_over: false };
    Box::pin(stream::unfold(reader, |mut reader| async move { Some((reader.next().await?, reader)) }))
}

impl Reader {
    async fn next(&mut self) -> Option<Result<Arc<Event>, SubscriptionError>> {
        if self.is_over {
            return None;
        }
        let next =
            if self.delivered < self.feed.head { Some(self.replay().await) } else { self.live().await };
        self.is_over = !matches!(next, Some(Ok(_)));
        if let Some(Ok(event)) = &next {
            self.delivered = event.seq.unwrap_or(self.delivered);
        }
        next
    }

    async fn replay(&mut self) -> Result<Arc<Event>, SubscriptionError> {
        if self.page.is_empty() {
            let wanted = usize::try_from(self.feed.head - self.delivered).unwrap_or(PAGE).min(PAGE);
            let read = self.store.read(&self.session, self.delivered, wanted).await;
            self.page = read.map_err(|error| SubscriptionError::Store(error.to_string()))?.into();
        }
        let missing = || SubscriptionError::Store(format!("event {} is missing", self.delivered + 1));
        self.page.pop_front().map(Arc::new).ok_or_else(missing)
    }

    async fn live(&mut self) -> Option<Result<Arc<Event>, SubscriptionError>> {
        loop {
            match self.feed.queue.recv().await {
                // A subscriber that asked for events after a future number waits for that number.
                Some(event) if event.seq.is_some_and(|seq| seq <= self.delivered) => {}
                Some(event) => return Some(Ok(event)),
                None if self.feed.lagged.load(Ordering::Acquire) => {
                    return Some(Err(SubscriptionError::Lagged { resume_after: self.delivered }));
                }
                None => return None,
            }
        }
    }
}
