//! Writes a fork: folds the log of another session into the first facts of a new one.

use std::sync::Arc;

use buddy_protocol::{
    AuthoredFact, Event, ForkError, ForkKind, ForkPoint, Principal, SessionBounds, SessionId, SessionStore,
    SessionsError, StoreError, UnixMillis, changes_since, fork, fork_end,
};

use crate::live::{read_log, read_whole_part};
use crate::parts::parts;

/// The number of events in one append. Items can be large, and an append has a bound.
const PART: usize = 128;

/// The source and the target of a fork.
pub(crate) struct Fork {
    pub(crate) by: Principal,
    pub(crate) from: SessionId,
    pub(crate) head: u64,
    pub(crate) into: SessionId,
    pub(crate) point: ForkPoint,
    pub(crate) kind: ForkKind,
    /// The bounds of the session that the fork is below.
    pub(crate) above: Option<SessionBounds>,
    pub(crate) now: UnixMillis,
}

impl Fork {
    /// Reads the old log and writes the new one. The old session may be live: its log is read up to a known event.
    pub(crate) async fn write(self, store: &dyn SessionStore) -> Result<(), SessionsError> {
        let invalid = |error: ForkError| SessionsError::Invalid(error.to_string());
        let mut log = match read_log(store, &self.from, self.head).await {
            // A fork is the way out of a damaged log: it takes the events before the damage.
            Err(StoreError::Corrupt(reason)) => {
                let whole = read_whole_part(store, &self.from).await;
                if whole.is_empty() {
                    return Err(StoreError::Corrupt(reason).into());
                }
                tracing::warn!(session = %self.from, reason, events = whole.len(), "forking the whole part");
                whole
            }
            read => read?,
        };
        let head = log.len() as u64;
        let until = fork_end(&log, &self.point).map_err(invalid)?;
        let since = changes_since(&log, until, &self.point);
        if until < head {
            log = read_log(store, &self.from, until).await?;
        }
        let facts = fork(&self.by, &self.from, log, since, self.kind, self.above.as_ref(), self.now)
            .map_err(invalid)?;
        let stamp = |(place, AuthoredFact { by, fact }): (usize, AuthoredFact)| {
            let seq = Some(place as u64 + 1);
            Arc::new(Event { session: self.into.clone(), seq, time: self.now, by, fact })
        };
        let events: Vec<Arc<Event>> = facts.into_iter().enumerate().map(stamp).collect();
        let writer = store.writer(&self.into).await?;
        for part in parts(&events, PART) {
            writer.append(part).await?;
        }
        Ok(())
    }
}
