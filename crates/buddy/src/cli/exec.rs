//! Arguments of `buddy exec`.

use std::path::PathBuf;
use std::time::Duration;

use buddy_protocol::MicroUsd;
use clap::{Args, ValueEnum};

use super::duration::duration;
use super::rights::RunRules;

/// The text below the options.
pub(crate) const EXEC_EXAMPLES: &str = "\
Examples:
  buddy exec \"why does the test fail?\"
  git diff | buddy -p \"review this\"
  buddy exec --output-schema answer.schema.json -o answer.json \"which crates have no tests?\"
  buddy exec --allow \"cargo test *\" --deny \"git push *\" \"make the tests pass\"
  buddy exec --ephemeral --timeout 2m \"what does this project do?\"";

const LIMITS: &str = "Limits";
const INPUT: &str = "Input and output";
const SESSION: &str = "Session";

#[derive(Debug, Args)]
pub(crate) struct ExecFlags {
    /// The prompt; `-` or no prompt reads stdin. With both, stdin is appended to the prompt
    pub(crate) prompt: Option<String>,

    /// Attach an image (PNG, JPEG, GIF or WebP); can be repeated
    #[arg(long, value_name = "FILE", help_heading = INPUT)]
    pub(crate) image: Vec<PathBuf>,

    /// Print the answer as text, as one JSON object, or as all events followed by that object
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT", help_heading = INPUT)]
    pub(crate) output_format: Format,

    /// Short for `--output-format stream-json`
    #[arg(long, conflicts_with = "output_format", help_heading = INPUT)]
    pub(crate) json: bool,

    /// Include live deltas in `stream-json`
    #[arg(long, help_heading = INPUT)]
    pub(crate) include_deltas: bool,

    /// Also write the last message to this file, however the run ends
    #[arg(short = 'o', long, value_name = "FILE", help_heading = INPUT)]
    pub(crate) output_last_message: Option<PathBuf>,

    /// Require an answer that fits this JSON Schema file
    ///
    /// Only the JSON is printed. If the answer does not fit, buddy asks the model again, twice at most.
    #[arg(long, value_name = "FILE", conflicts_with = "input_format", help_heading = INPUT)]
    pub(crate) output_schema: Option<PathBuf>,

    /// Read stdin as prompt text, or as JSON commands for two-way control
    ///
    /// JSON commands need `--output-format stream-json`.
    #[arg(long, value_enum, default_value_t = InputFormat::Text, value_name = "FORMAT", help_heading = INPUT)]
    pub(crate) input_format: InputFormat,

    /// Continue this session
    #[arg(long, value_name = "ID", conflicts_with = "last", help_heading = SESSION)]
    pub(crate) resume: Option<String>,

    /// Continue the last session of this directory
    #[arg(long, help_heading = SESSION)]
    pub(crate) last: bool,

    /// Continue in a copy and leave the session unchanged (with `--resume` or `--last`)
    #[arg(long, help_heading = SESSION)]
    pub(crate) fork: bool,

    /// Keep nothing: no log, no command output, no undo, no managed processes
    #[arg(long, conflicts_with_all = ["resume", "last", "fork"], help_heading = SESSION)]
    pub(crate) ephemeral: bool,

    /// Limit the model calls of a turn [default: `agent.max_iterations`, else none]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = LIMITS)]
    pub(crate) max_turns: Option<u32>,

    /// Limit the cost of the session, in US dollars
    #[arg(long, value_name = "DOLLARS", value_parser = money, help_heading = LIMITS)]
    pub(crate) max_cost: Option<MicroUsd>,

    /// Limit the tokens of the session, input and output together
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    pub(crate) max_tokens: Option<u64>,

    /// Stop the run after this long, such as `90s` or `10m` [default: none]
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = LIMITS)]
    pub(crate) timeout: Option<Duration>,

    #[command(flatten)]
    pub(crate) rules: RunRules,
}

impl ExecFlags {
    /// Whether the run prints JSON and nothing else.
    pub(crate) fn wants_json(&self) -> bool {
        self.json || self.output_format != Format::Text
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
    StreamJson,
}

/// The content of stdin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    Text,
    StreamJson,
}

fn money(text: &str) -> Result<MicroUsd, String> {
    let dollars = text.trim_start_matches('$').parse().ok().and_then(MicroUsd::from_dollars);
    dollars.ok_or_else(|| "not an amount of dollars such as `0.50`".to_owned())
}
