//! Arguments of the commands about the program itself and about a project.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// What is said below the list of commands.
pub(crate) const EXAMPLES: &str = "\
Examples:
  buddy                                  talk about this directory
  buddy fix the tests                    the same, with the first prompt
  buddy exec \"why does the test fail?\"   one answer, for scripts
  git diff | buddy exec \"review this\"    the same with an input
  buddy resume --last                    go on where you were
  buddy sessions --grep harbour          find a past conversation
  buddy --ssh ann@atlas                  work on another machine
  buddy doctor                           check that everything is as it should be

`buddy COMMAND --help` says more about each command.";

/// Where options are listed that are about the model and the configuration.
pub(crate) const CONFIGURATION: &str = "Model and configuration";

/// Where options are listed that say what the agent may do.
pub(crate) const RIGHTS: &str = "What the agent may do";

/// Where options are listed that say where it works.
pub(crate) const PLACE: &str = "Where it works";

#[derive(Debug, Args)]
pub(crate) struct Completion {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
    Elvish,
    Nu,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The directory to write all pages to; without it the first page is printed.
    #[arg(value_name = "DIR")]
    pub(crate) pages: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Overwrite an AGENTS.md that is there, without asking.
    #[arg(long)]
    pub(crate) force: bool,

    /// Make `.buddy/commands` too, without asking.
    #[arg(long)]
    pub(crate) folder: bool,
}
