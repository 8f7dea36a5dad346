//! Linked work trees of git: commands and the git tools work in them without a question, and a store that is not known to belong to
//! the folder stays closed and is named.

use std::path::Path;

use buddy_testkit::model::turn;
use buddy_testkit::program::Program;
use serde_json::{Value, json};

use crate::stage::Stage;

/// A repository with one commit.
const REPOSITORY: &str = "git init -q -b main . && git config user.name Ann && git config user.email ann@example.org && \
                          echo one > file && git add . && git commit -q -m one";

/// Everyday work. The last one would ask in an ordinary repository too if undo did not keep the files.
const WORK: &[&str] = &[
    "echo two > file && git add file",
    "git commit -q -m two && git branch side && git stash list",
    "git checkout -q -b more && git commit -q --allow-empty -m three && git rebase -q side && git gc -q",
    "git reset --hard -q side && git log --format=%s",
];

async fn bash(place: &Path, script: &str) -> String {
    let program = Program::new("/bin/bash").args(["-c", script]).cwd(place).env("HOME", place);
    let finished = program.env("GIT_CONFIG_NOSYSTEM", "1").run().await.expect_code(0);
    String::from_utf8(finished.stdout).unwrap()
}

/// The results of these calls in a trusted folder, in the default mode, where a question would be a denial.
async fn results(calls: Vec<(&str, Value)>, script: &str) -> (Stage, Vec<Value>) {
    let turns = calls.into_iter().map(|(name, input)| turn().call(name, input));
    let stage = Stage::apart(turns.chain([turn().text("Done.")]).collect::<Vec<_>>()).await;
    bash(&stage.home.work(), script).await;
    stage.usual(["exec", "--trust", "-c", "agent.gates.finish=false", "go"]).run().await;
    let results = stage.results();
    (stage, results)
}

fn command(line: &str) -> (&'static str, Value) {
    ("run_shell", json!({"command": line}))
}

/// The work tree is beside the repository that it belongs to.
fn beside() -> String {
    format!("mkdir ../main && cd ../main && {REPOSITORY} && git worktree add -q -b tree ../work")
}

fn assert_ran(results: &[Value], count: usize) {
    assert_eq!(results.len(), count, "{results:#?}");
    for result in results {
        assert!(result["ok"] == json!(true) && result["result"].get("jail").is_none(), "{results:#?}");
        assert!(result["result"].get("exit_code").is_none_or(|code| *code == 0), "{results:#?}");
    }
}

#[tokio::test]
async fn commands_of_git_run_in_a_work_tree_beside_its_repository() {
    let (stage, results) = results(WORK.iter().map(|line| command(line)).collect(), &beside()).await;
    assert_ran(&results, WORK.len());
    assert_eq!(bash(&stage.home.work(), "git log --format=%s").await, "two\none\n");
    assert_eq!(bash(&stage.home.work(), "git -C ../main status -s").await, "");
}

#[tokio::test]
async fn commands_of_git_run_in_a_work_tree_within_the_workspace() {
    let lines = ["git worktree add -q wt".to_owned()].into_iter();
    let lines = lines.chain(WORK.iter().map(|line| format!("cd wt && {line}")));
    let (stage, results) = results(lines.map(|line| command(&line)).collect(), REPOSITORY).await;
    assert_ran(&results, WORK.len() + 1);
    assert_eq!(bash(&stage.home.work(), "git -C wt log --format=%s").await, "two\none\n");
}

#[tokio::test]
async fn the_git_tools_work_in_work_trees_and_submodules() {
    let tools = |path: &str| {
        vec![
            ("write_file", json!({"path": format!("{path}/file"), "content": "two\n"})),
            ("git_add", json!({"path": path, "files": ["file"]})),
            ("git_commit", json!({"path": path, "message": "two"})),
        ]
    };
    let part = format!("mkdir ../part && cd ../part && {REPOSITORY}");
    let submodule = format!(
        "({part}) && {REPOSITORY} && git -c protocol.file.allow=always submodule --quiet add ../part part && git commit -q -m part && \
         git -C part config user.name Ann && git -C part config user.email ann@example.org"
    );
    for (path, script) in
        [(".", beside()), ("wt", format!("{REPOSITORY} && git worktree add -q wt")), ("part", submodule)]
    {
        let (stage, results) = results(tools(path), &script).await;
        assert_ran(&results, 3);
        assert_eq!(bash(&stage.home.work().join(path), "git log -1 --format=%s").await, "two\n", "{path}");
    }
}

#[tokio::test]
async fn a_store_that_does_not_name_the_folder_stays_closed_and_is_named() {
    let script =
        format!("{} && echo elsewhere > ../main/.git/worktrees/work/gitdir && echo more > file", beside());
    let calls = vec![command("git add file"), ("git_add", json!({"files": ["file"]}))];
    let (stage, results) = results(calls, &script).await;
    let told = results[0]["result"]["jail"].to_string();
    assert!(
        told.contains("git keeps the data of this folder in") && told.contains("main/.git"),
        "{results:#?}"
    );
    assert_eq!(told.matches("to allow it always, put `write = ").count(), 1, "{told}");
    assert_eq!(results[1]["error"]["code"], "refused", "{results:#?}");
    assert_eq!(bash(&stage.home.work(), "git -C . diff --cached --name-only").await, "");
}

#[tokio::test]
async fn a_commit_in_a_work_tree_is_named_before_anything_older_is_undone() {
    let tools = vec![
        ("write_file", json!({"path": "file", "content": "two\n"})),
        ("git_add", json!({"files": ["file"]})),
        command("git commit -q -m two"),
        command("git log --oneline"),
    ];
    let (stage, results) = results(tools, &beside()).await;
    assert_ran(&results, 4);
    for call in ["git commit -q -m two", "git add file"] {
        let told = stage.buddy(["undo", "--yes"]).run().await.expect_code(1);
        let why = "/main/.git  git keeps the data of this work tree there";
        for expected in ["undo cannot restore this change", call, why, "nothing was undone"] {
            assert!(told.stderr.contains(expected), "{expected}: {told}");
        }
        assert_eq!(stage.home.text("file"), "two\n");
    }
    stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert_eq!(stage.home.text("file"), "one\n");
}
