//! A change outside the workspace is asked about in every mode, and a yes opens what the question names and nothing else.

use std::fs;
use std::path::Path;

use buddy_protocol::{Fact, Question};
use buddy_testkit::model::{ModelServer, Turn, turn};
use serde_json::{Value, json};

use crate::stage::{Stage, done, run};

/// Keeps buddy from bubblewrap, so that the jail is made of the other layers alone.
const WITHOUT_BUBBLEWRAP: &str = "mount --bind /dev/null /usr/bin/bwrap";

/// A home with files of its own, and a trusted folder in it.
async fn stage(calls: Vec<Turn>) -> Stage {
    let mut stage = Stage::apart(vec![done()]).await;
    for name in ["notes.txt", "docs/a.txt", "docs/b.txt", "other.txt"] {
        let path = stage.home.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "kept\n").unwrap();
    }
    stage.buddy(["trust"]).run().await.expect_code(0);
    stage.server = ModelServer::start(calls.into_iter().chain([done()]).collect::<Vec<_>>()).await;
    stage
}

/// Makes the calls, says yes to every question, and returns the questions' reasons and the results.
async fn approved(stage: &Stage, policy: &str, has_bubblewrap: bool) -> (Vec<String>, Vec<Value>) {
    let words = format!("-c agent.max_iterations=200 --approve {policy}");
    let program = if has_bubblewrap {
        stage.in_bash(&format!("exec \"$BUDDY\" {words}"))
    } else {
        let line = format!("{WITHOUT_BUBBLEWRAP} && exec \"$BUDDY\" {words}");
        stage.in_bash(&format!("exec unshare --map-root-user --mount sh -c '{line}'"))
    };
    let mut started = program.env("BUDDY_ENV", "development").converse();
    started.write(b"go\n").await;
    for count in 1.. {
        tokio::select! {
            () = started.stderr.wait_for("approve? [y/n] ", count) => {}
            () = started.stdout.wait_for("So be it.", 1) => break,
        }
        started.write(b"y\n").await;
    }
    started.finish().await.expect_code(0);
    let log = stage.only_log().await;
    let reasons = log.events.iter().filter_map(|event| match &event.fact {
        Fact::Asked(asked) => match &asked.ask.question {
            Question::Approval(approval) => {
                Some(format!("{}: {}", approval.action, approval.reasons.join("; ")))
            }
            _ => None,
        },
        _ => None,
    });
    (reasons.collect(), stage.results())
}

fn read(home: &Path, name: &str) -> String {
    fs::read_to_string(home.join(name)).unwrap_or_default()
}

#[tokio::test]
async fn a_yes_opens_the_one_file_and_nothing_beside_it() {
    for (policy, has_bubblewrap) in
        [("auto", true), ("ask", true), ("edits", true), ("auto", false), ("all", true)]
    {
        let stage = stage(vec![
            // The words name one file, and the program that runs beside it tries others.
            run("echo more >> ~/notes.txt; python3 -c 'open(\"../other.txt\", \"w\")'; python3 -c 'open(\"../docs/c.txt\", \"w\")'; true"),
            run("echo made > ~/new.txt; python3 -c 'import os; os.remove(\"../new.txt\")'; true"),
            run("false && echo x > ~/never.txt; true"),
            run("python3 -c 'open(\"../notes.txt\", \"w\")'; true"),
            run("rm ~/docs/a.txt && mkdir ~/docs/sub; python3 -c 'open(\"../other.txt\", \"w\")'; true"),
            turn().call("write_file", json!({"path": "~/tool.txt", "content": "tool\n"})),
        ])
        .await;
        let (asked, results) = approved(&stage, policy, has_bubblewrap).await;
        let home = stage.home.path();
        let told = format!("{policy} {has_bubblewrap}: {asked:#?} {results:#?}");
        assert_eq!(read(home, "notes.txt"), "kept\nmore\n", "{told}");
        assert_eq!(read(home, "other.txt"), "kept\n", "{told}");
        assert_eq!(read(home, "new.txt"), "made\n", "{told}");
        assert_eq!(read(home, "tool.txt"), "tool\n", "{told}");
        assert!(!home.join("never.txt").exists() && !home.join("docs/c.txt").exists(), "{told}");
        assert!(!home.join("docs/a.txt").exists() && home.join("docs/sub").is_dir(), "{told}");
        assert_eq!(read(home, "docs/b.txt"), "kept\n", "{told}");
        let named = |text: &str| asked.iter().any(|asked| asked.contains(text));
        assert!(named("/notes.txt`, which is outside the workspace: a yes opens it alone"), "{told}");
        assert!(named("/docs` to this command; undo does not cover it"), "{told}");
        assert!(named("Write ~/tool.txt, outside the workspace"), "{told}");
    }
}

#[tokio::test]
async fn where_nobody_can_be_asked_it_is_denied_and_the_setting_is_named() {
    for policy in ["auto", "all"] {
        let calls = vec![
            run("echo x > ~/new.txt"),
            turn().call("write_file", json!({"path": "~/tool.txt", "content": "x"})),
        ];
        let stage = stage(calls).await;
        stage.buddy(["exec", "--approve", policy, "go"]).run().await;
        for result in stage.results() {
            assert_eq!(result["error"]["code"], "approval_needed", "{result}");
            assert!(result.to_string().contains("under `[jail]` in your own buddy.toml"), "{result}");
        }
        assert!(!stage.home.path().join("new.txt").exists() && !stage.home.path().join("tool.txt").exists());
    }
}

#[tokio::test]
async fn an_edited_command_that_would_open_another_path_is_asked_about_again() {
    let stage = stage(vec![run("echo more >> ~/notes.txt")]).await;
    let mut started = stage.buddy(["--approve", "ask"]).env("BUDDY_ENV", "development").converse();
    started.write(b"go\n").await;
    started.stderr.wait_for("approve? [y/n] ", 1).await;
    started.write(b"e echo more >> ~/other.txt\n").await;
    started.stderr.wait_for("approve? [y/n] ", 2).await;
    started.write(b"n\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    started.finish().await.expect_code(0);
    assert_eq!(read(stage.home.path(), "other.txt"), "kept\n");
}

/// Fails unless the next undo names a change, with its reason, and reverts nothing.
async fn assert_named(stage: &Stage, call: &str, why: &str) {
    let told = stage.buddy(["undo", "--yes"]).run().await.expect_code(1);
    for expected in ["undo cannot restore this change", call, why, "nothing was undone"] {
        assert!(told.stderr.contains(expected), "{expected}: {told}");
    }
    assert!(!told.stderr.contains("  /tmp  "), "only the place that changed is named: {told}");
}

#[tokio::test]
async fn a_change_outside_is_named_before_anything_older_is_undone() {
    let stage = stage(vec![
        turn().call("write_file", json!({"path": "made.txt", "content": "x"})),
        run("rm ~/docs/a.txt"),
        run("echo made > ~/new.txt"),
        run("echo more >> ~/notes.txt"),
        run("false && echo x > ~/never.txt; true"),
        run("cat ~/notes.txt"),
    ])
    .await;
    let (asked, _) = approved(&stage, "auto", true).await;
    assert_named(&stage, "echo more >> ~/notes.txt", "/notes.txt  it is outside the workspace").await;
    assert_named(&stage, "echo made > ~/new.txt", "/new.txt  it is outside the workspace").await;
    assert_named(&stage, "rm ~/docs/a.txt", "/docs  it is outside the workspace").await;
    let made = stage.home.work().join("made.txt");
    assert!(made.exists(), "{asked:#?}");
    stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert!(!made.exists());
}

#[tokio::test]
async fn an_undo_says_what_stays_outside() {
    let stage = stage(vec![run("echo x > made.txt; echo more >> ~/notes.txt")]).await;
    approved(&stage, "auto", true).await;
    let told = stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    for expected in
        ["Undone in part: echo x", "removed   made.txt", "/notes.txt  it is outside the workspace"]
    {
        assert!(told.stderr.contains(expected), "{expected}: {told}");
    }
    assert!(!stage.home.work().join("made.txt").exists());
    assert_eq!(read(stage.home.path(), "notes.txt"), "kept\nmore\n");
}

#[tokio::test]
async fn a_work_tree_beside_other_projects_is_refused_with_what_to_do_instead() {
    for words in [["exec", "--approve", "auto", "go"], ["exec", "--approve", "all", "go"]] {
        let stage = stage(vec![run("git worktree add ../wt")]).await;
        stage.buddy(words).run().await;
        let results = stage.results();
        let message = results[0]["error"]["message"].as_str().unwrap_or_default();
        let wt = stage.home.path().join("wt");
        let told = format!("{results:#?}");
        assert!(
            message.contains(&format!("it writes `{}`, which is outside the workspace", wt.display())),
            "{told}"
        );
        assert!(message.contains("a yes would have to open all of `"), "{told}");
        let step = message.rsplit(". ").next().unwrap_or_default();
        assert!(step.starts_with("Use a directory inside the workspace, or put `write = [\""), "{told}");
        assert!(
            step.contains(&format!("\"{}\"]` under `[jail]` in your buddy.toml", wt.display())),
            "{told}"
        );
        assert!(!wt.exists());
    }
}
