//! The tools that a session has at this moment. A set is composed when the session opens, and grows between turns.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::tools::added_tool::ToolSource;
use crate::tools::tool_set::ToolSet;

/// The number of refusals that are told in one run of a session. A source with more of them is broken.
const MAX_TOLD: usize = 1_000;

/// The tools of a session.
pub struct SessionTools {
    source: Arc<dyn ToolSource>,
    /// The names of the only tools that it may have; none for all.
    allowed: Option<Vec<String>>,
    /// Held for a look or an exchange only.
    current: Mutex<Arc<ToolSet>>,
    /// The refusals that were told. Held for a look only.
    told: Mutex<HashSet<String>>,
}

/// The outcome of a look for more tools.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ToolsFound {
    /// The names of the tools that the session has now that it did not have before.
    pub new: Vec<String>,
    /// Why others are left out, one line each, as far as it was not told before.
    pub refused: Vec<String>,
}

impl SessionTools {
    /// The tools of a session that is opened, and why others are left out: the built-in ones and those of a source. With names,
    /// it has no others than these.
    pub fn open(
        built_in: Arc<ToolSet>,
        source: Arc<dyn ToolSource>,
        allowed: Option<Vec<String>>,
    ) -> (Self, Vec<String>) {
        let tools = Self { source, allowed, current: Mutex::new(built_in), told: Mutex::default() };
        let (set, refused) = tools.look();
        *tools.lock() = Arc::new(set);
        (tools, refused)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Arc<ToolSet>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tools that it has.
    pub fn current(&self) -> Arc<ToolSet> {
        self.lock().clone()
    }

    fn look(&self) -> (ToolSet, Vec<String>) {
        let (set, mut refused) = self.current().with(self.source.tools());
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        refused.retain(|why| told.len() < MAX_TOLD && told.insert(why.clone()));
        (set.restricted(self.allowed.as_deref()), refused)
    }

    /// Takes in tools that there are only now. Call between two turns: what a model was told in a turn stays as it is. A tool
    /// whose source lost it stays too, and its calls fail.
    pub fn grow(&self) -> ToolsFound {
        let before = self.current();
        let (set, refused) = self.look();
        let new: Vec<String> = set.names().into_iter().filter(|name| !before.has(name)).collect();
        if !new.is_empty() {
            *self.lock() = Arc::new(set);
        }
        ToolsFound { new, refused }
    }
}
