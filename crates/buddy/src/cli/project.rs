//! Arguments of the commands about the program itself and about a project.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The text below the list of commands.
pub(crate) const EXAMPLES: &str = "\
Examples:
  buddy                                  start a conversation in this directory
  buddy fix the tests                    start with a prompt
  buddy exec \"why does the test fail?\"   print one answer, for scripts
  git diff | buddy exec \"review this\"    add stdin to the prompt
  buddy resume --last                    continue the last session
  buddy sessions --grep harbour          find a past conversation
  buddy --ssh ann@atlas                  work on another machine
  buddy doctor                           check this machine

Run `buddy COMMAND --help` for the options of a command.";

/// The heading of the options for model and configuration.
pub(crate) const CONFIGURATION: &str = "Model and configuration";

/// The heading of the options for permissions.
pub(crate) const RIGHTS: &str = "Permissions";

/// The heading of the options for hosts and directories.
pub(crate) const PLACE: &str = "Workspace";

#[derive(Debug, Args)]
pub(crate) struct CompletionFlags {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: CompletionShell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompletionShell {
    Bash,
    Zsh,
    Fish,
    Powershell,
    Elvish,
    Nu,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write all pages to this directory [default: print the first page]
    #[arg(value_name = "DIR")]
    pub(crate) pages: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Overwrite an existing AGENTS.md without asking
    #[arg(long)]
    pub(crate) force: bool,

    /// Also create `.buddy/commands`, without asking
    #[arg(long)]
    pub(crate) folder: bool,
}
