//! Notices about the terminals that the agent shares with the user.

use anyhow::bail;
use buddy_exec::{PANE_VARIABLE, Panes, is_inside};
use buddy_tui::{Printer, to_copy};

use crate::environment::Environment;
use crate::hosts::RunHosts;
use crate::panes::directory;

/// buddy in its own pane would type into itself.
pub(super) fn refuse_inside(environment: &Environment) -> anyhow::Result<()> {
    // In a jailed pane nothing tells of tmux, but the shell of every pane tells of itself.
    let is_marked = environment.get(PANE_VARIABLE).is_some();
    if is_marked || environment.get("TMUX").is_some_and(|tmux| is_inside(tmux, &directory(environment))) {
        bail!(
            "this is buddy's own shared pane, so buddy would type into itself; start it in another terminal"
        );
    }
    Ok(())
}

/// How to attach to the panes that there are.
pub(super) async fn describe_ways(hosts: &RunHosts) -> Vec<String> {
    let way =
        |command: String| format!("Commands run in a terminal that you can attach to: {}", to_copy(&command));
    hosts.panes().await.iter().map(|panes| way(panes.attach_command())).collect()
}

/// Ends what need not live on, and says which sessions do.
pub(super) async fn tell_remaining(hosts: &RunHosts, printer: &mut Printer) {
    for panes in hosts.panes().await {
        // That nothing can be done or said about them is no reason to end in another way.
        let _ = panes.end_idle().await;
        for left in panes.remaining().await.unwrap_or_default() {
            let count = if left.panes == 1 { "1 pane".to_owned() } else { format!("{} panes", left.panes) };
            printer.status(&format!(
                "The tmux session {} keeps running with {count}: {}",
                left.session,
                to_copy(&left.attach)
            ));
        }
    }
}
