//! The rules that the model is told of, against the outcome of a call of each class, in every variant of a run.

use std::path::Path;

use serde_json::{Value, json};

use buddy_testkit::model::{Turn, turn};

use crate::stage::{Stage, done, run, sent, shell};

/// A class of calls as the environment block names it, the class that it belongs to, and a call of it. Reading is always allowed.
fn calls(stage: &Stage, scratch: &Path) -> Vec<(&'static str, Option<&'static str>, Turn)> {
    let outside = stage.home.path().join("beside.txt");
    let scratch = scratch.join("scratch.txt");
    let mut server = shell("exec sleep 600");
    server["name"] = json!("probe");
    let write = |path: &str| turn().call("write_file", json!({"path": path, "content": "b\n"}));
    vec![
        ("reading", None, turn().call("read_file", json!({"path": "a.txt"}))),
        ("web searches", None, turn().call("web_search", json!({"query": "x"}))),
        (EDITS, None, write("b.txt")),
        (COMMANDS, None, run("mkdir made")),
        (SERVERS, Some(COMMANDS), turn().call("process_start", server)),
        ("build files such as `Makefile`", Some(EDITS), write("Makefile")),
        (ORDERS, Some(EDITS), write("AGENTS.md")),
        (
            "file deletions in the workspace",
            Some(EDITS),
            turn().call("delete_path", json!({"path": "c.txt"})),
        ),
        (DANGEROUS, Some(COMMANDS), run("killall buddy-of-nobody")),
        (UNKEPT, Some(COMMANDS), run("git stash drop")),
        (PUSHES, Some(COMMANDS), run("git push")),
        ("files with secrets", None, turn().call("read_file", json!({"path": ".env"}))),
        (OUTSIDE, None, write(outside.to_str().unwrap())),
        (SCRATCH, Some(OUTSIDE), write(scratch.to_str().unwrap())),
        ("new hosts", None, turn().call("fetch_url", json!({"url": "https://nobody-named-this.invalid/"}))),
    ]
}

const EDITS: &str = "file edits in the workspace";
const SCRATCH: &str = "file edits in `/tmp`";
const COMMANDS: &str = "commands in the workspace";
const SERVERS: &str = "servers and other processes that are to run on";
const ORDERS: &str = "`AGENTS.md`, CI, hook and editor files";
const DANGEROUS: &str = "dangerous commands such as `pkill`";
const UNKEPT: &str = "deletions that undo cannot restore";
const PUSHES: &str = "pushes";
const OUTSIDE: &str = "changes outside the workspace";

/// A fact of the environment block of the first request.
fn fact(body: &Value, name: &str) -> String {
    let block = sent(body, "user").remove(0);
    let line = block.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")).map(str::to_owned));
    line.unwrap_or_else(|| panic!("{name}: {block}"))
}

fn is_denied(result: &Value) -> bool {
    matches!(result["error"]["code"].as_str(), Some("approval_needed" | "forbidden" | "denied"))
}

/// Whether the block says that calls of a class run at once. A class that belongs to another one is named only where it is
/// treated otherwise.
fn claims_to_run(approvals: &str, class: &str, general: Option<&str>) -> bool {
    let at_once = approvals.split("; ").next().unwrap();
    at_once.starts_with("every call") || {
        let class = if approvals.contains(class) { class } else { general.unwrap_or(class) };
        at_once.contains(class)
    }
}

async fn check(arguments: &[&str], approvals: &str, writable: Option<&str>) {
    let stage = Stage::apart(Vec::new()).await;
    let scratch = tempfile::tempdir_in("/tmp").unwrap();
    let calls = calls(&stage, scratch.path());
    let turns: Vec<Turn> = calls.iter().map(|(_, _, turn)| turn.clone()).chain([done()]).collect();
    let stage = Stage { server: buddy_testkit::model::ModelServer::start(turns).await, home: stage.home };
    std::fs::write(stage.home.work().join("a.txt"), "a\n").unwrap();
    std::fs::write(stage.home.work().join("c.txt"), "c\n").unwrap();
    std::fs::write(stage.home.work().join(".env"), "KEY=1\n").unwrap();
    // Nothing listens there: a search that runs fails.
    let search = "web.search_endpoint=\"http://127.0.0.1:9/\"";
    let mut all =
        vec!["exec", "-c", "agent.gates.finish=false", "-c", "agent.gates.stuck=false", "-c", search];
    all.extend(arguments);
    all.push("go");
    stage.usual(all).run().await;
    let (requests, results) = (stage.requests(), stage.results());
    let body = &requests[0].body;
    let told = fact(body, "approvals");
    assert_eq!(told, approvals, "{arguments:?}");
    let can_write = fact(body, "commands can write");
    assert!(writable.is_none_or(|writable| can_write == writable), "{arguments:?}: {can_write}");
    assert_eq!(results.len(), calls.len(), "{arguments:?}");
    for ((class, general, _), result) in calls.iter().zip(&results) {
        if result["result"]["id"].is_string() {
            let id = result["result"]["id"].as_str().unwrap();
            stage.buddy(["kill", id]).run().await.expect_code(0);
        }
        assert_eq!(
            !is_denied(result),
            claims_to_run(&told, class, *general),
            "{arguments:?}: {class}: {told}: {result:#}"
        );
    }
    let tools = body["tools"].as_array().unwrap().iter();
    let names: Vec<&str> = tools.filter_map(|tool| tool["function"]["name"].as_str()).collect();
    assert_eq!(names.contains(&"process_start"), !is_denied(&results[4]), "{arguments:?}: {names:?}");
    let runs = can_write.starts_with("nothing");
    assert_eq!(runs, is_denied(&results[3]), "{arguments:?}: {can_write}");
    assert!(!body.to_string().contains("denied at once"), "the block says what is denied");
}

const SECRETS: &str = "files with secrets, changes outside the workspace and new hosts";
const HELD: &str = "reading, web searches, file edits in the workspace, file edits in `/tmp` and commands in the workspace run at once";

#[tokio::test]
async fn in_the_usual_run_what_the_jail_holds_runs_and_the_rest_is_denied() {
    let text = format!(
        "{HELD}; nobody can be asked, so these are denied: \
         {ORDERS}, {SERVERS}, {DANGEROUS}, {UNKEPT}, {PUSHES}, {SECRETS}"
    );
    check(&["--trust"], &text, None).await;
}

#[tokio::test]
async fn with_all_approved_secrets_the_outside_and_new_hosts_are_denied() {
    let text = format!("{HELD}; nobody can be asked, so these are denied: {SECRETS}");
    check(&["--trust", "--approve", "all"], &text, None).await;
}

#[tokio::test]
async fn in_a_window_dangerous_commands_are_denied_too() {
    let text = format!(
        "{HELD}; nobody can be asked, so these are denied: \
         {DANGEROUS}, {UNKEPT}, {SECRETS}"
    );
    check(&["--trust", "--approve", "10m"], &text, None).await;
}

#[tokio::test]
async fn where_nothing_is_approved_only_reading_runs() {
    for approve in ["none", "ask"] {
        let text = "reading and web searches run at once; everything else is denied";
        let writable = "nothing, since commands that change something are denied";
        check(&["--trust", "--approve", approve], text, Some(writable)).await;
    }
}

#[tokio::test]
async fn with_edits_approved_commands_are_denied() {
    let text = format!(
        "reading, web searches and file edits in the workspace run at once; nobody can be asked, so these are denied: commands in the workspace, \
         build files such as `Makefile`, {ORDERS}, file deletions in the workspace, {SECRETS}"
    );
    check(&["--trust", "--approve", "edits"], &text, None).await;
}

#[tokio::test]
async fn in_an_untrusted_folder_nothing_is_written() {
    let text = "reading and web searches run at once; everything else is denied";
    check(&[], text, Some("nothing, since the user has not trusted this folder")).await;
}

#[tokio::test]
async fn production_denies_dangerous_calls_secrets_and_the_outside() {
    let text = format!(
        "{HELD}; nobody can be asked, so these are denied: \
         programs whose effects are unknown, {DANGEROUS}, {UNKEPT}, {PUSHES}, {SECRETS}"
    );
    let writable = "the workspace and `/tmp`; commands that name other places are denied (no sandbox)";
    check(&["--trust", "-c", "agent.environment=\"production\""], &text, Some(writable)).await;
}

#[tokio::test]
async fn in_a_throwaway_place_every_call_runs_and_left_processes_stay() {
    let writable = "everything that the account can write (no sandbox)";
    check(&["--throwaway"], "every call runs at once, unless a rule denies it", Some(writable)).await;
}

#[tokio::test]
async fn without_a_network_no_web_tool_is_offered_and_none_is_told_of() {
    let stage = Stage::new([done()]).await;
    stage.usual(["exec", "--trust", "-c", "tools.network=false", "go"]).run().await.expect_code(0);
    let body = &stage.requests()[0].body;
    assert_eq!(fact(body, "network"), "off");
    for absent in ["fetch_url", "web_search", "search_youtube", "proxy"] {
        assert!(!body["tools"].to_string().contains(absent), "{absent}");
    }
}

#[tokio::test]
async fn a_run_that_keeps_no_processes_says_so_for_a_command_that_should_outlive_its_call() {
    let mut call = shell("exec sleep 600");
    call["wait"] = json!(false);
    let unknown = turn().call("process_begin", json!({}));
    let wrong = turn().call("run_shell", json!({"command": "true", "paths": "x"}));
    let stage = Stage::new([turn().call("run_shell", call), unknown, wrong, done()]).await;
    stage.usual(["exec", "--trust", "--ephemeral", "go"]).run().await.expect_code(0);
    let requests = stage.requests();
    let told = sent(&requests[3].body, "tool");
    assert!(told[0].starts_with("error unsupported: "), "{}", told[0]);
    assert!(
        told[1].contains("hint: the tools are run_shell, ") && !told[1].contains("process_start"),
        "{}",
        told[1]
    );
    assert!(told[2].contains("unknown field `paths`"), "{}", told[2]);
    for field in ["timeout", "session", "pane"] {
        assert!(!told[2].contains(field), "{}", told[2]);
    }
}

#[tokio::test]
async fn the_time_limit_is_told_with_the_other_limits() {
    let stage = Stage::new([done()]).await;
    stage.usual(["exec", "--trust", "--timeout", "61s", "go"]).run().await.expect_code(0);
    assert_eq!(fact(&stage.requests()[0].body, "limits"), "61 s for this run, from its start");
}

#[tokio::test]
async fn a_long_line_can_be_read_on() {
    let read = turn().call("read_file", json!({"path": "long.txt"}));
    let stage = Stage::new([read, run("sed -n 1p long.txt | cut -b50001- | wc -c"), done()]).await;
    std::fs::write(stage.home.work().join("long.txt"), format!("{}\n", "x".repeat(80_000))).unwrap();
    stage.usual(["exec", "--trust", "go"]).run().await.expect_code(0);
    let results = stage.results();
    let found = &results[0]["result"];
    assert_eq!(found["content"].as_str().unwrap().len(), 50_000);
    assert_eq!(
        found["note"],
        "line 1 is cut after 50000 of 80000 characters; read the rest with `sed -n 1p 'long.txt' | cut -b50001-`"
    );
    assert_eq!(results[1]["result"]["stdout"].as_str().unwrap().trim(), "30001");
}

#[tokio::test]
async fn refusals_name_the_user_and_do_not_speak_to_the_model_as_one() {
    let turns = [
        run("sudo true"),
        run("touch /etc/x"),
        turn().call("fetch_url", json!({"url": "https://new.invalid/"})),
    ];
    let stage = Stage::apart(turns.into_iter().chain([done()]).collect::<Vec<_>>()).await;
    stage.usual(["exec", "--trust", "go"]).run().await;
    for told in sent(&stage.requests()[3].body, "tool") {
        let refusal = told.split("\nhint: ").next().unwrap();
        for word in refusal.split(|letter: char| !letter.is_alphanumeric()) {
            assert!(!matches!(word, "you" | "yourself"), "{told}");
        }
        assert!(!refusal.contains("your own") && !refusal.contains("your buddy"), "{told}");
        assert!(
            told.ends_with(
                "hint: do what the message suggests, or go on without it and say so in your answer; do not get the same effect another way"
            ) || told.ends_with(
                "hint: go on without it, and name that option in your answer; do not get the same effect another way"
            ),
            "{told}"
        );
    }
}
