//! Arguments of the commands about past sessions.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::listing::Listing;
use super::rights::RunRules;

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) listing: Listing,

    /// Only sessions of this directory.
    #[arg(long)]
    pub(crate) here: bool,

    /// Only sessions in which all these words were said, with what was said around them.
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) grep: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The session; on a terminal you pick one if you leave it out.
    #[arg(conflicts_with = "last")]
    pub(crate) id: Option<String>,

    /// The session that was used last; with `-C DIR` the last one of that directory.
    #[arg(long)]
    pub(crate) last: bool,

    /// Go on in a copy; the session stays as it is.
    #[arg(long)]
    pub(crate) fork: bool,

    #[command(flatten)]
    pub(crate) rules: RunRules,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The session.
    #[arg(required_unless_present = "last", conflicts_with = "last")]
    pub(crate) id: Option<String>,

    /// The session that was used last; with `-C DIR` the last one of that directory.
    #[arg(long)]
    pub(crate) last: bool,

    /// The form; without it what the name of the file says, and Markdown where it says nothing.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ExportFormat>,

    /// The file to make; without it the standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite a file that exists.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// For people.
    Markdown,
    /// The events as they are in the log, as one array.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The directory that has `.buddyx/sessions` or `.agentx/sessions`; without it the one to work in.
    #[arg(value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}
