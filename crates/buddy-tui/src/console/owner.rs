//! The process that works on a session which is read along.
//!
//! When it dies, nobody is left who could write that into the log, so the console looks after it while work seems to go on.

use std::time::{Duration, Instant};

use buddy_protocol::SessionId;

use super::effect::Errand;
use super::state::Console;

/// How often it is looked after.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

impl Console {
    /// When to look after it again; none where nothing seems to go on that another process does.
    pub(super) fn next_owner_look(&self) -> Option<Instant> {
        let front = self.front();
        // Nothing counts on while a question waits, and an answer to it takes the session over as well.
        let is_awaited = front.is_in_use && !front.is_idle() && front.reader.transcript().asks().is_empty();
        is_awaited.then(|| self.owner_looked.map_or(self.now, |looked| looked + LOOK_AGAIN))
    }

    /// Looks after it if it is time.
    pub(super) fn look_after_owner(&mut self) {
        if self.next_owner_look().is_some_and(|at| at <= self.now) {
            self.owner_looked = Some(self.now);
            self.errand(Errand::LookAfterOwner(self.front().session.clone()));
        }
    }

    /// It has ended in the middle of its work, unless events after the last one known here say otherwise.
    pub(super) fn owner_is_gone(&mut self, session: &SessionId, head: u64) {
        let is_known = self.front().session == *session && self.front().reader.transcript().head() >= head;
        if !is_known || self.next_owner_look().is_none() {
            return;
        }
        self.front_mut().is_left = true;
        self.complain("The buddy that worked on this session has ended. Your next prompt takes it over.");
    }
}
