//! `-p` in the place of `exec`, as other agents have it.
//!
//! `buddy -p --json "hello"` is `buddy exec --json "hello"`: options of `exec` may stand before and after `-p`, and its
//! prompt may be called like a command. clap has one list of options for each command, so the words are put in order before
//! they are parsed.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command, CommandFactory, Parser};

use super::Cli;

/// The words of the command line, with `exec` first where `-p` asks for it, and with a prompt of `exec` that begins with a
/// dash where it is taken for one.
pub(crate) fn arguments(words: Vec<OsString>) -> Vec<OsString> {
    tmux_name_joined(dashed_prompt_last(printing(words)))
}

/// Joins `--tmux NAME` to `--tmux=NAME`, where the line makes sense only so: a name may be left out, and then the next word is
/// something else.
fn tmux_name_joined(words: Vec<OsString>) -> Vec<OsString> {
    let Some(place) = words.iter().position(|word| word == OsStr::new("--tmux")) else { return words };
    let next = words.get(place + 1).and_then(|name| name.to_str());
    let Some(name) = next.filter(|name| !name.starts_with('-')) else { return words };
    let mut joined = words.clone();
    joined.splice(place..=place + 1, [OsString::from(format!("--tmux={name}"))]);
    // A name that cannot be one is told as that, and not as a prompt with a word too many.
    let is_name = name.chars().all(|letter| letter.is_alphanumeric() || "-_.".contains(letter));
    let is_meant = || Cli::read(joined.clone()).is_ok() || !is_name;
    if Cli::read(words.clone()).is_err() && is_meant() { joined } else { words }
}

/// Whether the words ask `exec` for JSON. They may be ones that make no sense.
pub(crate) fn wants_json(words: &[OsString]) -> bool {
    let mut options = words.iter().take_while(|word| *word != OsStr::new("--"));
    let is_json = options.clone().zip(options.clone().skip(1)).any(|(option, value)| {
        option == OsStr::new("--output-format") && value.to_string_lossy().ends_with("json")
    });
    let is_one_word = |word: &OsString| {
        let word = word.to_string_lossy();
        word == "--json" || (word.starts_with("--output-format=") && word.ends_with("json"))
    };
    runs_exec(words) && (is_json || options.any(is_one_word))
}

fn runs_exec(words: &[OsString]) -> bool {
    let cli = Cli::command();
    let place = command_place(&cli, words);
    place.and_then(|place| words.get(place)).is_some_and(|word| word == OsStr::new("exec"))
}

/// Puts a prompt of `exec` that begins with a dash behind `--`. A word with a space in it is no option, unless it is the
/// value of one or holds it: `-C/my dir`, `--config=my file`.
fn dashed_prompt_last(mut words: Vec<OsString>) -> Vec<OsString> {
    let cli = Cli::command();
    if !runs_exec(&words) || words.iter().any(|word| word == OsStr::new("--")) {
        return words;
    }
    let options = options(&cli);
    let takes_next = |word: &OsString| word.to_str().is_some_and(|word| takes_next(&options, word));
    let is_prompt = |place: &usize| {
        let word = words.get(*place).and_then(|word| word.to_str()).unwrap_or_default();
        let is_value = place.checked_sub(1).and_then(|before| words.get(before)).is_some_and(takes_next);
        !is_value && is_dashed_prompt(&options, word)
    };
    let place = (1..words.len()).find(is_prompt);
    if let Some(place) = place {
        let prompt = words.remove(place);
        words.extend([OsString::from("--"), prompt]);
    }
    words
}

fn is_dashed_prompt(options: &[&Arg], word: &str) -> bool {
    let Some((first, _)) = word.split_once(char::is_whitespace) else { return false };
    if !first.starts_with('-') || first.contains('=') {
        return false;
    }
    let mut letters = first.chars().skip(1);
    match (letters.next(), letters.next()) {
        // `-C/my dir`: the value of a short option begins at once.
        (Some(short), Some(_)) if short != '-' => {
            !options.iter().any(|option| option.get_short() == Some(short) && takes_value(option))
        }
        _ => true,
    }
}

fn printing(words: Vec<OsString>) -> Vec<OsString> {
    let place = words.iter().take_while(|word| *word != OsStr::new("--")).position(|word| is_print(word));
    let Some(place) = place else { return words };
    let before = words.get(..place).unwrap_or_default();
    let mut meant = words.clone();
    meant.remove(place);
    meant.insert(1.min(meant.len()), OsString::from("exec"));
    match Cli::try_parse_from(before) {
        // The words before it make sense by themselves: options, or a command with or without `-p`.
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
    command_place(&Cli::command(), words).is_some()
}

/// Where the name of the command stands: the first word that is neither an option nor the value of one, if it is a name.
fn command_place(cli: &Command, words: &[OsString]) -> Option<usize> {
    let options = options(cli);
    let mut words =
        words.iter().enumerate().skip(1).filter_map(|(place, word)| Some((place, word.to_str()?)));
    while let Some((place, word)) = words.next() {
        if !word.starts_with('-') {
            return cli.find_subcommand(word).map(|_| place);
        }
        if takes_next(&options, word) {
            words.next();
        }
    }
    None
}

/// The options that may stand on a command line of `exec`.
fn options(cli: &Command) -> Vec<&Arg> {
    let exec = cli.find_subcommand("exec");
    cli.get_arguments().chain(exec.into_iter().flat_map(Command::get_arguments)).collect()
}

/// Whether a word is an option whose value is the next word.
fn takes_next(options: &[&Arg], word: &str) -> bool {
    let is_meant = |option: &&&Arg| {
        let is_long = word.strip_prefix("--").is_some_and(|name| option.get_long() == Some(name));
        is_long || option.get_short().is_some_and(|short| word == format!("-{short}"))
    };
    options.iter().find(is_meant).is_some_and(|option| takes_value(option) && !option.is_require_equals_set())
}

fn takes_value(option: &Arg) -> bool {
    option.get_action().takes_values()
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
    fn a_prompt_may_begin_with_a_dash() {
        let check = |line: &[&str], expected: &[&str]| {
            let words = |line: &[&str]| line.iter().map(OsString::from).collect::<Vec<_>>();
            assert_eq!(arguments(words(line)), words(expected));
        };
        check(
            &["buddy", "exec", "- one\n- two", "--json"],
            &["buddy", "exec", "--json", "--", "- one\n- two"],
        );
        check(&["buddy", "-p", "-x is broken"], &["buddy", "exec", "--", "-x is broken"]);
        check(&["buddy", "exec", "--help me"], &["buddy", "exec", "--", "--help me"]);
        check(&["buddy", "exec", "-Wall fails"], &["buddy", "exec", "--", "-Wall fails"]);
        for line in [
            ["buddy", "exec", "-C/my dir", "x"],
            ["buddy", "exec", "--config=my file", "x"],
            ["buddy", "exec", "-c", "--x y"],
            ["buddy", "show", "-x y", "z"],
            ["buddy", "exec", "--jsn", "x"],
        ] {
            check(&line, &line);
        }
    }

    #[test]
    fn the_name_of_a_tmux_session_may_be_the_next_word() {
        check("buddy --tmux work", "buddy --tmux=work");
        check("buddy --tmux work resume --last", "buddy --tmux=work resume --last");
        check("buddy resume ses_1 --tmux work", "buddy resume ses_1 --tmux=work");
        check("buddy exec --tmux work hello", "buddy exec --tmux=work hello");
        for line in
            ["buddy exec --tmux hello", "buddy --tmux", "buddy --tmux resume --last", "buddy --tmux=a"]
        {
            check(line, line);
        }
    }

    #[test]
    fn json_is_seen_in_a_line_that_makes_no_sense() {
        let wants = |line: &str| wants_json(&arguments(line.split(' ').map(OsString::from).collect()));
        for line in [
            "buddy exec --json --nonsense",
            "buddy exec --output-format json --x",
            "buddy exec --output-format=stream-json --x",
        ] {
            assert!(wants(line), "{line}");
        }
        for line in ["buddy exec --nonsense", "buddy sessions --json --nonsense", "buddy exec -- --json"] {
            assert!(!wants(line), "{line}");
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
