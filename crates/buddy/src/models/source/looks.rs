//! The statements of servers about their context windows in this run.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// How often a server that does not answer in time is asked in one run.
const MAX_LOOKS: u32 = 3;

/// The statements of servers, by the names of models.
#[derive(Default)]
pub(super) struct Looks {
    /// Held for a look or a note only.
    seen: Mutex<HashMap<String, ServerLook>>,
}

#[derive(Default)]
struct ServerLook {
    tries: u32,
    is_answered: bool,
    window: Option<u64>,
}

impl Looks {
    /// The statement of the server about this model.
    pub(super) fn window(&self, name: &str) -> Option<u64> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(name)?.window
    }

    /// Whether to ask now; counts as having asked.
    pub(super) fn begin(&self, name: &str) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let look = seen.entry(name.to_owned()).or_default();
        let is_wanted = !look.is_answered && look.tries < MAX_LOOKS;
        look.tries += u32::from(is_wanted);
        is_wanted
    }

    pub(super) fn end(&self, name: &str, window: Option<u64>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let look = seen.entry(name.to_owned()).or_default();
        (look.is_answered, look.window) = (true, window);
    }
}
