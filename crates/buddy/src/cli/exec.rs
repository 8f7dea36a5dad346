//! Arguments of `buddy exec`.

use std::path::PathBuf;
use std::time::Duration;

use buddy_protocol::MicroUsd;
use clap::{Args, ValueEnum};

use super::duration;
use super::rights::RunRules;

/// What is said below the options.
pub(crate) const EXEC_EXAMPLES: &str = "\
Examples:
  buddy exec \"why does the test fail?\"
  git diff | buddy -p \"review this\"
  buddy exec --output-schema answer.schema.json -o answer.json \"which crates have no tests?\"
  buddy exec --allow \"cargo test *\" --deny \"git push *\" \"make the tests pass\"
  buddy exec --ephemeral --timeout 2m \"what does this project do?\"";

const LIMITS: &str = "Limits";
const INPUT: &str = "What goes in and what comes out";
const SESSION: &str = "Which session";

#[derive(Debug, Args)]
pub(crate) struct Exec {
    /// The prompt; `-` or nothing reads it from the standard input. With both, the input is added to the prompt.
    pub(crate) prompt: Option<String>,

    /// An image that the model sees with the prompt: PNG, JPEG, GIF or WebP; may be given several times.
    #[arg(long, value_name = "FILE", help_heading = INPUT)]
    pub(crate) image: Vec<PathBuf>,

    /// How the answer is printed: its text, one object with the answer and what it took, or every event of the run, one a
    /// line, and then that object.
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT", help_heading = INPUT)]
    pub(crate) output_format: Format,

    /// The same as `--output-format stream-json`.
    #[arg(long, conflicts_with = "output_format", help_heading = INPUT)]
    pub(crate) json: bool,

    /// Print live deltas among the events of `stream-json`.
    #[arg(long, help_heading = INPUT)]
    pub(crate) include_deltas: bool,

    /// Write the last message to this file too, in one step, however the run ends.
    #[arg(short = 'o', long, value_name = "FILE", help_heading = INPUT)]
    pub(crate) output_last_message: Option<PathBuf>,

    /// A file with a JSON Schema. The answer is JSON that fits it, and nothing else is printed; a model that misses it is
    /// asked again twice.
    #[arg(long, value_name = "FILE", conflicts_with = "input_format", help_heading = INPUT)]
    pub(crate) output_schema: Option<PathBuf>,

    /// What the standard input has: text for the prompt, or commands as JSON, one a line, for two-way control. That needs
    /// `--output-format stream-json`.
    #[arg(long, value_enum, default_value_t = InputFormat::Text, value_name = "FORMAT", help_heading = INPUT)]
    pub(crate) input_format: InputFormat,

    /// Go on with this session.
    #[arg(long, value_name = "ID", conflicts_with = "last", help_heading = SESSION)]
    pub(crate) resume: Option<String>,

    /// Go on with the session of this directory that was used last.
    #[arg(long, help_heading = SESSION)]
    pub(crate) last: bool,

    /// With `--resume` or `--last`: go on in a copy; the session stays as it is.
    #[arg(long, help_heading = SESSION)]
    pub(crate) fork: bool,

    /// Keep nothing of the session: no log, no output of commands, nothing to undo, no processes that run on.
    #[arg(long, conflicts_with_all = ["resume", "last", "fork"], help_heading = SESSION)]
    pub(crate) ephemeral: bool,

    /// The most model calls to make in a turn; without it `agent.max_iterations` of the configuration.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = LIMITS)]
    pub(crate) max_turns: Option<u32>,

    /// The most money that the session may take, in US dollars.
    #[arg(long, value_name = "DOLLARS", value_parser = money, help_heading = LIMITS)]
    pub(crate) max_cost: Option<MicroUsd>,

    /// The most tokens that the session may take, in and out.
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    pub(crate) max_tokens: Option<u64>,

    /// The longest time to take, such as `90s` or `10m`.
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = LIMITS)]
    pub(crate) timeout: Option<Duration>,

    #[command(flatten)]
    pub(crate) rules: RunRules,
}

impl Exec {
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

/// What the standard input has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    Text,
    StreamJson,
}

fn money(text: &str) -> Result<MicroUsd, String> {
    let dollars = text.trim_start_matches('$').parse().ok().and_then(MicroUsd::from_dollars);
    dollars.ok_or_else(|| "not an amount of dollars such as `0.50`".to_owned())
}
