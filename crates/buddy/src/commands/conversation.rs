//! `buddy` and `buddy resume`: a conversation in the terminal.

use buddy_agent::BuddyAgent;
use buddy_protocol::{Change, Command, NewSession, SessionId, Sessions};
use buddy_tui::{Exit, ReplRequest, run_repl};
use tokio::io::BufReader;

use crate::cli::Resume;
use crate::commands::setup::{Invocation, Notes, Setup};
use crate::commands::{find, is_here, last, panes, printer, trust};
use crate::hosts::{Beginning, RunHosts};
use crate::panes::PaneMaker;
use crate::signals::interrupts;
use crate::wiring::{Buddy, wire};

/// Starts a new conversation.
pub(crate) async fn start(invocation: Invocation<'_>) -> anyhow::Result<Exit> {
    panes::refuse_inside(invocation.environment)?;
    if is_here(&invocation.hosts) {
        trust::offer(invocation.environment, &invocation.cwd)?;
    }
    let setup = invocation.prepare(Notes::Shown).await?;
    let model = setup.session_model(&invocation)?;
    let hosts = setup.hosts(&invocation, PaneMaker::new(&invocation, &setup.loaded.config))?;
    hosts.reach_here().await?;
    let Beginning { cwd, targets } = hosts.begin().await?;
    for target in &targets {
        printer().status(&format!(
            "on {} ({}), in {}",
            target.place.as_deref().unwrap_or("-"),
            target.name,
            target.cwd
        ));
    }
    let buddy = wire(invocation.environment, setup.wishes(&invocation, hosts.clone())?)?;
    let new = NewSession { agent: BuddyAgent::NAME.to_owned(), cwd, model, parent: None, targets };
    let session = buddy.hub.create(&buddy.who, new).await?;
    begin(&invocation, &buddy, &session).await?;
    talk(&setup, buddy, &hosts, session, 1).await
}

/// Goes on with an old one.
pub(crate) async fn resume(invocation: Invocation<'_>, resume: &Resume) -> anyhow::Result<Exit> {
    panes::refuse_inside(invocation.environment)?;
    let setup = invocation.prepare(Notes::Shown).await?;
    let model = setup.session_model(&invocation)?;
    let hosts = setup.hosts(&invocation, PaneMaker::new(&invocation, &setup.loaded.config))?;
    hosts.reach_here().await?;
    let buddy = wire(invocation.environment, setup.wishes(&invocation, hosts.clone())?)?;
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
    talk(&setup, buddy, &hosts, summary.id, summary.head).await
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
    hosts: &RunHosts,
    session: SessionId,
    head: u64,
) -> anyhow::Result<Exit> {
    let mut printer = printer();
    printer.status(&format!("buddy {} · session {session}", env!("CARGO_PKG_VERSION")));
    if let Err(failure) = setup.models.check() {
        printer.status(&format!("{}\n  {}", failure.message, failure.hint.unwrap_or_default()));
    }
    for way in panes::ways(hosts).await {
        printer.status(&way);
    }
    let (interrupts, _watch) = interrupts()?;
    let request = ReplRequest { who: buddy.who.clone(), session: session.clone(), head, interrupts };
    let input = BufReader::new(tokio::io::stdin());
    let exit = run_repl(buddy.hub.clone(), request, input, &mut printer).await;
    buddy.close().await?;
    setup.models.settle().await;
    panes::tell_remaining(hosts, &mut printer).await;
    printer.status(&format!("\ngo on with: buddy resume {session}"));
    Ok(exit?)
}
