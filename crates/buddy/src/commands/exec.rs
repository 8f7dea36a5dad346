//! `buddy exec`.

use std::io::{IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, bail};
use buddy_agent::BuddyAgent;
use buddy_policy::Approvals;
use buddy_protocol::NewSession;
use buddy_tui::{ExecRequest, ExecTarget, Exit, OutputFormat, run_exec};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cli::{Exec, Format};
use crate::commands::setup::{Invocation, Notes};
use crate::commands::{find, fork, last, printer};
use crate::desk::{details, local_image};
use crate::hosts::Beginning;
use crate::signals::interrupts;
use crate::wiring::{Buddy, Wishes, wire};

/// How much a prompt may hold, in bytes, and so how much is read from the standard input.
const MAX_INPUT: u64 = 4 * 1024 * 1024;

/// Runs one prompt.
pub(crate) async fn run(invocation: Invocation<'_>, exec: Exec) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let Some(prompt) = prompt_in_time(&exec).await? else {
        printer().status("buddy: the time limit was reached while the prompt was read");
        return Ok(Exit::Timeout);
    };
    let images = exec.image.iter().map(|path| local_image(path));
    let images = images.collect::<Result<Vec<_>, String>>().map_err(anyhow::Error::msg)?;
    let format = format(&exec);
    let notes = if matches!(format, OutputFormat::Text) { Notes::Shown } else { Notes::Warnings };
    let setup = invocation.prepare(notes).await?;
    let model = setup.session_model(&invocation)?;
    let hosts = setup.hosts(&invocation, None)?;
    let wishes = setup.wishes(&invocation, hosts.clone())?;
    let mut budget = wishes.budget;
    budget.session.cost = exec.max_cost.or(budget.session.cost);
    budget.session.tokens = exec.max_tokens.or(budget.session.tokens);
    let wishes = Wishes {
        budget,
        approvals: approvals(wishes.approvals),
        max_steps: exec.max_turns.unwrap_or(wishes.max_steps),
        ..wishes
    };
    // What goes on knows its own hosts; that one is away is told in the session.
    let beginning = match exec.resume {
        Some(_) => None,
        None => Some(hosts.begin().await?),
    };
    let buddy = wire(invocation.environment, wishes)?;
    let request = ExecRequest {
        who: buddy.who.clone(),
        target: target(&buddy, &exec, beginning, model).await?,
        prompt,
        images,
        details: details(&setup.loaded.config.display),
        plan_only: invocation.policy.is_plan_only,
        format,
        include_deltas: exec.include_deltas,
        timeout: exec.timeout.map(|timeout| timeout.saturating_sub(began.elapsed())),
        interrupt: CancellationToken::new(),
    };
    let (mut signals, mut watch) = interrupts()?;
    let (interrupt, at_once) = (request.interrupt.clone(), CancellationToken::new());
    let stop_at_once = at_once.clone();
    watch.spawn(async move {
        for stop in [interrupt, stop_at_once] {
            if signals.recv().await.is_some() {
                stop.cancel();
            }
        }
    });
    let run = async {
        let exit = run_exec(buddy.hub.clone(), request, &mut printer()).await;
        buddy.close().await?;
        setup.models.settle().await;
        hosts.rest().await;
        Ok(exit?)
    };
    tokio::select! {
        exit = run => exit,
        // What is cut off here is closed when the session is taken up again; commands end with this process.
        () = at_once.cancelled() => Ok(Exit::Interrupted),
    }
}

/// Nobody can be asked, so what would be asked is denied.
fn approvals(wanted: Approvals) -> Approvals {
    match wanted {
        Approvals::All | Approvals::Edits => wanted,
        Approvals::Ask | Approvals::None | Approvals::Window => Approvals::None,
    }
}

fn format(exec: &Exec) -> OutputFormat {
    match exec.output_format {
        _ if exec.json => OutputFormat::StreamJson,
        Format::Text => OutputFormat::Text,
        Format::Json => OutputFormat::Json,
        Format::StreamJson => OutputFormat::StreamJson,
    }
}

async fn target(
    buddy: &Buddy,
    exec: &Exec,
    beginning: Option<Beginning>,
    model: Option<String>,
) -> anyhow::Result<ExecTarget> {
    let summary = match beginning {
        None => find(buddy, exec.resume.as_deref().unwrap_or_default()).await?,
        Some(beginning) if exec.last => last(buddy, Some(Path::new(&beginning.cwd))).await?,
        Some(_) if exec.fork => bail!("--fork needs a session: --resume ID or --last"),
        Some(Beginning { cwd, targets }) => {
            let agent = BuddyAgent::NAME.to_owned();
            return Ok(ExecTarget::New(NewSession { agent, cwd, model, parent: None, targets }));
        }
    };
    let summary = if exec.fork { fork(buddy, &summary.id).await? } else { summary };
    Ok(ExecTarget::Resume { session: summary.id, head: summary.head, model })
}

/// The prompt; none when an input that does not end took all the time there was.
async fn prompt_in_time(exec: &Exec) -> anyhow::Result<Option<String>> {
    let argument = exec.prompt.clone();
    let reading = tokio::task::spawn_blocking(move || prompt(argument.as_deref()));
    let read = match exec.timeout {
        Some(timeout) => match tokio::time::timeout(timeout, reading).await {
            Ok(read) => read,
            Err(_) => return Ok(None),
        },
        None => reading.await,
    };
    read.context("reading the prompt broke off")?.map(Some)
}

/// The prompt from the argument, from the standard input, or from both.
fn prompt(argument: Option<&str>) -> anyhow::Result<String> {
    let argument = argument.filter(|text| *text != "-");
    let input = match argument {
        // A terminal is no pipe: with a prompt at hand nothing is read from it.
        Some(_) if std::io::stdin().is_terminal() => String::new(),
        _ => read_input()?,
    };
    let prompt = match (argument, input.trim().is_empty()) {
        (Some(text), true) => text.to_owned(),
        (Some(text), false) => format!("{text}\n\n<stdin>\n{input}\n</stdin>"),
        (None, _) => input,
    };
    if prompt.trim().is_empty() {
        bail!("there is no prompt: give it as an argument or on the standard input");
    }
    if prompt.len() as u64 > MAX_INPUT {
        bail!("the prompt has {} bytes, {MAX_INPUT} are allowed", prompt.len());
    }
    Ok(prompt)
}

fn read_input() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().take(MAX_INPUT + 1).read_to_end(&mut bytes).context("cannot read the standard input")?;
    if bytes.len() as u64 > MAX_INPUT {
        bail!("the standard input has more than {MAX_INPUT} bytes");
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
