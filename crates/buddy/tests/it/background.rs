//! Commands that take longer than their wait run on in the background, with an id, a log and their changes kept for undo.

use buddy_testkit::model::{Turn, turn};
use buddy_testkit::processes;
use serde_json::{Value, json};

use crate::stage::{Stage, done, run, said, shell};

/// A command that is waited for so long.
fn waited(command: &str, wait: &Value) -> Turn {
    let mut call = shell(command);
    call["wait"] = wait.clone();
    turn().call("run_shell", call)
}

async fn listed(stage: &Stage) -> Vec<Value> {
    let finished = stage.buddy(["ps", "--json"]).run().await.expect_code(0);
    serde_json::from_str::<Vec<Value>>(&finished.text()).unwrap()
}

#[tokio::test]
async fn a_command_runs_on_when_its_wait_is_over_and_its_changes_can_be_undone() {
    let first = "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo x > made; rm go";
    let turns = [
        waited(first, &json!(0.3)),
        run("touch go; while [ -e go ]; do sleep 0.05; done"),
        turn().call("process_status", json!({})),
        done(),
    ];
    let stage = Stage::new(turns).await;
    stage.exec(["go"]).run().await.expect_code(0);
    let results = stage.results();
    let left = &results[0]["result"];
    assert_eq!((&left["condition"], &left["output"]), (&json!("running"), &json!("begun\n")), "{left:#}");
    let id = left["id"].as_str().unwrap();
    assert!(left["note"].as_str().unwrap().contains("process_logs"), "{left:#}");
    assert_eq!(results[2]["result"]["processes"][0]["id"], json!(id));
    let made = stage.home.work().join("made");
    assert!(made.exists());
    let all = listed(&stage).await;
    assert_eq!((all.len(), &all[0]["condition"]), (1, &json!("ended")), "{all:#?}");
    assert_eq!(stage.buddy(["logs", id]).run().await.expect_code(0).text(), "begun\n");

    let undo = stage.buddy(["undo", "--list", "--json"]).run().await.expect_code(0).text();
    let entries: Vec<Value> = serde_json::from_str(&undo).unwrap();
    let is_it = |entry: &&Value| entry.to_string().contains("echo begun");
    let entry = entries.iter().find(is_it).unwrap_or_else(|| panic!("{undo}"));
    stage
        .buddy(["undo", entry["header"]["id"].as_str().unwrap(), "--yes", "--force"])
        .run()
        .await
        .expect_code(0);
    assert!(!made.exists(), "what it changed after its wait is undone");
}

#[tokio::test]
async fn what_runs_in_the_background_ends_with_the_session() {
    let stage = Stage::new([waited("echo begun; sleep 600", &json!("200ms")), done()]).await;
    stage.exec(["go"]).run().await.expect_code(0);
    assert_eq!(processes::of(stage.home.path()), []);
    let all = listed(&stage).await;
    assert_eq!((all.len(), &all[0]["condition"]), (1, &json!("ended")), "{all:#?}");
}

#[tokio::test]
async fn the_run_and_the_next_one_say_what_ended_with_it() {
    let turns = [waited("echo begun; sleep 600", &json!("200ms")), done(), done()];
    let stage = Stage::new(turns).await;
    let finished = stage.exec(["go", "--output-format", "json"]).run().await.expect_code(0);
    let id = listed(&stage).await[0]["record"]["id"].as_str().unwrap().to_owned();
    let result: Value = serde_json::from_slice(&finished.stdout).unwrap();
    assert_eq!(result["ended_with_run"], json!([id]), "{result:#}");
    finished.expect_stderr(&format!("ended with this run: 1 command ({id})"));
    stage.exec(["--last", "and now?"]).run().await.expect_code(0);
    let told = said(&stage.requests().last().unwrap().body, "user");
    let end = told.iter().find(|text| text.contains(&id)).unwrap_or_else(|| panic!("{told:#?}"));
    assert!(end.contains("ended with the session") && end.contains("begun"), "{end}");
    assert_eq!(told.last().unwrap(), "and now?");
}

#[tokio::test]
async fn an_end_during_a_turn_is_told_with_the_next_step() {
    let first = "while [ ! -e go ]; do sleep 0.05; done; echo over";
    let until = "touch go; while pgrep -f 'until [g]one' >/dev/null; do sleep 0.05; done; sleep 1";
    let stage = Stage::new([waited(first, &json!(0.2)), run(until), run("true"), done()]).await;
    stage.exec(["go"]).run().await.expect_code(0);
    let requests = stage.requests();
    let told = said(&requests.last().unwrap().body, "user");
    assert!(told.iter().any(|text| text.contains("exit code 0") && text.contains("over")), "{told:#?}");
}

#[tokio::test]
async fn a_command_in_the_background_is_stopped_by_its_id() {
    // The model is told the id, so a second run of the same conversation names it.
    let stage = Stage::new([
        waited("trap 'echo bye; exit 7' TERM; while :; do sleep 0.05; done", &json!(0.2)),
        run("true"),
        done(),
    ])
    .await;
    let mut started = stage.buddy(["--trust", "--approve", "all"]).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let id = listed(&stage).await[0]["record"]["id"].as_str().unwrap().to_owned();
    assert_eq!(listed(&stage).await[0]["condition"], "running");
    stage.buddy(["kill", &id]).run().await.expect_code(0);
    assert_ne!(listed(&stage).await[0]["condition"], "running");
    started.finish().await.expect_code(0);
    assert_eq!(processes::of(stage.home.path()), []);
}

#[tokio::test]
async fn no_wait_starts_in_the_background_at_once() {
    for wait in [json!(0), json!("0s"), json!(false)] {
        let stage = Stage::new([waited("echo begun; exec sleep 600", &wait), done()]).await;
        stage.exec(["go"]).run().await.expect_code(0);
        let result = stage.results().remove(0)["result"].clone();
        assert_eq!(result["condition"], "running", "{wait}: {result:#}");
        stage.buddy(["kill", result["id"].as_str().unwrap(), "--force"]).run().await.expect_code(0);
    }
}

#[tokio::test]
async fn calls_in_the_form_of_other_agents_are_taken() {
    let call = json!({"command": "pwd; sleep 30 & echo left", "cwd": "sub", "timeout": 30});
    let stage = Stage::new([turn().call("shell_exec", call), done()]).await;
    std::fs::create_dir(stage.home.work().join("sub")).unwrap();
    stage.exec(["go"]).run().await.expect_code(0);
    let result = stage.results().remove(0)["result"].clone();
    assert!(result["stdout"].as_str().is_some_and(|text| text.contains("/sub\nleft")), "{result:#}");
    let note = result["note"].as_str().unwrap_or_default();
    assert!(note.contains("ended with it") && note.contains("process_start"), "{result:#}");
}
