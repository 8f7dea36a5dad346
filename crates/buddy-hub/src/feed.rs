//! The way of published events from a session's actor to one reader: a bounded queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use buddy_protocol::Event;
use tokio::sync::mpsc;

/// The size of a reader's queue. A reader that is too slow is dropped.
const QUEUE: usize = 4_096;
/// The actor's end of a subscription.
pub(crate) struct Subscriber {
    queue: mpsc::Sender<Arc<Event>>,
    lagged: Arc<AtomicBool>,
}

impl Subscriber {
    /// Whether nobody reads any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.queue.is_closed()
    }

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
    pub(crate) queue: mpsc::Receiver<Arc<Event>>,
    pub(crate) lagged: Arc<AtomicBool>,
    /// The last event that is not in the queue.
    pub(crate) head: u64,
}

/// Both ends of a subscription that goes live after event `head`.
pub(crate) fn pair(head: u64) -> (Subscriber, Feed) {
    let (sender, receiver) = mpsc::channel(QUEUE);
    let lagged = Arc::new(AtomicBool::new(false));
    (Subscriber { queue: sender, lagged: lagged.clone() }, Feed { queue: receiver, lagged, head })
}
