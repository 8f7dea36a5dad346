//! Arguments of every command that lists something.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct Listing {
    /// How the list is printed: for people, or as one array of JSON.
    #[arg(long, value_enum, default_value_t = ListFormat::Text, value_name = "FORMAT")]
    format: ListFormat,

    /// The same as `--format json`.
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// The most to list.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    Text,
    Json,
}

impl Listing {
    /// Whether JSON is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.json || self.format == ListFormat::Json
    }
}
