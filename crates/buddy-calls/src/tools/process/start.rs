//! `process_start`: a command that runs on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use buddy_exec::managed::{Health, Launch, Restart, Status};
use buddy_exec::{Reach, quote};
use buddy_policy::{Action, Claims, Intent, Tier};
use buddy_protocol::{Risk, ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shown::shown;
use super::{failure, with_managed};
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::pins_read::PinsRead;
use crate::tools::shell_words::argv;
use crate::tools::snapshot::start_unfollowed;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::{CommandField, ToolSpec};

/// How long a call waits for the health check. What takes longer is looked at again with `process_status`.
const MAX_READY: u64 = 120;
/// The same when the call does not say.
const DEFAULT_READY: u64 = 10;
/// How often the check is made meanwhile.
const CHECK_PAUSE: Duration = Duration::from_millis(100);
/// The output of a process that fails at once, so that the first answer already tells.
const FIRST_LOOK: Duration = Duration::from_millis(300);
/// Lines of output in the answer.
const FIRST_LINES: usize = 20;
/// The longest name and the longest line to wait for, in characters.
const MAX_NAME: usize = 100;

pub(crate) struct ProcessStart;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProcessStartInput {
    /// The command line, as typed into the shell. It must stay in the foreground.
    command: String,
    /// The purpose, in one sentence.
    why: String,
    /// How risky it is.
    risk: Risk,
    /// Whether it changes anything.
    mutation: bool,
    /// Whether it needs more rights, as with sudo.
    privesc: bool,
    /// Its name.
    #[serde(default)]
    name: Option<String>,
    /// The directory to run in, the working directory by default.
    #[serde(default)]
    cwd: Option<String>,
    /// Variables for the command, beside the usual ones.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Whether it is started again: `never`, or `on_failure`, up to 10 times in a row and later each time.
    #[serde(default)]
    restart: Restarting,
    /// The TCP port that it listens on when it is ready.
    #[serde(default)]
    ready_port: Option<u16>,
    /// A text that it prints when it is ready.
    #[serde(default)]
    ready_line: Option<String>,
    /// How many seconds to wait until it is ready: 10 by default, up to 120.
    #[serde(default)]
    ready_within: Option<u64>,
}

#[derive(Deserialize, JsonSchema, Default, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Restarting {
    #[default]
    Never,
    OnFailure,
}

impl ProcessStartInput {
    /// The command with its variables, so that what is judged and approved is what is run.
    fn whole_command(&self) -> String {
        let exports = self.env.iter().map(|(name, value)| format!("export {name}={}; ", quote(value)));
        exports.chain([self.command.clone()]).collect()
    }

    fn health(&self) -> Result<Option<Health>, ToolFailure> {
        match (self.ready_port, &self.ready_line) {
            (Some(_), Some(_)) => Err(invalid("give `ready_port` or `ready_line` and not both")),
            (Some(port), None) => Ok(Some(Health::Port(port))),
            (None, Some(line))
                if line.is_empty() || line.contains('\n') || line.chars().count() > MAX_NAME =>
            {
                Err(invalid("`ready_line` must be a text of up to 100 characters within one line"))
            }
            (None, line) => Ok(line.clone().map(Health::Line)),
        }
    }

    fn check(&self) -> Result<(), ToolFailure> {
        if let Some(name) = self.env.keys().find(|name| !is_variable(name)) {
            return Err(invalid(&format!("`{name}` is not the name of a variable")));
        }
        if self.name.as_ref().is_some_and(|name| name.chars().count() > MAX_NAME) {
            return Err(invalid("`name` is longer than 100 characters"));
        }
        if self.ready_within.is_some_and(|seconds| seconds > MAX_READY) {
            return Err(invalid("`ready_within` is longer than 120 seconds"));
        }
        Ok(())
    }
}

#[async_trait]
impl Tool for ProcessStart {
    type Input = ProcessStartInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "process_start",
        aliases: &["shell_background"],
        kind: ToolKind::Execute,
        tier: Tier::Individual,
        description: include_str!("start.md"),
        text: TextClass::Command,
    };

    const COMMAND: Option<CommandField> = Some(CommandField { name: "command", parts: &["env"] });

    fn title(input: &ProcessStartInput) -> String {
        input.whole_command()
    }

    fn why(input: &ProcessStartInput) -> Option<&str> {
        Some(&input.why)
    }

    fn intent(input: &ProcessStartInput, place: &CallPlace) -> Intent {
        let cwd = place.judged(input.cwd.as_deref().unwrap_or("."));
        let claims = Claims { risk: input.risk, mutation: Some(input.mutation), privesc: input.privesc };
        let run = Intent::of(Action::Run { command: input.whole_command(), cwd }).running_on();
        Intent { claims: Some(claims), ..run }
    }

    async fn run(input: ProcessStartInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        input.check()?;
        let health = input.health()?;
        let patience = match &health {
            Some(_) => Duration::from_secs(input.ready_within.unwrap_or(DEFAULT_READY)),
            None => FIRST_LOOK,
        };
        let restart = match input.restart {
            Restarting::Never => Restart::Never,
            Restarting::OnFailure => Restart::OnFailure,
        };
        let cwd = context.place.resolve(input.cwd.as_deref().unwrap_or("."));
        let command = input.whole_command();
        let launch = Launch { name: input.name, restart, health, ..launch(command, cwd, context) };
        start(launch, patience, context).await
    }
}

/// Starts a command that `run_shell` was told not to wait for.
pub(crate) async fn in_background(
    command: String,
    cwd: PathBuf,
    context: &ToolContext,
) -> Result<Value, ToolFailure> {
    start(launch(command, cwd, context), FIRST_LOOK, context).await
}

pub(crate) fn launch(command: String, cwd: PathBuf, context: &ToolContext) -> Launch {
    Launch {
        argv: argv(&context.execution, &context.target.describe().shell, command.clone()),
        command,
        name: None,
        cwd,
        env: context.env.clone(),
        bounds: context.bounds.clone(),
        unasked_writes: if context.is_asked { Reach::Nothing } else { context.bounds.write.clone() },
        owner: context.owner.clone(),
        restart: Restart::Never,
        health: None,
        pinned: context.pins.clone(),
    }
}

async fn start(launch: Launch, patience: Duration, context: &ToolContext) -> Result<Value, ToolFailure> {
    let read = PinsRead::begin(context);
    let starting =
        with_managed(context, move |managed| managed.start(&launch).map_err(|error| failure(&error)));
    let id = start_unfollowed(context, starting).await?.record.id;
    let status = watch(&id, patience, context).await?;
    if status.condition.is_live() {
        read.wait().await;
    }
    let note = if status.condition.is_live() {
        "it runs on when this session ends; look at it with `process_status`; see its output with `process_logs`; end it with \
         `process_stop`"
    } else {
        "it has ended already; its output says why"
    };
    with_managed(context, move |managed| {
        let output = managed.tail(&id, FIRST_LINES).map_err(|error| failure(&error))?;
        let mut value = shown(&status);
        value["output"] = json!(String::from_utf8_lossy(&output));
        value["note"] = json!(note);
        Ok(value)
    })
    .await
}

/// Looks until the process is ready, has ended, or the time is over. An interrupt ends the watching and not the process.
async fn watch(id: &str, patience: Duration, context: &ToolContext) -> Result<Status, ToolFailure> {
    let time_is_over = tokio::time::sleep(patience);
    let mut time_is_over = std::pin::pin!(time_is_over);
    loop {
        let wanted = id.to_owned();
        let status =
            with_managed(context, move |managed| managed.status(&wanted).map_err(|error| failure(&error)))
                .await?;
        if status.is_healthy == Some(true) || !status.condition.is_live() {
            return Ok(status);
        }
        tokio::select! {
            () = &mut time_is_over => return Ok(status),
            () = context.cancel.cancelled() => return Ok(status),
            () = tokio::time::sleep(CHECK_PAUSE) => {}
        }
    }
}

fn invalid(message: &str) -> ToolFailure {
    ToolFailure::new("invalid_input", message)
}

fn is_variable(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|char| char.is_ascii_alphabetic() || char == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(more: &Value) -> ProcessStartInput {
        let mut input =
            json!({"command": "serve", "why": "w", "risk": "low", "mutation": true, "privesc": false});
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        serde_json::from_value(input).unwrap()
    }

    #[test]
    fn variables_are_part_of_what_is_judged() {
        let input = input(&json!({"env": {"B": "it's; rm -rf /", "A": "1"}}));
        assert_eq!(input.whole_command(), r"export A='1'; export B='it'\''s; rm -rf /'; serve");
        assert!(input.check().is_ok());
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in [
            json!({"env": {"A;rm": "1"}}),
            json!({"env": {"": "1"}}),
            json!({"ready_within": 1000}),
            json!({"name": "x".repeat(200)}),
        ] {
            assert!(input(&wrong).check().is_err(), "{wrong}");
        }
        for wrong in [json!({"ready_port": 80, "ready_line": "x"}), json!({"ready_line": "a\nb"})] {
            assert!(input(&wrong).health().is_err(), "{wrong}");
        }
    }
}
