//! The hand-over: whether the user or the agent has the panes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;

use crate::PaneError;

/// The time that a call waits for the user to give the panes back. Waiting longer is for the agent to decide.
const PATIENCE: Duration = Duration::from_mins(10);

/// Whether the user has the panes.
pub(super) struct Hands {
    with_user: watch::Sender<bool>,
    /// Whether the user had them since the agent last used one.
    had: AtomicBool,
}

impl Default for Hands {
    fn default() -> Self {
        Self { with_user: watch::Sender::new(false), had: AtomicBool::new(false) }
    }
}

impl Hands {
    /// Sets whether the user has them from now on.
    pub(super) fn set(&self, is_with_person: bool) {
        self.had.fetch_or(is_with_person, Ordering::Relaxed);
        self.with_user.send_replace(is_with_person);
    }

    /// Waits until the agent has them. Returns whether the user had them since the last time.
    pub(super) async fn free(&self) -> Result<bool, PaneError> {
        let mut with_user = self.with_user.subscribe();
        match tokio::time::timeout(PATIENCE, with_user.wait_for(|is_so| !is_so)).await {
            Ok(Ok(_)) => Ok(self.had.swap(false, Ordering::Relaxed)),
            _ => Err(PaneError::Taken),
        }
    }
}
