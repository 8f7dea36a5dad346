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
        let is_awaited = front.is_in_use && !front.is_idle();
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
        let front = self.front_mut();
        if front.reader.transcript().head() < head {
            return;
        }
        if front.session != *session || !front.is_in_use || front.is_idle() {
            return;
        }
        front.is_left = true;
        // What it asked can reach nobody any more.
        self.asking.take_if(|asking| asking.session == *session);
        self.complain("The buddy that worked on this session has ended. Your next prompt takes it over.");
    }
}
