//! Checks of edited files: the model is told new errors with the result of its edit, and nothing else changes.

use std::fs;

use buddy_protocol::{Fact, Notice};
use buddy_testkit::model::{Turn, turn};
use serde_json::{Value, json};

use crate::stage::{Stage, done, said};

/// A check that finds each line with `BAD` in it.
const LINT: &str =
    "awk '/BAD/ { print FILENAME \":\" FNR \": BAD: no\"; bad = 1 } END { exit bad }' \"$1\"\n";

fn edit(old: &str, new: &str) -> Turn {
    turn().call("edit_file", json!({"path": "a.txt", "old": old, "new": new}))
}

fn write(path: &str, content: &str) -> Turn {
    turn().call("write_file", json!({"path": path, "content": content}))
}

/// A stage whose user checks text files with this script, outside the workspace.
async fn stage(script: &str, turns: Vec<Turn>) -> Stage {
    let stage = Stage::apart(turns).await;
    let home = stage.home.path();
    fs::write(home.join("lint.sh"), script).unwrap();
    configure(&stage, &format!("[\"/bin/sh\", \"{}\", \"{{file}}\"]", home.join("lint.sh").display()));
    stage
}

fn configure(stage: &Stage, command: &str) {
    let directory = stage.home.path().join(".config/buddy");
    fs::create_dir_all(&directory).unwrap();
    let text = format!("[checks.lint]\nfiles = [\"*.txt\"]\ncommand = {command}\n");
    fs::write(directory.join("buddy.toml"), text).unwrap();
}

/// Runs the turns in this mode and gives the results as the model was told them.
async fn results(stage: &Stage, mode: &str) -> Vec<String> {
    let arguments = ["exec", "--trust", "--permission-mode", mode, "-c", "agent.gates.finish=false", "go"];
    stage.buddy(arguments).run().await.expect_code(0);
    said(&stage.requests().last().unwrap().body, "tool")
}

/// The notices about checks in the log.
async fn notices(stage: &Stage) -> Vec<Notice> {
    let log = stage.only_log().await;
    let notices = log.events.into_iter().filter_map(|event| match event.fact {
        Fact::Notice(notice) if notice.code == "edit_check" => Some(notice),
        _ => None,
    });
    notices.collect()
}

#[tokio::test]
async fn new_errors_of_the_edited_file_are_told_and_old_ones_are_not() {
    let turns = vec![
        edit("two", "two BAD"),
        edit("three", "three\nfour"),
        edit("one", "zero BAD\none"),
        write("b.txt", "BAD\n"),
        write("b.md", "BAD\n"),
        done(),
    ];
    let stage = stage(LINT, turns).await;
    fs::write(stage.home.work().join("a.txt"), "old BAD\none\ntwo\nthree\n").unwrap();
    let results = results(&stage, "auto").await;
    assert!(results[0].contains("check: lint: 1 new in a.txt:\n"), "{}", results[0]);
    assert!(results[0].contains("a.txt:3: BAD") && !results[0].contains("a.txt:1"), "{}", results[0]);
    assert!(!results[1].contains("check"), "nothing new: {}", results[1]);
    assert!(results[2].contains("check: lint: 1 new in a.txt"), "{}", results[2]);
    assert!(results[3].contains("check: lint: 1 new in b.txt"), "a new file had no errors: {}", results[3]);
    assert!(!results[4].contains("check"), "the pattern does not match: {}", results[4]);
    let log = stage.results();
    assert_eq!(log[1]["result"]["checks"], json!([{"name": "lint", "file": "a.txt", "count": 0, "new": []}]));
    assert_eq!(log[0]["result"]["checks"][0]["count"], 1);
    assert_eq!(log[4]["result"].get("checks"), None);
}

#[tokio::test]
async fn a_check_changes_nothing_and_reaches_nothing() {
    let other = Stage::new(vec![]).await;
    let address = other.server.url().replace("http://", "").replace(':', "/");
    let script = format!(
        "touch \"$(dirname \"$1\")/made\" /var/tmp/made 2>/dev/null && echo \"$1:1: wrote\"
bash -c 'exec 3<>/dev/tcp/{address}' 2>/dev/null && echo \"$1:1: connected\"
echo \"$1:2: ran\"; printf '\\033[31m%s:3: red\\033[0m\\n' \"$1\"; exit 1\n"
    );
    let stage = stage(&script, vec![write("a.txt", "x\n"), done()]).await;
    let result = results(&stage, "auto").await.remove(0);
    assert!(result.contains("a.txt:2: ran") && result.contains("a.txt:3: red"), "{result}");
    assert!(
        !result.contains("wrote") && !result.contains("connected") && !result.contains('\u{1b}'),
        "{result}"
    );
    assert!(!stage.home.work().join("made").exists());
}

#[tokio::test]
async fn a_check_that_policy_would_ask_about_is_not_run_and_that_is_said_once() {
    let turns = vec![write("a.txt", "BAD\n"), write("a.txt", "BAD\nBAD\n"), done()];
    let stage = stage(LINT, turns).await;
    let results = results(&stage, "edits").await;
    assert!(results[0].contains("check: lint: not run: "), "{}", results[0]);
    assert!(!results[1].contains("check"), "{}", results[1]);
    assert_eq!(notices(&stage).await.len(), 1);
    assert_eq!(fs::read_to_string(stage.home.work().join("a.txt")).unwrap(), "BAD\nBAD\n");
}

#[tokio::test]
async fn a_check_that_is_missing_or_slow_fails_no_edit() {
    let turns = || vec![write("a.txt", "1\n"), write("a.txt", "2\n"), done()];
    for command in ["[\"no-such-linter\", \"{file}\"]", "[\"sleep\", \"600\"]"] {
        let stage = Stage::apart(turns()).await;
        configure(&stage, command);
        let results = results(&stage, "auto").await;
        assert!(results[0].contains("check: lint: "), "{}", results[0]);
        assert!(!results[1].contains("check"), "{}", results[1]);
        assert_eq!(notices(&stage).await.len(), 1);
        assert_eq!(fs::read_to_string(stage.home.work().join("a.txt")).unwrap(), "2\n");
        let statuses: Vec<Value> = stage.results().iter().map(|result| result["ok"].clone()).collect();
        assert_eq!(statuses, [true, true]);
    }
}

#[tokio::test]
async fn a_project_names_no_check_and_a_bad_one_is_refused() {
    let stage = Stage::apart(vec![write("a.txt", "BAD\n"), done()]).await;
    let project = "[checks.lint]\nfiles = [\"*.txt\"]\ncommand = [\"false\"]\n";
    fs::write(stage.home.work().join("buddy.toml"), project).unwrap();
    let results = results(&stage, "auto").await;
    assert!(!results[0].contains("check"), "{}", results[0]);
    configure(&stage, "[]");
    stage.buddy(["exec", "go"]).run().await.expect_code(2).expect_stderr("checks.lint");
    configure(&stage, "[\"{file}\"]");
    stage.buddy(["exec", "go"]).run().await.expect_code(2).expect_stderr("checks.lint");
}
