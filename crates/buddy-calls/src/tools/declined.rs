//! Commands that the user did not want to run outside the jail.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Commands of a session whose offer was turned down that are remembered.
const MAX_DECLINED: usize = 100;

/// Commands that the user did not want to run outside the jail. They are not offered again in the session.
#[derive(Default)]
pub(crate) struct DeclinedCommands(Mutex<BTreeSet<String>>);

impl DeclinedCommands {
    pub(crate) fn has(&self, command: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(command)
    }

    pub(crate) fn add(&self, command: String) {
        let mut declined = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if declined.len() < MAX_DECLINED {
            declined.insert(command);
        }
    }
}
