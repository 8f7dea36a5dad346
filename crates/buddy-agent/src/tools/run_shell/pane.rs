//! A command that is typed into a shared pane instead of being run beside it.

use buddy_exec::{PaneCommand, PaneSelector, PaneText, Panes};
use buddy_policy::Execution;
use buddy_protocol::ToolFailure;
use serde_json::{Value, json};

use super::{explain, limits, outcome, snapshot, watch};
use crate::tools::failure::target_failure;
use crate::tools::tool::ToolContext;

/// A command for a pane.
pub(super) struct InPane<'a> {
    pub(super) panes: &'a dyn Panes,
    pub(super) selector: PaneSelector,
    pub(super) command: String,
    pub(super) cwd: std::path::PathBuf,
    /// How long it may run; none leaves it there.
    pub(super) timeout: Option<std::time::Duration>,
}

impl InPane<'_> {
    /// Runs it and waits, or leaves it there.
    pub(super) async fn run(self, context: &ToolContext) -> Result<Value, ToolFailure> {
        let ran_in = self.cwd.clone();
        let command = PaneCommand {
            text: match &context.execution {
                Execution::Shell => PaneText::Shell(self.command),
                Execution::Argv(words) => PaneText::Words(words.clone()),
            },
            cwd: self.cwd,
            timeout: self.timeout,
            output: limits(context),
            bounds: context.bounds.clone(),
        };
        let Some(timeout) = self.timeout else {
            let sent = context.until_cancelled(self.panes.dispatch(&self.selector, command)).await?;
            let pane = sent.map_err(|error| target_failure(&error))?;
            return Ok(json!({
                "dispatched": true,
                "pane": pane,
                "note": "the command runs in the pane; look at it with tmux_capture_pane, type with tmux_send_keys, and \
                         interrupt it with the key C-c",
            }));
        };
        snapshot(context).await?;
        let started = context.until_cancelled(self.panes.start(&self.selector, command)).await?;
        let mut run = started.map_err(|error| target_failure(&error))?;
        let exit = watch(&mut run.running, context).await?;
        let kept = context.recorder.after_command().await;
        let mut result = outcome(&exit, timeout);
        if let Some(note) = explain(&exit, &ran_in, context).await {
            result["sealed"] = json!(note);
        }
        if let Err(error) = kept {
            result["undo"] = json!(format!("what the command changed is not known: {error}"));
        }
        // The notes come before the exit; that there are none means that the run was lost, and then there is no exit.
        let notes = run.notes.await.unwrap_or_default();
        if !notes.is_empty() {
            result["pane_notes"] = json!(notes);
        }
        Ok(result)
    }
}
