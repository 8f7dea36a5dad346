//! Tested with the real shell: the words that the judge is certain of are the words that bash runs.
//!
//! Commands are made from a grammar of quotes, escapes, expansions, redirections and chains. Bash runs them
//! in an empty directory with an empty search path, where every program is unknown, so that its handler for
//! unknown commands is called with the words that would have been run; the handler writes them down and
//! nothing else happens.

use std::cell::Cell;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use buddy_policy::{CommandMode, CommandPattern, Execution, Mode, Verdict};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::stage::{ask, policy, run};

/// The number of commands that are tried together in one shell, because starting one takes longer
/// than everything else.
const TOGETHER: usize = 40;
/// The number of rounds.
const ROUNDS: u32 = 40;

/// Programs of the grammar; none of them exists.
const PROGRAMS: &[&str] = &["zz-one", "zz-two", "zz_three"];

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z0-9_./:@%+-]{1,6}",
        2 => "[a-zA-Z ;|&<>()*?$\"#~!\\\\{},\\[\\]]{0,6}".prop_map(|text| format!("'{text}'")),
        2 => "[a-z '|&;<>()*?#~{},=]{0,6}".prop_map(|text| format!("\"{text}\"")),
        1 => prop::sample::select(vec!["\"a\\\"b\"", "\"a\\\\b\"", "\"\\$x\"", "\"a\\`b\"", "\"a\\nb\"", "\"$\"", "\"a\\\nb\"", "\"a!\""]).prop_map(str::to_owned),
        2 => prop::sample::select(vec![
            r"$'\x61'", r"$'a\tb'", r"$'\'q'", r"$'\141'", r"$'\u0062'", r"$'\\'", r"$'\x7a1'", r"$'\e'", r"$'a\qb'", r"$'\0x'", r"$'\xe9'", r"$'\cA'",
            r"$'\1411'", r"$'\x6'", r"$'\U00000063'",
        ]).prop_map(str::to_owned),
        2 => "[ a-z$'\"*|;&<>()#~{}\\\\]".prop_map(|character| format!("\\{character}")),
        1 => prop::sample::select(vec![
            "$zz", "${zz}", "$(zz-one)", "`zz-one`", "*", "?", "[ab]", "{a,b}", "{1..3}", "~", "~/a", "$((1+2))", "$\"x\"", "{a}", "{}", "a=b", "=", "!", "#", "a#b",
            "^", "$", "%", "a,b", "..", "a..b", "{a..b", "[", "]", "-", "--", "+", "\\\n",
        ]).prop_map(str::to_owned),
    ]
}

fn word() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 1..4).prop_map(|pieces| pieces.concat())
}

fn simple() -> impl Strategy<Value = String> {
    let program = prop::sample::select(PROGRAMS.to_vec());
    let gap = prop::sample::select(vec![" ", "  ", "\t", " \\\n "]);
    (program, prop::collection::vec((gap, word()), 0..4)).prop_map(|(program, words)| {
        let rest: String = words.iter().flat_map(|(gap, word)| [*gap, word.as_str()]).collect();
        format!("{program}{rest}")
    })
}

fn line() -> impl Strategy<Value = String> {
    let joint = prop::sample::select(vec!["; ", " && ", " || ", "\n", " | ", ";", " & ", "&&"]);
    let tail =
        prop::sample::select(vec!["", "", "", " > /dev/null", " 2>&1", " # note", " < /dev/null", ";"]);
    (simple(), prop::collection::vec((joint, simple()), 0..3), tail).prop_map(|(first, rest, tail)| {
        let rest: String = rest.iter().flat_map(|(joint, simple)| [*joint, simple.as_str()]).collect();
        format!("{first}{rest}{tail}")
    })
}

/// Runs each line in a bash of its own making and returns the words of every command that it tried to run.
#[expect(clippy::disallowed_methods, reason = "the test holds the parser against the real shell")]
fn words_of_bash(lines: &[String], directory: &Path) -> Vec<Vec<Vec<String>>> {
    let script = directory.join("script");
    // Words are separated by a unit separator and commands by a record separator; neither is in the grammar.
    let mut text = String::from(
        "command_not_found_handle() { local IFS=$'\\x1f'; printf '%s\\x1e' \"$#\"$'\\x1f'\"$*\" >&9; return 0; }\n",
    );
    for (at, line) in lines.iter().enumerate() {
        let file = directory.join(format!("line-{at}"));
        std::fs::write(&file, format!("{line}\n")).expect("the line is written");
        let _ = writeln!(text, "( exec 9>out-{at}; . ./line-{at}; wait ) </dev/null >/dev/null 2>&1");
    }
    std::fs::write(&script, text).expect("the script is written");
    let status = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "script"])
        .current_dir(directory)
        .env_clear()
        .env("PATH", directory.join("nothing"))
        .env("HOME", directory)
        .env("LC_ALL", "C.UTF-8")
        .status()
        .expect("bash is needed for this test");
    assert!(status.code().is_some(), "bash was killed: {status}");
    let read = |at: usize| std::fs::read(directory.join(format!("out-{at}"))).unwrap_or_default();
    (0..lines.len()).map(|at| commands_in(&read(at))).collect()
}

fn commands_in(bytes: &[u8]) -> Vec<Vec<String>> {
    let text = String::from_utf8_lossy(bytes);
    let records = text.split('\u{1e}').filter(|record| !record.is_empty());
    let words = |record: &str| {
        let (count, rest) = record.split_once('\u{1f}').expect("a record begins with its count");
        let words: Vec<String> = rest.split('\u{1f}').map(str::to_owned).collect();
        assert_eq!(count, words.len().to_string(), "{record:?}");
        words
    };
    records.map(words).collect()
}

/// Whether an allow rule for exactly these words allows the command: the words that it is judged by, if all
/// of them are certain.
fn is_judged_as(line: &str, commands: &[Vec<String>]) -> bool {
    let mut policy = policy(Mode::Development);
    let quoted = |word: &String| format!("'{}'", word.replace('\'', r"'\''"));
    let patterns = commands.iter().filter_map(|words| {
        let text: Vec<String> = words.iter().map(quoted).collect();
        CommandPattern::parse(&text.join(" ")).ok()
    });
    let allow = patterns.map(buddy_policy::Rule::command).collect();
    policy
        .rules
        .add(buddy_policy::RuleTier::User, buddy_policy::Rules { allow, ..buddy_policy::Rules::default() });
    ask(&run(line), &policy).verdict == Verdict::Allow
}

/// Allows every program of the grammar with any words, so that every certain command is allowed.
fn is_allowed(line: &str) -> bool {
    let mut policy = policy(Mode::Development);
    let allow = PROGRAMS
        .iter()
        .map(|program| buddy_policy::Rule::command(crate::stage::pattern(&format!("{program} *"))));
    policy.rules.add(
        buddy_policy::RuleTier::User,
        buddy_policy::Rules { allow: allow.collect(), ..buddy_policy::Rules::default() },
    );
    ask(&run(line), &policy).verdict == Verdict::Allow
}

fn runner() -> TestRunner {
    TestRunner::new(Config { cases: ROUNDS, failure_persistence: None, ..Config::default() })
}

/// If a line is allowed because its programs are, bash runs no other program.
#[test]
fn allowed_lines_run_no_other_program() {
    let directory = tempfile::tempdir().expect("a directory");
    let allowed = Cell::new(0_usize);
    let result = runner().run(&prop::collection::vec(line(), TOGETHER), |lines| {
        let place = tempfile::tempdir_in(directory.path()).expect("a directory");
        let ran = words_of_bash(&lines, place.path());
        for (line, commands) in lines.iter().zip(&ran).filter(|(line, _)| is_allowed(line)) {
            for words in commands {
                prop_assert!(PROGRAMS.contains(&words[0].as_str()), "{:?} ran {:?}", line, words);
            }
            allowed.set(allowed.get() + 1);
        }
        Ok(())
    });
    result.expect("bash and the judge agree");
    assert!(allowed.get() > 50, "the grammar makes enough that is allowed: {}", allowed.get());
}

/// If the judge is certain of every word, bash runs exactly these words.
#[test]
fn words_that_are_certain_are_the_words_that_bash_runs() {
    let directory = tempfile::tempdir().expect("a directory");
    let certain = Cell::new(0_usize);
    let result = runner().run(&prop::collection::vec(simple(), TOGETHER), |lines| {
        let place = tempfile::tempdir_in(directory.path()).expect("a directory");
        let ran = words_of_bash(&lines, place.path());
        for (line, commands) in lines.iter().zip(&ran) {
            let Some(words) = exact_words(line) else { continue };
            prop_assert_eq!(commands, &vec![words], "{:?}", line);
            certain.set(certain.get() + 1);
        }
        Ok(())
    });
    result.expect("bash and the judge agree");
    assert!(certain.get() > 50, "the grammar makes enough that is certain: {}", certain.get());
}

/// A chain of which the judge is certain runs exactly the commands that were judged.
#[test]
fn chains_that_are_certain_run_what_was_judged() {
    let directory = tempfile::tempdir().expect("a directory");
    let certain = Cell::new(0_usize);
    let result = runner().run(&prop::collection::vec(line(), TOGETHER), |lines| {
        let place = tempfile::tempdir_in(directory.path()).expect("a directory");
        let ran = words_of_bash(&lines, place.path());
        for (line, commands) in lines.iter().zip(&ran).filter(|(line, _)| is_certain(line)) {
            // `||` and a failed redirection skip commands, so bash may run fewer than were judged, and none other.
            if commands.iter().all(|words| words.iter().all(|word| !word.chars().any(char::is_control))) {
                let is_complete = !line.contains("||");
                prop_assert!(!is_complete || is_judged_as(line, commands), "{:?} ran {:?}", line, commands);
                certain.set(certain.get() + 1);
            }
        }
        Ok(())
    });
    result.expect("bash and the judge agree");
    assert!(certain.get() > 50, "the grammar makes enough that is certain: {}", certain.get());
}

/// The words of a simple command, when the judge is certain of every one.
fn exact_words(line: &str) -> Option<Vec<String>> {
    if !is_certain(line) {
        return None;
    }
    let mut policy = policy(Mode::Development);
    let patterns = PROGRAMS.iter().map(|program| crate::stage::pattern(&format!("{program} *")));
    policy.commands = CommandMode::Allowlist(patterns.collect());
    match ask(&run(line), &policy) {
        decision if decision.verdict == Verdict::Allow => match decision.execution {
            Execution::Argv(words) => Some(words),
            Execution::Shell => None,
        },
        _ => None,
    }
}

/// Whether every word is certain: then, and only then, a grant for the program covers the command.
fn is_certain(line: &str) -> bool {
    let grants: Vec<_> = PROGRAMS
        .iter()
        .map(|program| {
            buddy_policy::Grant::of(
                buddy_policy::Scope::Commands(crate::stage::pattern(&format!("{program} *"))),
                "local",
            )
        })
        .collect();
    let has_pattern = line.contains(['*', '?', '[']);
    !has_pattern
        && crate::stage::with_grants(&run(line), &policy(Mode::Development), &grants).verdict
            == Verdict::Allow
}
