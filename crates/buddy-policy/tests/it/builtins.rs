//! Builtins of the shells, run for real: each way in which one runs its own words must ask in production.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use buddy_policy::{Mode, Verdict};

use crate::stage::{ask, policy, run};

/// Shells, and how each lists its builtins.
const SHELLS: &[(&[&str], &str)] = &[
    (&["bash", "--norc", "--noprofile"], "compgen -b; compgen -k"),
    (&["zsh", "-f"], "print -rl -- ${(k)builtins} ${(k)reswords}"),
    (&["dash"], ""),
    (&["busybox", "ash"], ""),
];

/// Builtins of shells that do not list theirs (POSIX, dash(1), `busybox ash`).
const OTHERS: &str = ". : [ alias bg break cd chdir command continue echo eval exec exit export false fg getopts hash history jobs kill let \
    local printf pwd read readonly return set shift source test time times trap true type ulimit umask unalias unset wait";

/// Builtins that stop the shell, or wait for a terminal, and run nothing.
const NOT_RUN: &[&str] = &[
    "suspend", "logout", "exit", "bye", "return", "break", "continue", "fg", "bg", "kill", "zle", "vared",
    "ttyctl",
];

#[expect(clippy::disallowed_methods, reason = "the test asks the real shells")]
fn shell(words: &[&str], script: &str, cwd: &Path) -> String {
    let mut command = Command::new("timeout");
    command.arg("60").args(words).args(["-c", script]).current_dir(cwd).env("HOME", cwd);
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().expect("the shell starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The ways of giving a builtin a command that run unasked in production: as words and as one word, behind each option of one letter.
fn unasked_lines(builtin: &str) -> Vec<String> {
    let letters = ('a'..='z').chain('A'..='Z').map(|letter| format!("-{letter} "));
    let options = std::iter::once(String::new()).chain(letters);
    let forms = options.flat_map(|option| {
        ["touch MARK", "'touch MARK'"].map(|command| format!("{builtin} {option}{command}"))
    });
    // The file is outside, so a line that is judged by what it runs asks.
    let is_unasked = |line: &String| {
        let intent = run(&line.replace("MARK", "/home/u/mark"));
        ask(&intent, &policy(Mode::Production)).verdict == Verdict::Allow
    };
    forms.filter(is_unasked).collect()
}

#[test]
fn no_builtin_runs_its_words_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (words, list) in SHELLS {
        let listed = if list.is_empty() { OTHERS.to_owned() } else { shell(words, list, folder.path()) };
        let is_name = |name: &&str| {
            name.chars().all(|letter| letter.is_ascii_lowercase() || "_.:-".contains(letter))
                && !NOT_RUN.contains(name)
        };
        let builtins: BTreeSet<&str> = listed.split_whitespace().filter(is_name).collect();
        assert!(builtins.len() > 30, "{words:?} lists too few: {builtins:?}");
        for builtin in builtins {
            let lines = known.entry(builtin.to_owned()).or_insert_with(|| unasked_lines(builtin));
            if lines.is_empty() {
                continue;
            }
            // Each is read on its own, since some are no sentences of the grammar.
            let tried = lines.iter().enumerate().map(|(at, line)| {
                let line = line.replace("MARK", &format!("mark{at}"));
                format!("(eval {}) >/dev/null 2>&1\n", quoted(&line))
            });
            shell(words, &tried.collect::<String>(), folder.path());
            for (at, line) in lines.iter().enumerate() {
                assert!(!folder.path().join(format!("mark{at}")).exists(), "{words:?} runs it: {line}");
            }
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
