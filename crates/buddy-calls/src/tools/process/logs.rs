//! `process_logs`: what a managed process printed.

use async_trait::async_trait;
use buddy_exec::Stream;
use buddy_exec::managed::Owner;
use buddy_policy::{Intent, Tier};
use buddy_protocol::{ToolFailure, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::{failure, find, with_managed};
use crate::tools::background::last_lines;
use crate::tools::call_place::CallPlace;
use crate::tools::clip::TextClass;
use crate::tools::tool::{Tool, ToolContext};
use crate::tools::tool_spec::ToolSpec;

/// Lines when the call does not say.
const DEFAULT_LINES: usize = 100;
/// The most lines of one call. What the model is given is clipped further.
const MAX_LINES: usize = 2000;

pub(crate) struct ProcessLogs;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProcessLogsInput {
    /// The id of the process.
    id: String,
    /// How many of the last lines: 100 by default, up to 2000.
    #[serde(default, alias = "lines")]
    tail: Option<usize>,
    /// Only one of the streams, where they were kept apart; both as they came by default.
    #[serde(default)]
    stream: Option<OneStream>,
}

/// A stream of a process.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OneStream {
    Stdout,
    Stderr,
}

impl From<OneStream> for Stream {
    fn from(stream: OneStream) -> Self {
        match stream {
            OneStream::Stdout => Self::Stdout,
            OneStream::Stderr => Self::Stderr,
        }
    }
}

#[async_trait]
impl Tool for ProcessLogs {
    type Input = ProcessLogsInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "process_logs",
        aliases: &[],
        kind: ToolKind::Read,
        tier: Tier::Auto,
        description: include_str!("logs.md"),
        text: TextClass::Command,
    };

    fn title(input: &ProcessLogsInput) -> String {
        format!("check the output of {}", input.id)
    }

    fn intent(_: &ProcessLogsInput, _: &CallPlace) -> Intent {
        Intent::nothing()
    }

    async fn run(input: ProcessLogsInput, context: &ToolContext) -> Result<Value, ToolFailure> {
        let lines = input.tail.unwrap_or(DEFAULT_LINES).min(MAX_LINES);
        if let Some((mut shown, log)) = context.background.pane(&input.id) {
            let output = spawn_blocking(move || last_lines(&log, lines)).await.unwrap_or_default();
            shown["output"] = json!(output);
            return Ok(shown);
        }
        let Owner { person, session } = context.owner.clone();
        with_managed(context, move |managed| {
            let status = find(managed, &input.id, &person)?;
            if status.record.had_secrets && status.record.owner.session != session {
                let message = "another session started this process, and its output can hold secrets";
                return Err(ToolFailure::new("forbidden", message)
                    .hint(format!("the user can read it with `buddy logs {}`", status.record.id)));
            }
            let output = match input.stream {
                None => Some(managed.tail(&status.record.id, lines).map_err(|error| failure(&error))?),
                Some(stream) => managed
                    .tail_of(&status.record.id, stream.into(), lines)
                    .map_err(|error| failure(&error))?,
            };
            let output = output.ok_or_else(|| {
                ToolFailure::new("unsupported", "the streams of this process were not kept apart")
                    .hint("leave `stream` out")
            })?;
            Ok(json!({
                "id": status.record.id,
                "condition": status.condition,
                "output": String::from_utf8_lossy(&output),
                "truncated": false,
            }))
        })
        .await
    }
}
