//! Arguments of the commands about past sessions.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::listing::ListFlags;
use super::rights::RunRules;

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) listing: ListFlags,

    /// Only sessions of this directory
    #[arg(long)]
    pub(crate) here: bool,

    /// Only sessions that contain all these words, with the text around them
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) grep: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The session; on a terminal you pick one if you leave it out.
    #[arg(conflicts_with = "last")]
    pub(crate) id: Option<String>,

    /// Use the last session; with `-C DIR` the last one of that directory
    #[arg(long)]
    pub(crate) last: bool,

    /// Continue in a copy and leave the session unchanged
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

    /// Use the last session; with `-C DIR` the last one of that directory
    #[arg(long)]
    pub(crate) last: bool,

    /// The format [default: by the file's extension, else Markdown]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<ExportFormatFlag>,

    /// The file to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormatFlag {
    /// For reading
    Markdown,
    /// The events of the log, as one array
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The directory with `.buddyx/sessions` or `.agentx/sessions` [default: the working directory]
    #[arg(value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}
