//! `buddy` and `buddy resume`: a conversation in the terminal.

use std::sync::Arc;

use buddy_agent::BuddyAgent;
use buddy_exec::{Panes, TmuxTarget};
use buddy_protocol::{Change, Command, NewSession, SessionId, Sessions};
use buddy_tui::{Exit, ReplRequest, run_repl};
use tokio::io::BufReader;

use crate::cli::Resume;
use crate::commands::setup::{Invocation, Notes, Setup};
use crate::commands::{find, last, panes, printer, trust};
use crate::signals::interrupts;
use crate::wiring::{Buddy, Wishes, wire};

/// Starts a new conversation.
pub(crate) async fn start(invocation: Invocation<'_>) -> anyhow::Result<Exit> {
    panes::refuse_inside(invocation.environment)?;
    if invocation.elsewhere.is_none() {
        trust::offer(invocation.environment, &invocation.cwd)?;
    }
    let setup = invocation.prepare(Notes::Shown).await?;
    let model = setup.session_model(&invocation)?;
    let wishes = setup.wishes(&invocation).await?;
    let panes = panes::open(&invocation, &setup, &wishes.host).await?;
    let wishes = Wishes { panes: panes.clone(), ..wishes };
    let cwd = wishes.host.cwd().to_string_lossy().into_owned();
    if let Some(remote) = &wishes.host.remote {
        printer().status(&format!("on {}, in {cwd}", remote.place));
    }
    let buddy = wire(invocation.environment, wishes)?;
    let new = NewSession { agent: BuddyAgent::NAME.to_owned(), cwd, model, parent: None };
    let session = buddy.hub.create(&buddy.who, new).await?;
    begin(&invocation, &buddy, &session).await?;
    talk(&setup, buddy, panes, session, 1).await
}

/// Goes on with an old one.
pub(crate) async fn resume(invocation: Invocation<'_>, resume: &Resume) -> anyhow::Result<Exit> {
    panes::refuse_inside(invocation.environment)?;
    let setup = invocation.prepare(Notes::Shown).await?;
    let model = setup.session_model(&invocation)?;
    let wishes = setup.wishes(&invocation).await?;
    let panes = panes::open(&invocation, &setup, &wishes.host).await?;
    let wishes = Wishes { panes: panes.clone(), ..wishes };
    let buddy = wire(invocation.environment, wishes)?;
    let summary = match &resume.id {
        Some(id) => find(&buddy, id).await?,
        None => last(&buddy, None).await?,
    };
    if model.is_some() {
        buddy
            .hub
            .send(&buddy.who, &summary.id, Command::Change(Change { model, ..Change::default() }))
            .await?;
    }
    begin(&invocation, &buddy, &summary.id).await?;
    talk(&setup, buddy, panes, summary.id, summary.head).await
}

/// What the command line wants of the session before anything is said.
async fn begin(invocation: &Invocation<'_>, buddy: &Buddy, session: &SessionId) -> anyhow::Result<()> {
    if invocation.policy.is_plan_only {
        let change = Change { plan_only: Some(true), ..Change::default() };
        buddy.hub.send(&buddy.who, session, Command::Change(change)).await?;
    }
    Ok(())
}

async fn talk(
    setup: &Setup,
    buddy: Buddy,
    panes: Option<Arc<TmuxTarget>>,
    session: SessionId,
    head: u64,
) -> anyhow::Result<Exit> {
    let mut printer = printer();
    printer.status(&format!("buddy {} · session {session}", env!("CARGO_PKG_VERSION")));
    if let Err(failure) = setup.models.check() {
        printer.status(&format!("{}\n  {}", failure.message, failure.hint.unwrap_or_default()));
    }
    if let Some(panes) = &panes {
        printer.status(&format!(
            "commands run in a terminal that you can attach to: {}",
            panes.attach_command()
        ));
    }
    let (interrupts, _watch) = interrupts()?;
    let request = ReplRequest { who: buddy.who.clone(), session: session.clone(), head, interrupts };
    let input = BufReader::new(tokio::io::stdin());
    let exit = run_repl(buddy.hub.clone(), request, input, &mut printer).await;
    buddy.close().await?;
    setup.models.settle().await;
    if let Some(panes) = panes {
        panes::tell_remaining(&panes, &mut printer).await;
    }
    printer.status(&format!("\ngo on with: buddy resume {session}"));
    Ok(exit?)
}
