//! The view of a shared pane for the model: plain texts, ids that the next tool takes, and nothing of other people's sessions.

use std::time::Duration;

use buddy_testkit::model::{ModelServer, Turn, turn};
use serde_json::{Value, json};

use crate::panes::PaneStage;
use crate::stage::{self, Stage, done, run, shell};

/// A command that is waited for so many seconds.
fn waited(command: &str, wait: &Value) -> Turn {
    let mut call = shell(command);
    call["wait"] = wait.clone();
    turn().call("run_shell", call)
}

/// Fails when a text for the model has a control character or a mark of the pane in it.
#[track_caller]
fn check_plain(value: &Value) {
    match value {
        Value::String(text) => {
            let is_steering = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
            assert!(!text.contains(is_steering) && !text.contains("133;"), "{text:?}");
        }
        Value::Array(values) => values.iter().for_each(check_plain),
        Value::Object(fields) => fields.values().for_each(check_plain),
        _ => {}
    }
}

#[tokio::test]
async fn no_control_sequence_reaches_the_model() {
    let screen = "printf '\\033[?1049h\\033[2Jpainted\\033[5;5Hmore'";
    let commands = [
        (
            "printf '\\033]0;a title\\007\\033[1;31mred\\033[0m\\033]8;;http://x\\033\\\\link\\033]8;;\\033\\\\\\n'",
            "redlink",
        ),
        ("for i in 1 50 100; do printf '%s%%\\r' $i; done; printf '\\033[2K\\033[1Gwhole\\n'", "whole"),
        ("printf 'half\\rwhole\\n'; printf 'errors\\033[31m\\n' >&2", "whole"),
        ("printf before; printf '\\033[?1049hpainted\\033[?1049l'; printf after", "after"),
    ];
    let mut turns: Vec<Turn> = commands.iter().map(|(command, _)| run(command)).collect();
    // One that is ended by its limit on a screen of its own, as there is no room to leave it, and what came before it.
    turns.push(waited(&format!("echo first; {screen}; sleep 600"), &json!(0.5)));
    turns.push(turn().call("process_stop", json!({"id": "pane-1", "why": "the test"})));
    turns.push(turn().call("process_logs", json!({"id": "pane-1"})));
    turns.push(turn().call("tmux_capture_pane", json!({"include_escape_sequences": true})));
    turns.push(run("printf '\\033[32mgreen\\033[0m\\n'"));
    turns.push(done());
    let stage = PaneStage::new(turns).await;
    stage.buddy(&["exec", "--tmux", "go"]).run().await.expect_code(0);
    let results = stage.0.results();
    for (result, (command, words)) in results.iter().zip(&commands) {
        let stdout = result["result"]["stdout"].as_str().unwrap();
        assert!(stdout.contains(words) && !stdout.contains("painted"), "{command}: {result:#}");
    }
    assert!(results[6]["result"]["output"].as_str().unwrap().starts_with("first\n"), "{:#}", results[6]);
    results.iter().for_each(check_plain);
    assert_eq!(results[8]["result"]["stdout"], "green\n", "the pane works on");
}

#[tokio::test]
async fn an_interrupt_in_a_pane_leaves_no_control_sequence() {
    let command = "printf 'begun \\033[?1049hpainted'; touch begun; exec sleep 600";
    let stage = PaneStage::new([run(command), done()]).await;
    let started = stage.buddy(&["exec", "--tmux", "go", "--output-format", "stream-json"]).start();
    while !stage.0.home.work().join("begun").exists() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // buddy reads the stream of the pane a moment after the terminal.
    while !stage.tmux(&["capture-pane", "-p"]).contains("painted") {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    started.signal(rustix::process::Signal::INT);
    started.finish().await.expect_code(130);
    let log = stage.0.only_log().await;
    let (_, call) = log.calls()[0];
    let output = serde_json::to_value(call.output.as_ref().unwrap()).unwrap();
    let shown = output["result"]["stdout"].as_str();
    assert!(shown.is_some_and(|shown| shown.starts_with("begun ")), "{output:#}");
    check_plain(&output);
}

#[tokio::test]
async fn a_person_reads_the_command_and_not_how_it_is_typed() {
    let stage = PaneStage::new([run("echo one; touch x"), run("echo two; touch y"), done()]).await;
    let mut started = stage.buddy(&["--tmux"]).converse();
    started.write(b"go\n").await;
    started.stdout.wait_for("So be it.", 1).await;
    let shown = stage.tmux(&["capture-pane", "-p"]);
    assert!(!shown.contains("__buddy") && !shown.contains("eval") && !shown.contains("setup"), "{shown}");
    let work = stage.0.home.work();
    let name = work.file_name().unwrap().to_string_lossy();
    for words in ["echo one; touch x", "echo two; touch y"] {
        let line = format!("{name} $ {words}");
        assert_eq!(shown.lines().filter(|shown| shown.ends_with(&line)).count(), 1, "{shown}");
    }
    started.finish().await.expect_code(0);
}

#[tokio::test]
async fn ids_of_panes_are_taken_by_every_tool_for_panes() {
    let keys = |pane: &str| {
        let mut call = json!({"keys": ["C-c"], "pane": pane});
        for (name, value) in [("why", json!("w")), ("risk", json!("low")), ("mutation", json!(false))] {
            call[name] = value;
        }
        call["privesc"] = json!(false);
        turn().call("tmux_send_keys", call)
    };
    let mut in_pane = shell("touch again");
    in_pane["pane"] = json!("%0");
    let pane = json!({"pane": "build", "why": "w", "risk": "low", "mutation": false, "privesc": false});
    let turns = [
        waited("touch begun; sleep 600", &json!(false)),
        turn().call("tmux_capture_pane", json!({"pane": "%0"})),
        turn().call("tmux_capture_pane", json!({"target": "%0"})),
        keys("%0"),
        turn().call("tmux_capture_pane", json!({"pane": "%0", "delay": "1s"})),
        turn().call("run_shell", in_pane),
        turn().call("tmux_create_pane", pane.clone()),
        turn().call("tmux_capture_pane", json!({"pane": "buddy-buddy:build"})),
        turn().call("tmux_kill_pane", pane),
        turn().call("tmux_capture_pane", json!({"pane": "%99"})),
        done(),
    ];
    let stage = PaneStage::new(turns).await;
    stage.buddy(&["exec", "--tmux", "--", "go"]).run().await.expect_code(0);
    let results = stage.0.results();
    assert_eq!(results[0]["result"]["pane"], "%0", "{:#}", results[0]);
    for (place, result) in results[..9].iter().enumerate() {
        assert_eq!(result["ok"], true, "call {place}: {result:#}");
    }
    assert!(stage.0.home.work().join("again").exists());
    assert_eq!(results[9]["ok"], false, "an id that buddy did not write down leads nowhere");
}

#[tokio::test]
async fn ids_of_commands_in_panes_are_taken_by_the_tools_for_processes() {
    let turns = [
        waited("echo printed; touch begun; sleep 600", &json!(0.5)),
        turn().call("process_status", json!({"id": "pane-1"})),
        turn().call("process_logs", json!({"id": "pane-1"})),
        turn().call("process_stop", json!({"id": "pane-1", "why": "the test"})),
        turn().call("process_status", json!({"id": "pane-1"})),
        turn().call("process_logs", json!({"id": "pane-1", "lines": 5})),
        done(),
    ];
    let stage = PaneStage::new(turns).await;
    stage.buddy(&["exec", "--tmux", "go"]).run().await.expect_code(0);
    let results = stage.0.results();
    assert_eq!(results[0]["result"]["id"], "pane-1", "{:#}", results[0]);
    assert_eq!(results[1]["result"]["condition"], "running", "{:#}", results[1]);
    assert_eq!(results[2]["result"]["output"], "printed\n", "{:#}", results[2]);
    for result in &results[3..5] {
        assert_eq!(result["result"]["condition"], "ended", "{result:#}");
    }
    assert!(results[5]["result"]["output"].as_str().unwrap().starts_with("printed\n"), "{:#}", results[5]);
}

#[tokio::test]
async fn ids_of_processes_are_taken_by_the_tools_for_processes() {
    let mut call = shell("echo printed; exec sleep 600");
    call["name"] = json!("server");
    let stage = Stage::new([turn().call("process_start", call), done()]).await;
    stage.exec(["go"]).run().await.expect_code(0);
    let started = stage.results().remove(0)["result"].clone();
    let number = started["pid"].to_string();
    let names = [started["id"].as_str().unwrap(), "server", &number];
    let looks = names.map(|id| turn().call("process_status", json!({"id": id})));
    let logs = names.map(|id| turn().call("process_logs", json!({"id": id})));
    let stop = turn().call("process_stop", json!({"id": number, "why": "the test", "force": true}));
    let turns: Vec<Turn> = looks.into_iter().chain(logs).chain([stop, done()]).collect();
    // The ids are known now, so another model can name them.
    let server = ModelServer::start(turns).await;
    stage::buddy(&stage.home, &server.url())
        .args(["exec", "--approve", "all", "go"])
        .run()
        .await
        .expect_code(0);
    let requests = server.requests();
    let results = stage::said(&requests.last().unwrap().body, "tool");
    assert_eq!(results.len(), 7);
    for result in &results {
        assert!(result.contains(&format!("id: {}", started["id"].as_str().unwrap())), "{result}");
    }
    assert!(results[6].contains("condition: ended"), "{}", results[6]);
}

#[tokio::test]
async fn sessions_of_other_people_are_never_split_or_typed_into() {
    let stage = PaneStage::new(vec![run("touch made"), done(), run("touch made"), done()]).await;
    let directory = stage.0.home.data().join("run/tmux");
    std::fs::create_dir_all(&directory).unwrap();
    for path in [directory.as_path(), directory.parent().unwrap()] {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    }
    for name in ["mine", "with space", "forged"] {
        stage.tmux(&["-f", "/dev/null", "new-session", "-d", "-s", name, "cat"]);
    }
    for (option, value) in [("@buddy_managed", "1"), ("@buddy_owner", "forged"), ("@buddy_pane", "shared")] {
        stage.tmux(&["set-option", "-t", "forged:", option, value]);
        stage.tmux(&["set-option", "-p", "-t", "forged:", option, value]);
    }
    let panes = || stage.tmux(&["list-panes", "-a", "-F", "#{session_name} #{pane_id}"]);
    let before = panes();
    for name in ["mine", "forged"] {
        for words in [&["exec", "--tmux", name, "go"][..], &["exec", &format!("--tmux={name}"), "go"]] {
            let finished = stage.buddy(words).run().await;
            assert_ne!(finished.code, Some(0), "{finished}");
            finished.expect_stderr("no record of making");
        }
    }
    for words in [&["exec", "--tmux", "with space", "go"][..], &["exec", "--tmux=with space", "go"]] {
        stage.buddy(words).run().await.expect_code(2).expect_stderr("letters, digits");
    }
    assert_eq!(panes(), before);
    for name in ["mine", "with space", "forged"] {
        assert_eq!(stage.tmux(&["capture-pane", "-p", "-t", &format!("{name}:")]), "", "{name}");
    }
    assert!(stage.0.requests().is_empty() && !stage.0.home.work().join("made").exists());
}
