//! Files with secrets that a yes opens: what commands cannot read as long as nobody is asked, and can once a user allowed them. And those that
//! commands in the background are kept from, which they can read once somebody replaces them.

use std::path::PathBuf;
use std::sync::Arc;

use buddy_exec::{Bounds, Target};
use buddy_protocol::ToolFailure;
use serde_json::Value;

use crate::gate::Judged;
use crate::tools::pipeline::{Pipeline, Ready};

/// Where to look, and by which bounds.
pub(crate) struct Seals {
    pub(crate) target: Arc<dyn Target>,
    /// The directories that the call may work in, and the one that it runs in.
    pub(crate) roots: Vec<PathBuf>,
    /// The bounds of the call when nobody is asked.
    pub(crate) unasked: Bounds,
    /// Its bounds once a user allowed it.
    pub(crate) allowed: Bounds,
}

impl Seals {
    /// The files as they are now, the nearest first.
    pub(crate) async fn opened(&self) -> Vec<PathBuf> {
        let mut files = self.target.sealed(&self.unasked, &self.roots).await;
        if !files.is_empty() {
            let closed = self.target.sealed(&self.allowed, &self.roots).await;
            files.retain(|file| !closed.contains(file));
        }
        files
    }
}

/// Where the files are that a command is kept from, if it is.
pub(crate) struct Closed(Option<(Arc<dyn Target>, Bounds, Vec<PathBuf>)>);

impl Closed {
    pub(crate) fn of(ready: &Ready, judged: &Judged) -> Self {
        let is_closed = judged.decision.needs.runs && !judged.bounds.opens_secrets();
        let roots = judged.workspace.iter().chain([&ready.target.place.cwd]).cloned();
        Self(is_closed.then(|| (ready.target.host.target.clone(), judged.bounds.clone(), roots.collect())))
    }
}

impl Pipeline {
    /// Watches the files that a command is kept from, if its result says that it runs on.
    pub(crate) async fn watch_seals(&self, closed: Closed, result: &Result<Value, ToolFailure>) {
        let runs_on = |result: &Value| result["dispatched"] == true || result["id"].is_string();
        let (Some((target, bounds, roots)), true) = (closed.0, result.as_ref().is_ok_and(runs_on)) else {
            return;
        };
        let files = target.sealed(&bounds, &roots).await;
        self.secrets.watch(files);
    }
}
