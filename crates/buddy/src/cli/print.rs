//! `-p` in the place of `exec`, as other agents have it.
//!
//! `buddy -p --json "hello"` is `buddy exec --json "hello"`: options of `exec` may stand before and after `-p`, and its
//! prompt may be called like a command. clap has one list of options for each command, so the words are put in order before
//! they are parsed.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command, CommandFactory, Parser};

use super::Cli;

/// The words of the command line, with `exec` first where `-p` asks for it.
pub(crate) fn arguments(words: Vec<OsString>) -> Vec<OsString> {
    let place = words.iter().take_while(|word| *word != OsStr::new("--")).position(|word| is_print(word));
    let Some(place) = place else { return words };
    let before = words.get(..place).unwrap_or_default();
    let mut meant = words.clone();
    meant.remove(place);
    meant.insert(1.min(meant.len()), OsString::from("exec"));
    match Cli::try_parse_from(before) {
        // What stands before it makes sense by itself: options, or a command that has `-p` or has it not.
        Ok(cli) if cli.command.is_none() => meant,
        Ok(_) => words,
        // A command stays one, also where something is missing or wrong about it: its name is never sent to the model.
        Err(_) if names_a_command(before) => words,
        // Options of `exec` do so only after `exec`.
        Err(_) => match Cli::try_parse_from(meant.get(..=place).unwrap_or_default()) {
            Ok(_) => meant,
            Err(_) => words,
        },
    }
}

/// Whether the first word that is neither an option nor the value of one is the name of a command.
fn names_a_command(words: &[OsString]) -> bool {
    let cli = Cli::command();
    let exec = cli.find_subcommand("exec");
    let options: Vec<&Arg> =
        cli.get_arguments().chain(exec.into_iter().flat_map(Command::get_arguments)).collect();
    let mut words = words.iter().skip(1).filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        if !word.starts_with('-') {
            return cli.find_subcommand(word).is_some();
        }
        let is_meant = |option: &&&Arg| {
            let is_long = word.strip_prefix("--").is_some_and(|name| option.get_long() == Some(name));
            is_long || option.get_short().is_some_and(|short| word == format!("-{short}"))
        };
        let takes_next =
            |option: &&Arg| option.get_action().takes_values() && !option.is_require_equals_set();
        if options.iter().find(is_meant).is_some_and(takes_next) {
            words.next();
        }
    }
    false
}

fn is_print(word: &OsStr) -> bool {
    word == OsStr::new("-p") || word == OsStr::new("--print")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(arguments(words(line)), words(expected), "{line}");
    }

    #[test]
    fn exec_stands_for_it() {
        check("buddy -p hello", "buddy exec hello");
        check("buddy --print", "buddy exec");
        check("buddy -p --json hello", "buddy exec --json hello");
        check("buddy -m other -p hello", "buddy exec -m other hello");
        check("buddy --json -p hello", "buddy exec --json hello");
        check("buddy hello -p", "buddy exec hello");
        check("buddy -p sessions", "buddy exec sessions");
        check("buddy --json -m show -p hello", "buddy exec --json -m show hello");
    }

    #[test]
    fn no_command_is_taken_for_a_prompt() {
        let cli = Cli::command();
        let names: Vec<&str> = cli.get_subcommands().map(Command::get_name).collect();
        assert!(names.contains(&"resume") && names.contains(&"undo"), "{names:?}");
        for name in names {
            for line in [format!("buddy {name} -p"), format!("buddy --json {name} x -p hello")] {
                check(&line, &line);
            }
        }
    }

    #[test]
    fn where_it_is_something_else_the_line_stays() {
        check("buddy sessions -p", "buddy sessions -p");
        check("buddy exec -p", "buddy exec -p");
        check("buddy exec -- -p", "buddy exec -- -p");
        check("buddy -m -p hello", "buddy -m -p hello");
        check("buddy --json resume -p hello", "buddy --json resume -p hello");
        check("buddy --timeout 2m -m resume show -p", "buddy --timeout 2m -m resume show -p");
        check("buddy", "buddy");
    }
}
