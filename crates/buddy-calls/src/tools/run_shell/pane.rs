//! A command that is typed into a shared pane instead of being run beside it.

use buddy_exec::{PaneCommand, PaneSelector, PaneText, Panes};
use buddy_policy::Execution;
use buddy_protocol::ToolFailure;
use serde_json::{Value, json};

use super::watch::{MAX_RUN, Waited, explain, limits, outcome, watch};
use crate::tools::background::Leaving;
use crate::tools::command_changes::keep_after;
use crate::tools::failure::target_failure;
use crate::tools::snapshot::{start_kept, start_unfollowed};
use crate::tools::tool::ToolContext;

/// A command for a pane.
pub(super) struct InPane<'a> {
    pub(super) panes: &'a dyn Panes,
    pub(super) selector: PaneSelector,
    pub(super) command: String,
    pub(super) cwd: std::path::PathBuf,
    /// How long it is waited for; none leaves it there at once.
    pub(super) wait: Option<std::time::Duration>,
}

impl InPane<'_> {
    /// Runs it and waits, or leaves it there.
    pub(super) async fn run(self, context: &ToolContext) -> Result<Value, ToolFailure> {
        let ran_in = self.cwd.clone();
        let shown = self.command.clone();
        let has_room = context.background.has_room();
        let command = PaneCommand {
            text: match &context.execution {
                Execution::Shell => PaneText::Shell(self.command),
                Execution::Argv(words) => PaneText::Words(words.clone()),
            },
            cwd: self.cwd,
            timeout: self.wait.map(|wait| if has_room { MAX_RUN } else { wait }),
            output: limits(context),
            bounds: context.bounds.clone(),
        };
        let Some(wait) = self.wait else {
            let pane = start_unfollowed(context, async {
                let sent = context.until_cancelled(self.panes.dispatch(&self.selector, command)).await?;
                sent.map_err(|error| target_failure(&error))
            })
            .await?;
            return Ok(json!({
                "dispatched": true,
                "pane": pane,
                "note": "the command runs in the pane; look at it with tmux_capture_pane, type with tmux_send_keys, and \
                         interrupt it with the key C-c",
            }));
        };
        let mut run = start_kept(context, async {
            let started = context.until_cancelled(self.panes.start(&self.selector, command)).await?;
            started.map_err(|error| target_failure(&error))
        })
        .await?;
        let patience = if has_room { wait } else { std::time::Duration::MAX };
        let exit = match watch(&mut run.running, patience, context).await? {
            Waited::Ended(exit) => *exit,
            Waited::RunsOn => {
                let id = context.background.pane_id();
                context.recorder.leave_project();
                context.background.take(Leaving {
                    id: id.clone(),
                    command: shown,
                    cwd: ran_in,
                    target: context.target_name.clone(),
                    log: context.log.clone(),
                    running: run.running,
                    way: Box::pin(std::future::pending()),
                    egress: None,
                    recorder: context.recorder.clone(),
                    parts: context.parts,
                    managed: None,
                });
                return Ok(json!({
                    "dispatched": true,
                    "id": id,
                    "log": context.log.to_string_lossy(),
                    "note": format!(
                        "the command still runs in the pane after {} s; while you need its result, run `sleep 60` and repeat; buddy \
                         tells you when it has ended; look at it with `tmux_capture_pane`; end it with `process_stop`; until it \
                         ends, other commands run beside the pane; it ends with this session, or after {} hours",
                        wait.as_secs_f32(),
                        MAX_RUN.as_secs() / 3600
                    ),
                }));
            }
        };
        let kept = keep_after(Some(&exit), context.parts, &context.recorder).await;
        let mut result = outcome(&exit, wait);
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
