//! `buddy` and `buddy resume`: a conversation in the terminal.

use std::path::PathBuf;

use buddy_agent::BuddyAgent;
use buddy_policy::Approvals;
use buddy_protocol::{Command, NewSession, SessionId, Sessions};
use buddy_tui::{Exit, ReplRequest, run_repl};
use tokio::io::BufReader;

use crate::cli::Resume;
use crate::commands::{find, last, printer};
use crate::environment::Environment;
use crate::models::EnvironmentModels;
use crate::signals::interrupts;
use crate::wiring::{Buddy, MAX_STEPS, Wishes, wire};

/// Starts a new conversation.
pub(crate) async fn start(
    environment: &Environment,
    cwd: PathBuf,
    model: Option<String>,
) -> anyhow::Result<Exit> {
    let buddy = wish(environment, cwd.clone())?;
    let cwd = cwd.to_string_lossy().into_owned();
    let new = NewSession { agent: BuddyAgent::NAME.to_owned(), cwd, model, parent: None };
    let session = buddy.hub.create(&buddy.who, new).await?;
    talk(environment, buddy, session, 1).await
}

/// Goes on with an old one.
pub(crate) async fn resume(
    environment: &Environment,
    resume: &Resume,
    cwd: PathBuf,
    model: Option<String>,
) -> anyhow::Result<Exit> {
    let buddy = wish(environment, cwd)?;
    let summary = match &resume.id {
        Some(id) => find(&buddy, id).await?,
        None => last(&buddy, None).await?,
    };
    if model.is_some() {
        buddy.hub.send(&buddy.who, &summary.id, Command::Change { title: None, model }).await?;
    }
    talk(environment, buddy, summary.id, summary.head).await
}

fn wish(environment: &Environment, cwd: PathBuf) -> anyhow::Result<Buddy> {
    wire(environment, Wishes { approvals: Approvals::Ask, max_steps: MAX_STEPS, cwd })
}

async fn talk(
    environment: &Environment,
    buddy: Buddy,
    session: SessionId,
    head: u64,
) -> anyhow::Result<Exit> {
    let mut printer = printer();
    printer.status(&format!("buddy {} · session {session}", env!("CARGO_PKG_VERSION")));
    if let Err(failure) = EnvironmentModels::new(environment).check() {
        printer.status(&format!("{}\n  {}", failure.message, failure.hint.unwrap_or_default()));
    }
    let (interrupts, _watch) = interrupts()?;
    let request = ReplRequest { who: buddy.who.clone(), session: session.clone(), head, interrupts };
    let input = BufReader::new(tokio::io::stdin());
    let exit = run_repl(buddy.hub.clone(), request, input, &mut printer).await;
    buddy.close().await?;
    printer.status(&format!("\ngo on with: buddy resume {session}"));
    Ok(exit?)
}
