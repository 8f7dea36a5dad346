//! Managed processes of the real program: they outlive it, and it finds, shows and ends them.

use std::time::{Duration, Instant};

use buddy_testkit::model::{Turn, turn};
use buddy_testkit::processes;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::stage::{Stage, shell};

fn start(command: &str, more: &Value) -> Turn {
    let mut call = shell(command);
    for (name, value) in more.as_object().unwrap() {
        call[name] = value.clone();
    }
    turn().call("process_start", call)
}

async fn listed(stage: &Stage) -> Vec<Value> {
    let finished = stage.buddy(["ps", "--json"]).run().await.expect_code(0);
    serde_json::from_str::<Vec<Value>>(&finished.text()).unwrap()
}

#[tokio::test]
async fn a_process_outlives_the_run_that_started_it() {
    let script = [
        start("echo hello; exec sleep 600", &json!({"name": "sleeper", "ready_line": "hello"})),
        turn().text("It runs."),
    ];
    let stage = Stage::new(script).await;
    stage.exec(["go"]).run().await.expect_code(0);
    let result = stage.results().remove(0);
    assert_eq!(
        (&result["result"]["condition"], &result["result"]["healthy"]),
        (&json!("running"), &json!(true))
    );
    let id = result["result"]["id"].as_str().unwrap().to_owned();

    let all = listed(&stage).await;
    assert_eq!(
        (all.len(), &all[0]["record"]["name"], &all[0]["condition"]),
        (1, &json!("sleeper"), &json!("running"))
    );
    let pid = all[0]["record"]["process"]["pid"].as_i64().unwrap();
    assert!(std::path::Path::new(&format!("/proc/{pid}")).exists());
    let shown = stage.buddy(["ps"]).run().await.expect_code(0).text();
    assert!(shown.contains(&id) && shown.contains("sleeper: echo hello"), "{shown}");
    assert_eq!(stage.buddy(["logs", &id]).run().await.expect_code(0).text(), "hello\n");

    assert_eq!(stage.buddy(["logs", "sleeper"]).run().await.expect_code(0).text(), "hello\n");
    stage.buddy(["kill", "sleeper"]).run().await.expect_code(0);
    assert_eq!(processes::of(stage.home.path()), []);
    stage.buddy(["kill", id.strip_prefix("proc-").unwrap()]).run().await.expect_code(0);
    stage.buddy(["kill", "sleeper"]).run().await.expect_code(1);
    assert_eq!(listed(&stage).await[0]["condition"], "ended");
    stage.buddy(["kill", "proc-00"]).run().await.expect_code(1);
    stage.buddy(["logs", "proc-00"]).run().await.expect_code(1);
}

#[tokio::test]
async fn a_killed_buddy_leaves_it_running_and_a_later_session_ends_it() {
    let script =
        [start("while :; do echo tick; sleep 0.1; done", &json!({})), turn().text("never").hang_after(0)];
    let stage = Stage::new(script).await;
    let running = stage.exec(["go"]).start();
    stage.server.wait_for_requests(2).await;
    running.signal(Signal::KILL);
    running.finish().await;
    let id = listed(&stage).await[0]["record"]["id"].as_str().unwrap().to_owned();
    let lines = |text: String| text.lines().count();
    let before = lines(stage.buddy(["logs", &id, "--tail", "1000"]).run().await.text());
    let until = Instant::now() + Duration::from_secs(20);
    while lines(stage.buddy(["logs", &id, "--tail", "1000"]).run().await.text()) < before + 3 {
        assert!(Instant::now() < until, "it prints no more");
    }
    let later = Stage {
        home: stage.home,
        server: buddy_testkit::model::ModelServer::start([
            turn().call("process_status", json!({})),
            turn().call("process_logs", json!({"id": id, "tail": 2})),
            turn().call("process_stop", json!({"id": id, "why": "the test"})),
            turn().text("Done."),
        ])
        .await,
    };
    later.exec(["go on"]).run().await.expect_code(0);
    let results = later.results();
    assert_eq!(results[0]["result"]["processes"][0]["id"], json!(id));
    assert_eq!(results[1]["result"]["output"], "tick\ntick\n");
    assert_eq!(results[2]["result"]["condition"], "ended", "{}", results[2]);
    assert_eq!(processes::of(later.home.path()), []);
}

#[tokio::test]
async fn a_command_that_is_not_waited_for_becomes_a_process() {
    let mut call = shell("echo begun; exec sleep 600");
    call["wait"] = json!(false);
    let stage = Stage::new([turn().call("run_shell", call), turn().text("It runs.")]).await;
    stage.exec(["go"]).run().await.expect_code(0);
    let result = stage.results().remove(0)["result"].clone();
    assert_eq!((&result["condition"], &result["output"]), (&json!("running"), &json!("begun\n")), "{result}");
    stage.buddy(["kill", result["id"].as_str().unwrap(), "--force"]).run().await.expect_code(0);
}

#[tokio::test]
async fn a_process_is_asked_for_like_a_command_and_confined_like_one() {
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let target = outside.path().join("escaped");
    // A path that can be read off the command would be refused before it runs.
    let command = format!("touch inside; touch \"$(printf %s {})\"; exec sleep 600", target.display());
    let stage = Stage::new([start(&command, &json!({})), turn().text("It runs.")]).await;
    stage.buddy(["exec", "go"]).run().await;
    assert_eq!(listed(&stage).await, [] as [Value; 0]);

    let stage = Stage::new([start(&command, &json!({})), turn().text("It runs.")]).await;
    stage.exec(["go"]).run().await.expect_code(0);
    let id = listed(&stage).await[0]["record"]["id"].as_str().unwrap().to_owned();
    assert!(stage.home.work().join("inside").exists() && !target.exists());
    stage.buddy(["kill", &id]).run().await.expect_code(0);
}

#[tokio::test]
async fn output_that_can_hold_secrets_is_for_the_session_that_started_the_process() {
    for (mode, is_open) in [("production", true), ("development", false)] {
        let logs = || turn().call("process_logs", json!({"id": "srv"}));
        let started = start("sh read.sh; exec sleep 600", &json!({"name": "srv"}));
        let stage = Stage::new([started, logs(), turn().text("One."), logs(), turn().text("Two.")]).await;
        std::fs::write(stage.home.work().join(".env"), "key = topsecret\n").unwrap();
        std::fs::write(stage.home.work().join("read.sh"), "cat .env\n").unwrap();
        stage.exec(["go"]).env("BUDDY_ENV", mode).run().await.expect_code(0);
        let own = stage.results().remove(1);
        assert_eq!(own.to_string().contains("topsecret"), is_open, "{mode}: {own}");
        stage.exec(["again"]).env("BUDDY_ENV", mode).run().await;
        let other = stage.results().remove(0);
        assert_eq!(other["error"]["code"] == "forbidden", is_open, "{mode}: {other}");
        assert!(!other.to_string().contains("topsecret"), "{mode}: {other}");
        let id = listed(&stage).await[0]["record"]["id"].as_str().unwrap().to_owned();
        stage.buddy(["kill", &id, "--force"]).run().await.expect_code(0);
    }
}

#[tokio::test]
async fn a_log_is_followed_until_the_end() {
    let stage = Stage::new([
        start("echo one; while [ ! -e go ]; do sleep 0.05; done; echo two", &json!({})),
        turn().text("It runs."),
    ])
    .await;
    stage.exec(["go"]).run().await.expect_code(0);
    let id = listed(&stage).await[0]["record"]["id"].as_str().unwrap().to_owned();
    let mut following = stage.buddy(["logs", &id, "--follow"]).start();
    following.stdout.wait_for("one", 1).await;
    std::fs::write(stage.home.work().join("go"), "").unwrap();
    let finished = following.finish().await.expect_code(0);
    assert_eq!(finished.text(), "one\ntwo\n");
}

#[tokio::test]
async fn a_switched_off_shell_starts_no_process() {
    let stage = Stage::new([start("touch started", &json!({})), turn().text("I give up.")]).await;
    stage.exec(["-c", "tools.run_shell=false", "go"]).run().await.expect_code(0);
    assert_eq!(stage.results()[0]["error"]["code"], "tool_off");
    assert!(!stage.home.work().join("started").exists());
}
