//! The hand-over: whether the person or the agent has the panes.

use std::time::Duration;

use tokio::sync::watch;

use crate::PaneError;

/// How long a call waits for the person to give the panes back. Waiting longer is for the agent to decide.
const PATIENCE: Duration = Duration::from_mins(10);

/// Who has the panes.
pub(super) struct Hands(watch::Sender<bool>);

impl Default for Hands {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Hands {
    /// Says who has them from now on.
    pub(super) fn set(&self, is_with_person: bool) {
        self.0.send_replace(is_with_person);
    }

    /// Waits until the agent has them. Says whether it had to wait.
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
