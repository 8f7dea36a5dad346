//! Arguments of every command that lists something.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct ListFlags {
    /// Print a table, or one JSON array
    #[arg(long, value_enum, default_value_t = ListFormat::Text, value_name = "FORMAT")]
    format: ListFormat,

    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// List at most this many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    Text,
    Json,
}

impl ListFlags {
    /// Whether JSON is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.json || self.format == ListFormat::Json
    }
}
