//! `run_shell`: a command line in the target's shell, waited for. Where the host has panes it is typed into one, unless it has
//! bounds and ran without a question because it only reads.

mod pane;
mod watch;
mod way_out;

use std::path::PathBuf;
use std::time::Duration;

use buddy_exec::managed::ManagedProcesses;
use tokio::task::spawn_blocking;

use async_trait::async_trait;
use buddy_exec::{Exec, PaneSelector, Running, Stdin, TerminalSize};
use buddy_policy::{Action, Claims, Intent, Tier};
use buddy_protocol::{Risk, ToolDefinition, ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::background::Leaving;
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::command_changes::keep_after;
use crate::tools::failure::target_failure;
use crate::tools::means::Means;
use crate::tools::pins_read::PinsRead;
use crate::tools::process;
use crate::tools::shell_words::argv;
use crate::tools::snapshot::start_kept;
use crate::tools::tmux::{no_panes, selector};
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::{CommandField, ToolSpec};
use crate::tools::wait::Wait;
use pane::InPane;
use watch::{MAX_RUN, Waited, explain, limits, outcome, watch};
pub(crate) use way_out::WayServed;

/// How long a command may run when the call does not say.
const DEFAULT_WAIT: Duration = Duration::from_mins(2);
/// How long a call waits at most.
const MAX_WAIT: Duration = Duration::from_mins(10);
/// Lines of a command that is left that its result has.
const FIRST_LINES: usize = 50;
/// The kind of terminal that a command gets: the one that every system describes.
const TERMINAL_KIND: &str = "xterm";

/// The beginning of the text about `wait`.
const WAIT: &str = "How long to wait: true for the usual 2 minutes, or a duration such as \"10m\" or a number of seconds, up to 10 \
                    minutes.";

pub(crate) struct RunShell;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunShellInput {
    /// The command line, as typed into the shell.
    command: String,
    /// The purpose, in one sentence.
    #[serde(default)]
    why: String,
    /// How risky it is.
    #[serde(default = "unsaid_risk")]
    risk: Risk,
    /// Whether it changes anything.
    #[serde(default)]
    #[schemars(with = "bool")]
    mutation: Option<bool>,
    /// Whether it needs more rights, as with sudo.
    #[serde(default)]
    privesc: bool,
    /// How long to wait.
    #[serde(default, alias = "timeout")]
    wait: Wait,
    /// Give the command a terminal, for programs that want one. Its output is then one stream, with its control codes.
    #[serde(default)]
    terminal: bool,
    /// The directory to run in, the working directory by default.
    #[serde(default)]
    cwd: Option<String>,
    /// The tmux session to run in, where there are shared panes.
    #[serde(default)]
    session: Option<String>,
    /// The pane to run in, where there are shared panes; the shared one by default.
    #[serde(default)]
    pane: Option<String>,
}

/// Fields that the model is to fill in. For a call without them, in the form of other agents, policy's own reading decides.
const EXPECTED: [&str; 5] = ["command", "why", "risk", "mutation", "privesc"];

fn unsaid_risk() -> Risk {
    Risk::Medium
}

#[async_trait]
impl Tool for RunShell {
    type Input = RunShellInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "run_shell",
        aliases: &["shell_exec", "exec_run"],
        kind: ToolKind::Execute,
        tier: Tier::Individual,
        description: include_str!("run_shell.md"),
        text: TextClass::Command,
    };

    const COMMAND: Option<CommandField> = Some(CommandField { name: "command", parts: &[] });

    fn title(input: &RunShellInput) -> String {
        input.command.clone()
    }

    fn why(input: &RunShellInput) -> Option<&str> {
        Some(input.why.as_str()).filter(|why| !why.is_empty())
    }

    fn intent(input: &RunShellInput, place: &CallPlace) -> Intent {
        let cwd = place.judged(input.cwd.as_deref().unwrap_or("."));
        let claims = Claims { risk: input.risk, mutation: input.mutation, privesc: input.privesc };
        let run = Intent::of(Action::Run { command: input.command.clone(), cwd });
        let runs_on = matches!(input.wait, Wait::No);
        Intent { claims: Some(claims), runs_on, shares_terminal: place.has_panes, ..run }
    }

    fn fit(definition: &mut ToolDefinition, means: Means) {
        definition.parameters["required"] = json!(EXPECTED);
        let Some(fields) = definition.parameters["properties"].as_object_mut() else { return };
        // The schema demands these fields without a default, although a call without them runs.
        for name in EXPECTED {
            if let Some(field) = fields.get_mut(name).and_then(Value::as_object_mut) {
                field.remove("default");
            }
        }
        if !means.panes {
            fields.remove("session");
            fields.remove("pane");
        }
        if !means.panes && !means.terminals {
            fields.remove("terminal");
        }
        let then = match means {
            Means { managed: true, .. } => "When the time is up the command runs on in the background.",
            Means { panes: true, .. } => "When the time is up the command runs on in the pane.",
            Means { .. } => "When the time is up the command is stopped.",
        };
        let no_wait = match means {
            Means { panes: true, runs_on: true, .. } => " False or 0 leaves it running in the pane.",
            Means { panes: true, .. } => "",
            Means { managed: true, runs_on: true, .. } => {
                " False or 0 starts it as a managed process and does not wait."
            }
            Means { .. } => "",
        };
        if let Some(wait) = fields.get_mut("wait") {
            wait["description"] = json!(format!("{WAIT} {then}{no_wait}"));
        }
    }

    async fn run(input: RunShellInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let selector = selector(input.session.as_ref(), input.pane.as_ref());
        let cwd = context.place.resolve(input.cwd.as_deref().unwrap_or("."));
        let wait = wait(input.wait);
        let is_named = selector != PaneSelector::default();
        if let Some(panes) = context.target.panes().filter(|_| is_for_pane(context, is_named)) {
            // A pane is a terminal, so a command that wants one has it here.
            let in_pane = InPane { panes, selector, command: input.command, cwd, wait };
            return in_pane.run(context).await;
        }
        // One that only reads runs beside the panes whichever it names: nothing is lost by that.
        if is_named && context.target.panes().is_none() {
            return Err(no_panes());
        }
        if input.terminal && !context.target.has_terminals() {
            let failure = ToolFailure::new("unsupported", "this host gives commands no terminal");
            return Err(failure.hint("leave `terminal` out"));
        }
        let Some(wait) = wait else {
            if input.terminal {
                return Err(ToolFailure::new(
                    "invalid_input",
                    "a command with a terminal must be waited for",
                )
                .hint("leave `terminal` or `wait` out"));
            }
            return process::in_background(input.command, cwd, context).await;
        };
        let (way_out, outlet) = way_out::make(context.egress.is_some()).unzip();
        let env = environment(&context.env, input.terminal);
        let env = if way_out.is_some() { way_out::variables(env, context.reaches_here) } else { env };
        let ran_in = cwd.clone();
        let command = input.command;
        let managed = context.target.managed().filter(|_| context.background.has_room()).cloned();
        let exec = Exec {
            argv: argv(&context.execution, &context.target.describe().shell, command.clone()),
            cwd,
            env,
            stdin: Stdin::Null,
            pty: input.terminal.then(TerminalSize::default),
            timeout: Some(if managed.is_some() { MAX_RUN } else { wait }),
            bounds: context.bounds.clone(),
            output: limits(context),
            way_out,
            // Known when the state before is kept.
            end_mark: None,
        };
        let mut way: WayServed = Box::pin(way_out::serve(outlet, context.egress.clone()));
        let (read, mut running) = start_kept(context, start(exec, &mut way, context)).await?;
        let patience = if managed.is_some() { wait } else { Duration::MAX };
        let waited = tokio::select! {
            waited = watch(&mut running, patience, context) => waited?,
            never = &mut way => match never {},
        };
        let exit = match (waited, managed) {
            (Waited::Ended(exit), _) => *exit,
            (Waited::RunsOn, managed) => {
                tokio::select! {
                    () = read.wait() => {}
                    never = &mut way => match never {},
                }
                return leave(Left { command, cwd: ran_in, running, way }, managed, wait, context).await;
            }
        };
        if let Some(egress) = &context.egress {
            tokio::select! {
                () = egress.settle() => {}
                never = &mut way => match never {},
            }
        }
        // A command that ran is a result, also when its changes could not be kept; the snapshot from before it stays.
        let kept = keep_after(Some(&exit), context.parts, &context.recorder).await;
        let mut result = outcome(&exit, wait);
        if let Some(note) = explain(&exit, &ran_in, context).await {
            result["sealed"] = json!(note);
        }
        if let Err(error) = kept {
            result["undo"] = json!(format!("what the command changed is not known: {error}"));
        }
        Ok(result)
    }
}

/// Starts a command, and serves its way out meanwhile.
async fn start(
    exec: Exec,
    way: &mut WayServed,
    context: &ToolContext,
) -> Result<(PinsRead, Running), ToolFailure> {
    let read = PinsRead::begin(context);
    let exec = Exec { end_mark: context.recorder.end_mark(), ..exec };
    tokio::select! {
        running = context.target.start(exec) => {
            running.map(|running| (read, running)).map_err(|error| target_failure(&error))
        }
        never = way => match never {},
    }
}

/// Whether a command is typed into a pane. One that only reads has narrower bounds than the shell of a pane, and nobody was
/// asked about it: what earlier lines left in that shell must not decide what it does.
fn is_for_pane(context: &ToolContext, is_named: bool) -> bool {
    // A pane that a command was left in is busy; who wants that very pane is told so.
    let is_free = is_named || !context.background.has_pane();
    !context.is_outside && is_free && (context.bounds.only_hide() || !context.is_read_only)
}

/// A command that still runs when its wait is over.
struct Left {
    command: String,
    cwd: PathBuf,
    running: Running,
    way: WayServed,
}

/// Leaves a command to run on in the background, as a managed process of the session.
async fn leave(
    left: Left,
    managed: Option<ManagedProcesses>,
    wait: Duration,
    context: &ToolContext,
) -> Result<Value, ToolFailure> {
    let Left { command, cwd, running, way } = left;
    let left_in = cwd.clone();
    let launch = process::launch(command.clone(), cwd, context);
    let log = context.log.clone();
    let Some(managed) = managed else {
        return Err(ToolFailure::new("internal", "nobody looks after the command"));
    };
    let keeper = managed.clone();
    let adopted = spawn_blocking(move || {
        let status = keeper.adopt(&launch, &running, &log);
        let output = status.as_ref().ok().and_then(|status| keeper.tail(&status.record.id, FIRST_LINES).ok());
        (status, output, running)
    });
    let (status, output, running) =
        adopted.await.map_err(|_| ToolFailure::new("internal", "the tool broke; its outcome is unknown"))?;
    // Dropping the run ends a command that nobody would find again.
    let status = status.map_err(|error| process::failure(&error))?;
    if let Some(egress) = &context.egress {
        egress.leave();
    }
    let id = status.record.id.clone();
    let recorder = context.recorder.clone();
    recorder.leave_project();
    context.background.take(Leaving {
        id: id.clone(),
        command,
        cwd: left_in,
        target: context.target_name.clone(),
        log: context.log.clone(),
        running,
        way,
        egress: context.egress.clone(),
        recorder,
        parts: context.parts,
        managed: Some(managed),
    });
    let mut value = process::shown(&status);
    value["output"] = json!(String::from_utf8_lossy(&output.unwrap_or_default()));
    value["log"] = json!(context.log.to_string_lossy());
    value["note"] = json!(format!(
        "the command still runs after {} s and was moved to the background as `{id}`; while you need its result, run `sleep 60` and \
         repeat; buddy tells you when it has ended; see its output with `process_logs`; end it with `process_stop`; it ends with \
         this session, or after {} hours; start processes that should outlive the session with `process_start`",
        wait.as_secs_f32(),
        MAX_RUN.as_secs() / 3600
    ));
    Ok(value)
}

/// The environment of a command. Programs on a terminal are told what it understands.
fn environment(usual: &[(String, String)], has_terminal: bool) -> Vec<(String, String)> {
    let mut variables = usual.to_vec();
    if has_terminal {
        variables.retain(|(name, _)| name != "TERM");
        variables.push(("TERM".to_owned(), TERMINAL_KIND.to_owned()));
    }
    variables
}

/// How long to wait; none for not at all. A longer wait than the longest is that one: nothing is lost, as the command runs on.
fn wait(wait: Wait) -> Option<Duration> {
    match wait {
        Wait::Default => Some(DEFAULT_WAIT),
        Wait::For(duration) => Some(duration.min(MAX_WAIT)),
        Wait::No => None,
    }
}
