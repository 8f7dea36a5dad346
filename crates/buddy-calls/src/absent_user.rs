//! Advice that names the user, for runs without one.
//!
//! Hints and notes are written for a conversation: "ask the user", "`/trust` changes that". In `exec` nobody answers and nobody types,
//! so the pipeline puts other words in their place, from one table. A test fails for advice that is not in it.

use buddy_policy::Attendance;
use buddy_protocol::{Fact, Notice, ToolFailure};
use serde_json::Value;

use crate::model_words::ADVICE_FIELDS;

/// Advice in a conversation, and the words in its place where nobody is there.
const ADVICE: &[(&str, &str)] = &[
    (
        "until the user has mended this; `buddy doctor` tells them what is missing",
        "for now; say so in your final message, with `buddy doctor`, which tells what is missing",
    ),
    (
        "if it is needed, name that file itself in a call of `read_file` or of a tool that edits files, which asks the user",
        "if it is needed, say so in your final message",
    ),
    (
        "if it is needed, name it in a call of `read_file` or of a tool that edits files, which asks the user",
        "if it is needed, say so in your final message",
    ),
    (
        "change it with a tool for files, which asks the user",
        "if it has to change, say so in your final message",
    ),
    (
        "push with the tool `git_push`, or name the folder (`git push ../name.git`): both ask the user for it",
        "say in your final message that the push is left to do",
    ),
    (
        "the user can install programs there with `!`",
        "say in your final message which program has to be installed there",
    ),
    (
        "the user has to put the first one back or start a new session",
        "change nothing there, and say so in your final message",
    ),
    ("ask the user if it is needed", "if it is needed, say so in your final message"),
    ("the user can end it, or name another pane", "name another pane"),
    ("wait until the user gives it back, or ask", "go on without the pane"),
    (
        "the user can allow a host in `web.allowed_hosts`; do not look for a way around",
        "do not look for a way around; `web.allowed_hosts` allows a host, so name it in your final message if it is needed",
    ),
    ("the user can read it with", "if it is needed, name this command in your final message:"),
    ("where the user approves the command", "where policy judges the command"),
    ("the user can trust it with", "name this command in your final message, which trusts it:"),
    (
        "the user has to set user.name and user.email",
        "user.name and user.email are not set; leave the commit, and say so in your final message",
    ),
    ("name one in `files` to ask the user for it", "nobody is there to open them"),
    (
        "the user can make one with `git init --bare`",
        "`git init --bare` makes one; say so in your final message",
    ),
    (
        "they open only when the user answers a question about this command, not by a grant",
        "they open only by an answer to a question, and nobody is there to answer",
    ),
    ("do something else, or ask the user", "do something else"),
    (
        "go on without it, or ask the user, who can try again with `/target use NAME`",
        "go on without it, and say so in your final message",
    ),
    ("; `/target use NAME` tries again", ""),
    (
        "ask the user to approve it, or work with the file tools",
        "work with the file tools, or say in your final message what is left to do",
    ),
    ("; run /trust to allow changes", "; a run with `--trust` may"),
    ("; the user can run /trust to allow changes", "; a run with `--trust` may change it"),
    ("or run it yourself with `!`", "or say in your final message that it is left to do"),
    ("or run it yourself in another terminal", "or say in your final message that it is left to do"),
    ("; run it yourself in another terminal", "; if it is needed, say so in your final message"),
    ("or run the command yourself with `!`", "or say in your final message that the command is left to do"),
    ("Run the command yourself with `!`", "Say in your final message that the command is left to do"),
    ("the user interrupted before the call ran", "the run was stopped before the call ran"),
    ("the user interrupted the call", "the run was stopped during the call"),
    ("the user stopped the call", "the run was stopped during the call"),
    ("the command was stopped by the user", "the command was stopped with the run"),
];

/// Advice in the words that fit.
pub(crate) fn reword_advice(text: String, attendance: Attendance) -> String {
    if attendance == Attendance::Somebody {
        return text;
    }
    ADVICE.iter().fold(
        text,
        |text, (attended, alone)| {
            if text.contains(attended) { text.replace(attended, alone) } else { text }
        },
    )
}

/// The result of a call, with its advice in the words that fit.
pub(crate) fn reword_result(
    result: Result<Value, ToolFailure>,
    attendance: Attendance,
) -> Result<Value, ToolFailure> {
    match result {
        Ok(Value::Object(mut fields)) => {
            for (_, value) in fields.iter_mut().filter(|(name, _)| ADVICE_FIELDS.contains(&name.as_str())) {
                *value = reword_value(value.take(), attendance);
            }
            Ok(Value::Object(fields))
        }
        Ok(other) => Ok(other),
        Err(failure) => Err(ToolFailure {
            message: reword_advice(failure.message, attendance),
            hint: failure.hint.map(|hint| reword_advice(hint, attendance)),
            ..failure
        }),
    }
}

fn reword_value(value: Value, attendance: Attendance) -> Value {
    match value {
        Value::String(text) => Value::String(reword_advice(text, attendance)),
        Value::Array(values) => values.into_iter().map(|value| reword_value(value, attendance)).collect(),
        other => other,
    }
}

/// A fact, with the advice of a notice in the words that fit.
pub fn reword_fact(fact: Fact, attendance: Attendance) -> Fact {
    match fact {
        Fact::Notice(notice) => {
            let text = reword_advice(notice.text, attendance);
            Fact::Notice(Notice { text, ..notice })
        }
        other => other,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use serde_json::json;

    use super::*;

    /// Words by which advice addresses somebody who is there.
    const ADDRESSING: &[&str] = &[
        "yourself with",
        "ask the user",
        "asks the user",
        "ask them",
        "the user can ",
        "the user has to",
        "the user has mended",
        "user approves",
        "the user gives",
        "the user answers",
        "the user interrupted",
        "the user stopped",
        "by the user",
        "tells them",
        "/trust",
        "/target",
    ];

    /// Literals that say what happened or may be done later, or that only a user who is there sees.
    const FACTS: &[&str] = &[
        // It names options for the next run, and faces print it for the user.
        "he user can allow it with ",
        // Answers to a command that the user typed.
        "`/target remove {name}` lets go of it",
        "stopped by the user\".to_owned()),\n        Ended::TimedOut",
    ];

    fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "tests" {
                sources(&path, found);
            } else if path.extension().is_some_and(|kind| kind == "rs")
                && !["tests.rs", "promises.rs", "absent_user.rs", "model_words.rs"].contains(&name)
            {
                found.push(path);
            }
        }
    }

    /// The code of the crates whose words reach a model, without tests and comments and with each literal on one line.
    fn code() -> String {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut files = Vec::new();
        for name in ["buddy-agent", "buddy-calls", "buddy-policy", "buddy-exec", "buddy-web"] {
            sources(&crates.join(name).join("src"), &mut files);
        }
        joined(files)
    }

    /// The same of these files and directories.
    pub(crate) fn code_in(places: &[PathBuf]) -> String {
        let mut files = Vec::new();
        for place in places {
            if place.is_dir() { sources(place, &mut files) } else { files.push(place.clone()) }
        }
        joined(files)
    }

    fn joined(files: Vec<PathBuf>) -> String {
        let mut code = String::new();
        for file in files {
            let text = fs::read_to_string(file).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let mut is_continued = false;
            for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                let line = if is_continued { line.trim_start() } else { line };
                is_continued = line.ends_with('\\');
                code.push_str(line.trim_end_matches('\\'));
                code.push_str(if is_continued { "" } else { "\n" });
            }
        }
        code
    }

    #[test]
    fn all_advice_that_addresses_the_user_is_in_the_table() {
        let mut rest = code();
        for (attended, _) in ADVICE {
            assert!(
                rest.contains(attended)
                    || ADVICE.iter().any(|(other, _)| other != attended && other.contains(attended)),
                "nobody says any more: {attended}"
            );
        }
        for known in ADVICE.iter().map(|(attended, _)| attended).chain(FACTS) {
            rest = rest.replace(known, "");
        }
        let said: Vec<&str> = rest
            .lines()
            .filter(|line| line.contains('"') && !line.contains("tracing::"))
            .filter(|line| ADDRESSING.iter().any(|words| line.contains(words)))
            .collect();
        assert!(said.is_empty(), "add to the table, or to the facts:\n{}", said.join("\n"));
    }

    #[test]
    fn no_words_for_an_absent_user_address_one() {
        for (attended, alone) in ADVICE {
            let reworded = reword_advice(format!("x: {attended}; y"), Attendance::Nobody);
            assert!(!reworded.contains(attended), "{attended}: a longer phrase must come first");
            assert!(
                !alone.contains("the user") && !alone.contains("ask ") && !alone.contains(" /"),
                "{alone}"
            );
            assert_eq!(reword_advice((*attended).to_owned(), Attendance::Somebody), *attended);
        }
    }

    #[test]
    fn hints_and_notes_change_and_material_does_not() {
        let ask = "do something else, or ask the user";
        let result = json!({"note": ask, "jail": [ask], "content": ask});
        let alone = reword_result(Ok(result.clone()), Attendance::Nobody).unwrap();
        assert_eq!(
            alone,
            json!({"note": "do something else", "jail": ["do something else"], "content": ask})
        );
        assert_eq!(reword_result(Ok(result.clone()), Attendance::Somebody).unwrap(), result);
        let failure = ToolFailure::new("failed", "it failed").hint(ask);
        let alone = reword_result(Err(failure), Attendance::Nobody).unwrap_err();
        assert_eq!(alone.hint.as_deref(), Some("do something else"));
    }
}
