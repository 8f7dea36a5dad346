//! The help of one command: its own options, without those of the agent.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::ErrorKind;

use super::Cli;

/// Commands that run the agent, to which every option applies.
const AGENT_COMMANDS: [&str; 2] = ["exec", "resume"];
/// The last line of the help of other commands.
const GENERAL: &str =
    "Run `buddy --help` for the options that every command takes, such as `-C` and `--config`.";

/// The help of a command with its own options alone: thirty options for running the agent would bury them.
pub(super) fn own_help(arguments: &[OsString]) -> Option<clap::Error> {
    let mut command = Cli::command();
    command.build();
    for command in command.get_subcommands_mut() {
        if !AGENT_COMMANDS.contains(&command.get_name()) {
            hide_general(command);
        }
    }
    let error = command.try_get_matches_from(arguments).err()?;
    (error.kind() == ErrorKind::DisplayHelp).then_some(error)
}

fn hide_general(command: &mut clap::Command) {
    let is_general = |argument: &clap::Arg| argument.is_global_set() && argument.get_id() != "help";
    let hidden = std::mem::take(command)
        .mut_args(|argument| if is_general(&argument) { argument.hide(true) } else { argument });
    *command = hidden.after_help(GENERAL);
    command.get_subcommands_mut().for_each(hide_general);
}
