//! `--ephemeral`: nothing of the session stays.

use std::path::Path;

use buddy_testkit::model::turn;
use buddy_testkit::processes;
use rustix::process::Signal;
use serde_json::json;

use crate::stage::{Stage, run, said};

/// Everything below a directory that holds a text.
fn holding(directory: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(holding(&path, text));
        } else if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

fn places(stage: &Stage) -> usize {
    let places = std::fs::read_dir(stage.home.data().join("run/ephemeral"));
    places.map_or(0, |places| places.filter(|place| place.as_ref().unwrap().path().is_dir()).count())
}

#[tokio::test]
async fn nothing_of_the_session_stays() {
    let write = turn().call("write_file", json!({"path": "made.txt", "content": "kept"}));
    let stage =
        Stage::new([run("echo harbour-master"), write, turn().text("Done at the harbour-master's.")]).await;
    let finished =
        stage.exec(["--trust", "--ephemeral", "ask the harbour-master", "--json"]).run().await.expect_code(0);
    assert!(finished.text().contains("session.started"), "{finished}");
    assert_eq!(
        std::fs::read_to_string(stage.home.work().join("made.txt")).unwrap(),
        "kept",
        "the work stays"
    );
    assert_eq!(holding(&stage.home.data(), "harbour-master"), [""; 0]);
    assert_eq!(places(&stage), 0);
    assert!(stage.log().await.is_empty());
    let undo = stage.buddy(["undo", "--list", "--json"]).run().await.expect_code(0);
    assert_eq!(undo.text().trim(), "[]");
}

#[tokio::test]
async fn it_knows_what_the_person_trusts_and_remembers_no_other_session() {
    let stage = Stage::apart([turn().text("One."), run("echo two > two.txt"), turn().text("Two.")]).await;
    stage.exec(["--trust", "first"]).run().await.expect_code(0);
    stage.exec(["--ephemeral", "second"]).run().await.expect_code(0);
    assert_eq!(stage.home.text("two.txt"), "two\n", "the directory is trusted");
    assert_eq!(stage.only_log().await.transcript.turns(), 1);
}

#[tokio::test]
async fn a_command_sees_neither_the_log_of_the_session_nor_those_of_commands() {
    // A place that policy can read is denied before the jail is asked.
    let look =
        "grep -hx 54321 ../data/logs/ephemeral-*/*.log; place=run; find ../data/$place -name 'buddy.db*'";
    let stage = Stage::apart([run("seq 1 60000"), run(look), turn().text("Seen.")]).await;
    stage.exec(["--trust", "--ephemeral", "go"]).run().await.expect_code(0);
    // No log has the results, so this is the text that the model got.
    let results = said(&stage.requests()[2].body, "tool");
    assert!(results[0].contains("whole output: `read_file` ") && results[0].contains("/logs/ephemeral-"));
    assert!(!results[1].contains("stdout") && !results[1].contains("54321"), "{}", results[1]);
    let logs = std::fs::read_dir(stage.home.data().join("logs")).unwrap();
    assert_eq!(logs.count(), 0);
}

#[tokio::test]
async fn no_process_runs_on() {
    let stage = Stage::new([turn().text("None.")]).await;
    stage.exec(["--ephemeral", "which tools?"]).run().await.expect_code(0);
    let body = &stage.requests()[0].body;
    let tools = body["tools"].as_array().unwrap().iter();
    let names: Vec<&str> = tools.filter_map(|tool| tool["function"]["name"].as_str()).collect();
    assert!(names.contains(&"run_shell"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("process_")), "{names:?}");
}

#[tokio::test]
async fn a_signal_leaves_nothing_either() {
    for (signals, code) in [(1, 130), (2, 130)] {
        let stage = Stage::new([turn().text("Wait").gate("held").text("ing.")]).await;
        let started = stage.exec(["--ephemeral", "harbour-master"]).start();
        stage.server.gate("held").reached().await;
        assert_eq!(places(&stage), 1);
        for _ in 0..signals {
            started.signal(Signal::TERM);
        }
        started.finish().await.expect_code(code);
        assert_eq!(places(&stage), 0);
        assert_eq!(holding(&stage.home.data(), "harbour-master"), [""; 0]);
        assert_eq!(processes::of(stage.home.path()), []);
    }
}

#[tokio::test]
async fn what_a_killed_run_left_goes_with_the_next_one() {
    let stage = Stage::new([turn().text("Wait").gate("held").text("ing."), turn().text("Yes.")]).await;
    let started = stage.exec(["--ephemeral", "harbour-master"]).start();
    stage.server.gate("held").reached().await;
    started.signal(Signal::KILL);
    started.finish().await;
    assert_eq!(places(&stage), 1);
    stage.buddy(["sessions"]).run().await.expect_code(0);
    assert_eq!(places(&stage), 0);
    assert_eq!(holding(&stage.home.data(), "harbour-master"), [""; 0]);
}

#[tokio::test]
async fn it_goes_on_with_nothing() {
    let stage = Stage::new([]).await;
    for more in [&["--last"][..], &["--resume", "x"], &["--fork"]] {
        stage
            .exec(["hi", "--ephemeral"])
            .args(more)
            .run()
            .await
            .expect_code(2)
            .expect_stderr("cannot be used with");
    }
    assert!(!stage.home.data().exists());
}
