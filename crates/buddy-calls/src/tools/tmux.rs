//! Tools for the terminals that the agent shares with people. They are offered where the target has panes.

mod capture_pane;
mod pane;
mod send_keys;
mod session;

use std::time::Duration;

use buddy_exec::{PaneSelector, Panes};
use buddy_protocol::ToolFailure;

pub(crate) use capture_pane::CapturePane;
pub(crate) use pane::{CreatePane, KillPane};
pub(crate) use send_keys::SendKeys;
pub(crate) use session::{CreateSession, KillSession};

use crate::tools::tool::ToolContext;
use crate::tools::wait::Wait;

/// The longest time that a call may put itself off.
const MAX_DELAY: Duration = Duration::from_mins(1);

/// The panes of the host.
fn panes(context: &ToolContext) -> Result<&dyn Panes, ToolFailure> {
    context.target.panes().ok_or_else(no_panes)
}

/// The error for a model that names a pane where there are none.
pub(crate) fn no_panes() -> ToolFailure {
    ToolFailure::new("unsupported", "this host has no shared panes").hint("leave `session` and `pane` out")
}

/// Which pane is meant.
pub(crate) fn selector(session: Option<&String>, pane: Option<&String>) -> PaneSelector {
    PaneSelector { session: session.cloned(), pane: pane.cloned() }
}

/// Where something is typed, in words for the user who approves it.
fn pane_place(session: Option<&str>, pane: Option<&str>) -> String {
    let pane = pane.unwrap_or("shared");
    match session {
        Some(session) => format!("the pane {pane} of the tmux session {session}"),
        None => format!("the pane {pane}"),
    }
}

/// Waits before a call does something.
async fn put_off(delay: Wait, context: &ToolContext) -> Result<(), ToolFailure> {
    match delay {
        Wait::Default | Wait::No => Ok(()),
        Wait::For(time) if time <= MAX_DELAY => context.until_cancelled(tokio::time::sleep(time)).await,
        Wait::For(_) => Err(ToolFailure::new("invalid_input", "`delay` is longer than a minute")),
    }
}
