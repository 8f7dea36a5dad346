//! The hand-over: whether the user or the agent has the panes.

use std::time::Duration;

use tokio::sync::watch;

use crate::PaneError;

/// The time that a call waits for the user to give the panes back. Waiting longer is for the agent to decide.
const PATIENCE: Duration = Duration::from_mins(10);

/// Whether the user has the panes.
pub(super) struct Hands(watch::Sender<bool>);

impl Default for Hands {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Hands {
    /// Sets whether the user has them from now on.
    pub(super) fn set(&self, is_with_person: bool) {
        self.0.send_replace(is_with_person);
    }

    /// Waits until the agent has them. Returns whether it had to wait.
    pub(super) async fn free(&self) -> Result<bool, PaneError> {
        let mut with_person = self.0.subscribe();
        if !*with_person.borrow() {
            return Ok(false);
        }
        let given = tokio::time::timeout(PATIENCE, with_person.wait_for(|is_so| !is_so)).await;
        match given {
            Ok(Ok(_)) => Ok(true),
            _ => Err(PaneError::Taken),
        }
    }
}
