//! `buddy exec`.

mod last_message;
mod prompt;

use std::io::IsTerminal;
use std::path::Path;

use buddy_agent::BuddyAgent;
use buddy_policy::Attendance;
use buddy_protocol::{ApprovalPolicy, Attachment, NewSession};
use buddy_tui::{
    AnswerSchema, CommandInput, ExecOutcome, ExecRequest, ExecTarget, ExecWatch, Exit, OutputFormat, Printer,
    run_exec, terminal_columns,
};
use tokio::io::BufReader;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::cli::{ExecFlags, Format, InputFormat};
use crate::commands::panes;
use crate::commands::setup::{Notes, Setup};
use crate::config::text_of;
use crate::desk::{details, list_look, local_image};
use crate::environment::Environment;
use crate::ephemeral::EphemeralPlace;
use crate::hosts::Beginning;
use crate::invocation::{Invocation, TmuxWish};
use crate::panes::PaneMaker;
use crate::session_choice::{find_last_session, find_session, fork_session};
use crate::signals::interrupts;
use crate::start_error::{StartError, UsageError};
use crate::wiring::{Buddy, Wishes, wire};
use last_message::LastMessage;
use prompt::{fits, prompt_in_time};

/// Runs one prompt, or what commands bring.
pub(crate) async fn run(invocation: Invocation<'_>, exec: ExecFlags) -> anyhow::Result<Exit> {
    let began = Instant::now();
    let format = format(&exec);
    let is_steered = exec.input_format == InputFormat::StreamJson;
    if is_steered && format != OutputFormat::StreamJson {
        return Err(UsageError::new("--input-format stream-json needs --output-format stream-json").into());
    }
    if exec.fork && exec.resume.is_none() && !exec.last {
        return Err(UsageError::new("--fork needs a session: --resume ID or --last").into());
    }
    // The standard input has commands then, and no prompt.
    let mut prompt = exec.prompt.clone().filter(|text| text != "-");
    if prompt.is_none() && is_steered && !exec.image.is_empty() {
        return Err(UsageError::new("--image needs a prompt; commands bring their own images").into());
    }
    let images: Result<Vec<Attachment>, String> = exec.image.iter().map(|path| local_image(path)).collect();
    let images = images.map_err(UsageError::new)?;
    let schema = exec.output_schema.as_deref().map(schema).transpose()?;
    let last_message = exec.output_last_message.as_deref().map(LastMessage::at).transpose()?;
    if !is_steered {
        prompt = prompt_in_time(&exec).await?;
        if prompt.is_none() {
            Printer::standard().status("buddy: timed out while reading the prompt");
            return Ok(Exit::Timeout);
        }
    }
    // The text about the schema is part of the prompt.
    if let (Some(prompt), Some(schema)) = (&prompt, &schema) {
        fits(&schema.asked(prompt))?;
    }
    invocation.keep_trust()?;
    let timeout = exec.timeout.map(|timeout| timeout.saturating_sub(began.elapsed()));
    // Text from a pipe or a file is not the user's own: it names no host.
    let is_piped = !is_steered && !has_words(&exec) && !std::io::stdin().is_terminal();
    let typed = is_piped.then(String::new);
    let request = Wanted { exec, prompt, typed, images, schema, format, timeout, is_steered };
    let mut environment = invocation.environment.clone();
    if request.exec.ephemeral {
        EphemeralPlace::choose(&mut environment);
    }
    let outcome = carry_out(Invocation { environment: &environment, ..invocation }, request).await?;
    if let Some(file) = last_message {
        file.write(&outcome.last_message)?;
    }
    Ok(outcome.exit)
}

/// Whether the prompt, or its beginning, is on the command line.
fn has_words(exec: &ExecFlags) -> bool {
    exec.prompt.as_deref().is_some_and(|text| text != "-")
}

/// A run whose arguments make sense.
struct Wanted {
    exec: ExecFlags,
    prompt: Option<String>,
    /// The part of the prompt that the user typed, if not all of it.
    typed: Option<String>,
    images: Vec<Attachment>,
    schema: Option<AnswerSchema>,
    format: OutputFormat,
    timeout: Option<std::time::Duration>,
    is_steered: bool,
}

/// Whether there is a model besides the demo. A new session needs one that has a name.
fn has_model(setup: &Setup, named: Option<&str>, exec: &ExecFlags) -> Result<bool, StartError> {
    let (models, is_new) = (setup.models.now(), exec.resume.is_none() && !exec.last);
    let has_model = named.is_some() || !models.is_demo(None);
    if is_new && !has_model {
        return Err(StartError::no_model());
    }
    if is_new && named.is_none() && models.lacks_name() {
        return Err(StartError::no_model_at_address());
    }
    Ok(has_model)
}

async fn carry_out(invocation: Invocation<'_>, wanted: Wanted) -> anyhow::Result<ExecOutcome> {
    let Wanted { exec, prompt, typed, images, schema, format, timeout, is_steered } = wanted;
    let began = Instant::now();
    let notes = if matches!(format, OutputFormat::Text) { Notes::Headless } else { Notes::Warnings };
    let setup = invocation.prepare(notes).await?;
    let model = setup.session_model(&invocation)?;
    let has_model = has_model(&setup, model.as_deref(), &exec)?;
    // Nobody looks at a terminal of a run that did not ask for one.
    let is_shared = matches!(invocation.tmux, TmuxWish::Wanted(_));
    if is_shared {
        panes::refuse_inside(invocation.environment)?;
    }
    let pane_maker = PaneMaker::new(&invocation, &setup.loaded.config).filter(|_| is_shared);
    let hosts = setup.hosts(&invocation, pane_maker)?;
    hosts.reach_here().await?;
    if format == OutputFormat::Text {
        panes::describe_ways(&hosts).await.iter().for_each(|way| Printer::standard().status(way));
    }
    let wishes = setup.wishes(&invocation, hosts.clone())?;
    let mut budget = wishes.budget;
    budget.session.cost = exec.max_cost.or(budget.session.cost);
    budget.session.tokens = exec.max_tokens.or(budget.session.tokens);
    let wishes = Wishes {
        budget,
        approvals: if is_steered { wishes.approvals } else { approvals(wishes.approvals) },
        attendance: if is_steered { Attendance::Somebody } else { Attendance::Nobody },
        // Time and money are the limits where nobody watches.
        time_limit: exec.timeout,
        max_steps: exec.max_turns.or(setup.loaded.config.agent.max_iterations).unwrap_or(u32::MAX),
        ..wishes
    };
    // A session that goes on knows its own hosts; that one is away is told in the session.
    let beginning = match exec.resume {
        Some(_) => None,
        None => Some(hosts.begin().await?),
    };
    let (mut signals, mut watch) = interrupts()?;
    // From here on no signal ends the process before what is not to stay is removed.
    let _place = exec.ephemeral.then(|| EphemeralPlace::make(invocation.environment)).transpose()?;
    let buddy = wire(invocation.environment, wishes)?;
    let target = target(&buddy, &exec, beginning, model, has_model).await?;
    let request = ExecRequest {
        who: buddy.who.clone(),
        target,
        prompt,
        typed,
        images,
        schema,
        details: details(&setup.loaded.config.display),
        watch: watched(invocation.environment, &setup),
        plan_only: invocation.policy.plan,
        format,
        include_deltas: exec.include_deltas,
        timeout: timeout.map(|timeout| timeout.saturating_sub(began.elapsed())),
        interrupt: CancellationToken::new(),
    };
    let (interrupt, at_once) = (request.interrupt.clone(), CancellationToken::new());
    let stop_at_once = at_once.clone();
    watch.spawn(async move {
        for stop in [interrupt, stop_at_once] {
            if signals.recv().await.is_some() {
                stop.cancel();
            }
        }
    });
    let commands = is_steered.then(|| Box::new(BufReader::new(tokio::io::stdin())) as CommandInput);
    let run = async {
        let outcome = run_exec(buddy.hub.clone(), request, commands, Printer::standard()).await;
        let closed = buddy.close().await;
        setup.models.now().settle().await;
        panes::tell_remaining(&hosts, &mut Printer::standard()).await;
        hosts.rest().await;
        Ok(closing(outcome?, closed))
    };
    tokio::select! {
        outcome = run => outcome,
        // An item that is cut off here is closed when the session is taken up again; commands end with this process.
        () = at_once.cancelled() => {
            Ok(ExecOutcome { exit: Exit::Interrupted, last_message: String::new() })
        }
    }
}

/// How a user watches the run; none where the status stream is no terminal that paints.
fn watched(environment: &Environment, setup: &Setup) -> Option<ExecWatch> {
    let display = &setup.loaded.config.display;
    let is_painted = environment.get("TERM").is_some_and(|term| term != "dumb") && !display.screen_reader;
    if !std::io::stderr().is_terminal() || !is_painted {
        return None;
    }
    let rows = setup.models.now().rows();
    let model = rows.into_iter().find(|row| row.active).map_or_else(|| "demo".to_owned(), |row| row.model);
    Some(ExecWatch { look: list_look(environment, display), columns: terminal_columns(), model })
}

/// The outcome of a run whose store was closed like this. That it could not be is told, and takes no answer away.
fn closing(outcome: ExecOutcome, closed: anyhow::Result<()>) -> ExecOutcome {
    let Err(error) = closed else { return outcome };
    Printer::standard().status(&format!("buddy: {error:#}"));
    let exit = if outcome.exit == Exit::Ok { Exit::Failed } else { outcome.exit };
    ExecOutcome { exit, ..outcome }
}

/// The schema in a file.
fn schema(path: &Path) -> Result<AnswerSchema, UsageError> {
    let text = text_of(path).map_err(|error| UsageError::new(format!("--output-schema {error}")))?;
    AnswerSchema::parse(&text)
        .map_err(|error| UsageError::new(format!("--output-schema {}: {error}", path.display())))
}

/// Nobody can be asked, so what would be asked is denied.
fn approvals(wanted: ApprovalPolicy) -> ApprovalPolicy {
    match wanted {
        ApprovalPolicy::All | ApprovalPolicy::Auto | ApprovalPolicy::Edits => wanted,
        ApprovalPolicy::Ask | ApprovalPolicy::None | ApprovalPolicy::Window { .. } => ApprovalPolicy::None,
    }
}

fn format(exec: &ExecFlags) -> OutputFormat {
    match exec.output_format {
        _ if exec.json => OutputFormat::StreamJson,
        Format::Text => OutputFormat::Text,
        Format::Json => OutputFormat::Json,
        Format::StreamJson => OutputFormat::StreamJson,
    }
}

async fn target(
    buddy: &Buddy,
    exec: &ExecFlags,
    beginning: Option<Beginning>,
    model: Option<String>,
    has_model: bool,
) -> anyhow::Result<ExecTarget> {
    let summary = match beginning {
        None => {
            let id = exec.resume.as_deref().unwrap_or_default();
            find_session(&*buddy.hub, &buddy.who, id).await?
        }
        Some(beginning) if exec.last => {
            let cwd = Path::new(&beginning.cwd);
            find_last_session(&*buddy.hub, &buddy.who, Some(cwd)).await?
        }
        Some(Beginning { cwd, targets }) => {
            let agent = BuddyAgent::NAME.to_owned();
            let new = NewSession { model, targets, ..NewSession::new(agent, cwd) };
            return Ok(ExecTarget::New(Box::new(new)));
        }
    };
    // A session that names its model goes on with that one.
    if !has_model && summary.model.is_none() {
        return Err(StartError::no_model().into());
    }
    let summary = if exec.fork { fork_session(&*buddy.hub, &buddy.who, &summary.id).await? } else { summary };
    Ok(ExecTarget::Resume { session: summary.id, head: summary.head, model })
}
