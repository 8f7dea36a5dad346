//! `-p` in the place of `exec`, as other agents have it.
//!
//! `buddy -p --json "hello"` is `buddy exec --json "hello"`: options of `exec` may stand before and after `-p`, and its
//! prompt may be called like a command. clap has one list of options for each command, so the words are put in order before
//! they are parsed.

use std::ffi::{OsStr, OsString};

use clap::Parser;

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
        // Options of `exec` do so only after `exec`.
        Err(_) => match Cli::try_parse_from(meant.get(..=place).unwrap_or_default()) {
            Ok(_) => meant,
            Err(_) => words,
        },
    }
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
    }

    #[test]
    fn where_it_is_something_else_the_line_stays() {
        check("buddy sessions -p", "buddy sessions -p");
        check("buddy exec -p", "buddy exec -p");
        check("buddy exec -- -p", "buddy exec -- -p");
        check("buddy -m -p hello", "buddy -m -p hello");
        check("buddy", "buddy");
    }
}
