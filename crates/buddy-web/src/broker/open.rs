//! Connections that are open: each is told once, when it ends or when its command does.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::relay::Counts;
use super::warrant::{Connection, Outcome, Wanted, Warrant};

/// A connection from its first request on. It is told when this is dropped, if it was not told before.
pub(super) struct OpenConnection {
    warrant: Arc<dyn Warrant>,
    wanted: Wanted,
    /// The outcome, and why it is a bad one.
    outcome: Mutex<(Outcome, Option<String>)>,
    pub(super) counts: Counts,
    is_told: AtomicBool,
}

impl OpenConnection {
    pub(super) fn set(&self, outcome: Outcome) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = (outcome, None);
    }

    /// Sets an outcome that has a reason.
    pub(super) fn end(&self, outcome: Outcome, why: String) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = (outcome, Some(why));
    }

    fn tell(&self) {
        if self.is_told.swap(true, Ordering::Relaxed) {
            return;
        }
        let (sent, received) = self.counts.read();
        let (outcome, why) = self.outcome.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.warrant.ended(Connection { wanted: self.wanted.clone(), outcome, why, sent, received });
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.tell();
    }
}

/// The open connections of one command. Dropping it tells all that are left: the tasks that serve them end a moment later, when
/// the result of the command is written down already.
#[derive(Default)]
pub(super) struct OpenConnections(SharedConnections);

/// The same, as the connections know it.
#[derive(Clone, Default)]
pub(super) struct SharedConnections(Arc<Mutex<Vec<Weak<OpenConnection>>>>);

impl OpenConnections {
    pub(super) fn share(&self) -> SharedConnections {
        self.0.clone()
    }
}

impl SharedConnections {
    /// Notes a connection that a command wants.
    pub(super) fn begin(&self, wanted: Wanted, warrant: Arc<dyn Warrant>) -> Arc<OpenConnection> {
        let (outcome, counts) = (Mutex::new((Outcome::GivenUp, None)), Counts::default());
        let open = OpenConnection { warrant, wanted, outcome, counts, is_told: AtomicBool::new(false) };
        let open = Arc::new(open);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.strong_count() > 0);
        all.push(Arc::downgrade(&open));
        open
    }
}

impl Drop for OpenConnections {
    fn drop(&mut self) {
        let all = std::mem::take(&mut *self.0.0.lock().unwrap_or_else(PoisonError::into_inner));
        all.iter().filter_map(Weak::upgrade).for_each(|open| open.tell());
    }
}
