//! The terminals that the agent shares with the person: whether there are any, and what is told about them.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use buddy_exec::{
    PaneError, Panes, RECONNECT_WITHIN, TargetError, TmuxSettings, TmuxTarget, is_inside, pane_directory,
    session_name,
};
use buddy_tui::Printer;

use crate::commands::printer;
use crate::commands::setup::{Invocation, Setup, TmuxWish};
use crate::config::WorkEnvironment;
use crate::environment::Environment;
use crate::host::Host;

/// The longest name of a directory that is made from the name of a target; file systems take 255.
const MAX_NAME_CHARS: usize = 200;

/// Where the socket of buddy's own tmux server is.
fn directory(environment: &Environment) -> PathBuf {
    environment.data.join("run").join("tmux")
}

/// buddy in its own pane would type into itself.
pub(super) fn refuse_inside(environment: &Environment) -> anyhow::Result<()> {
    if environment.get("TMUX").is_some_and(|tmux| is_inside(tmux, &directory(environment))) {
        bail!(
            "this is buddy's own shared pane, so buddy would type into itself; start it in another terminal"
        );
    }
    Ok(())
}

/// The panes of a conversation. Without a wish on the command line, what stands in their way means that there are none.
pub(super) async fn open(
    invocation: &Invocation<'_>,
    setup: &Setup,
    host: &Host,
) -> anyhow::Result<Option<Arc<TmuxTarget>>> {
    let config = &setup.loaded.config;
    let is_bounded =
        config.agent.environment == WorkEnvironment::Development || invocation.policy.is_plan_only;
    let session = match &invocation.tmux {
        TmuxWish::Wanted(_) if is_bounded => bail!(
            "--tmux needs `agent.environment = \"production\"` and no --plan: the shell of a shared terminal is not in the \
             jail, so commands that have bounds do not run there"
        ),
        TmuxWish::Wanted(session) => session.clone(),
        TmuxWish::Unsaid if is_bounded || !config.tmux.enabled || !std::io::stdin().is_terminal() => {
            return Ok(None);
        }
        TmuxWish::Unsaid => None,
    };
    let is_wanted = invocation.tmux != TmuxWish::Unsaid;
    match layer(invocation, setup, host, session).await {
        Ok(panes) => Ok(Some(Arc::new(panes))),
        Err(error) if is_wanted => Err(error),
        Err(error) => {
            if let Some(TargetError::Pane(PaneError::InUse { .. } | PaneError::NotPrivate { .. })) =
                error.downcast_ref()
            {
                printer().status(&format!("{error}; commands run without a shared terminal here"));
            }
            Ok(None)
        }
    }
}

async fn layer(
    invocation: &Invocation<'_>,
    setup: &Setup,
    host: &Host,
    session: Option<String>,
) -> anyhow::Result<TmuxTarget> {
    let (environment, config) = (invocation.environment, &setup.loaded.config);
    let here = directory(environment);
    let (directory, locks) = match &host.remote {
        None => (here.clone(), here),
        Some(remote) => {
            let origin = session_name(&environment.host);
            (pane_directory(&*host.target, &host.env, &origin).await?, here.join(file_name(&remote.name)))
        }
    };
    let settings = TmuxSettings {
        locks,
        directory,
        session: session.unwrap_or_else(|| session_name(&config.agent.name)),
        max_sessions: config.tmux.max_sessions,
        max_panes: config.tmux.max_panes,
        shell: host.target.describe().shell.clone(),
        env: host.env.clone(),
        reconnect_within: RECONNECT_WITHIN,
        way: host.way.clone(),
    };
    let panes = TmuxTarget::new(host.target.clone(), settings)?;
    panes.claim().await?;
    Ok(panes)
}

/// The name of a target as that of a directory.
fn file_name(target: &str) -> String {
    let fit = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
    target.chars().map(fit).take(MAX_NAME_CHARS).collect()
}

/// Says which sessions live on.
pub(super) async fn tell_remaining(panes: &TmuxTarget, printer: &mut Printer) {
    // That nothing can be said about them is no reason to end in another way.
    for left in panes.remaining().await.unwrap_or_default() {
        let count = if left.panes == 1 { "1 pane".to_owned() } else { format!("{} panes", left.panes) };
        printer.status(&format!("the tmux session {} lives on with {count}: {}", left.session, left.attach));
    }
}
