//! The way from a running tool to the user: one question at a time, into the inbox that approvals wait in.

use std::sync::Arc;
use std::time::Duration;

use buddy_protocol::{Answer, Ask, AskId, Clock, EventSink, Ids, ItemId, Question, TurnId, UnixMillis};

/// Who can be asked about one call.
pub(crate) struct Person {
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) turn: Option<TurnId>,
    pub(crate) item: Option<ItemId>,
    /// How long they have; none means for ever.
    pub(crate) within: Option<Duration>,
}

impl Person {
    /// Asks and waits. None when the session is going down.
    pub(crate) async fn ask(&self, question: Question) -> Option<Answer> {
        self.sink.ask(self.put(question)).await.ok()
    }

    /// The question, ready to be asked.
    pub(crate) fn put(&self, question: Question) -> Ask {
        let UnixMillis(now) = self.clock.now();
        let within = self.within.map(|within| u64::try_from(within.as_millis()).unwrap_or(u64::MAX));
        Ask {
            id: AskId::new(&*self.ids),
            turn: self.turn.clone(),
            item: self.item.clone(),
            question,
            expires: within.map(|within| UnixMillis(now.saturating_add(within))),
        }
    }
}
