//! `--input-format stream-json`: calls of tools that a client makes go the way of the model's calls.

use buddy_protocol::{Content, Event, Fact, Item, ItemStatus};
use buddy_testkit::model::{Script, Turn, turn};
use buddy_testkit::program::{Finished, Started};
use serde_json::{Value, json};

use crate::stage::{Stage, done};

const FLAGS: [&str; 5] = ["exec", "--trust", "--input-format", "stream-json", "--json"];

async fn started(flags: &[&str], turns: impl IntoIterator<Item = Turn>) -> (Stage, Started) {
    let stage = Stage::new(Script::from(turns.into_iter().collect::<Vec<_>>())).await;
    let started = stage.buddy(FLAGS).args(flags).converse();
    (stage, started)
}

async fn say(started: &mut Started, command: &Value) {
    started.write(format!("{command}\n").as_bytes()).await;
}

fn shell(command: &str) -> Value {
    json!({"type": "call", "tool": "run_shell", "input": {"command": command, "why": "x"}})
}

fn write(path: &str) -> Value {
    json!({"type": "call", "tool": "write_file", "input": {"path": path, "content": "made\n"}})
}

/// The calls that ended, each with its events' author.
fn ended(events: &[Event]) -> Vec<(&Item, bool)> {
    let ended = events.iter().filter_map(|event| match &event.fact {
        Fact::ItemEnded(ended) => Some((&ended.item, event.by.is_some())),
        _ => None,
    });
    ended.filter(|(item, _)| matches!(item.content, Content::ToolCall(_))).collect()
}

fn output(item: &Item) -> String {
    let Content::ToolCall(call) = &item.content else { panic!("{item:?}") };
    serde_json::to_string(&call.output).unwrap()
}

fn refusals(finished: &Finished) -> Vec<String> {
    let text = finished.text();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    lines
        .filter(|line| line["type"] == "error")
        .map(|line| line["message"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Answers the newest ask.
async fn answer(started: &mut Started, count: usize, answer: Value) {
    started.stdout.wait_for("\"type\":\"asked\"", count).await;
    let text = started.stdout.text();
    let mut asks =
        text.lines().filter_map(|line| Event::from_json(line).ok()).filter_map(|event| match event.fact {
            Fact::Asked(asked) => Some(asked.ask.id.to_string()),
            _ => None,
        });
    let ask = asks.next_back().expect("an ask");
    say(started, &json!({"type": "answer", "ask": ask, "answer": answer})).await;
}

#[tokio::test]
async fn a_call_is_asked_about_run_and_logged_with_its_author() {
    let (stage, mut started) = started(&["--approve", "ask"], []).await;
    say(&mut started, &shell("touch yes")).await;
    answer(&mut started, 1, json!({"type": "allow"})).await;
    started.stdout.wait_for("\"exit_code\":0", 1).await;
    say(&mut started, &shell("touch no")).await;
    answer(&mut started, 2, json!({"type": "deny", "reason": "not that"})).await;
    started.stdout.wait_for("not that", 1).await;
    started.finish().await;
    assert!(stage.home.work().join("yes").exists() && !stage.home.work().join("no").exists());
    let log = stage.only_log().await;
    let calls = ended(&log.events);
    assert_eq!(calls.len(), 2, "{calls:#?}");
    for (item, has_author) in &calls {
        let Content::ToolCall(call) = &item.content else { panic!() };
        assert!(*has_author && call.caller.is_some(), "{item:#?}");
    }
    assert!(output(calls[1].0).contains("not that"), "{calls:#?}");
    assert_eq!(stage.requests().len(), 0, "no model is asked");
    // It is undone like a call of the model.
    stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert!(!stage.home.work().join("yes").exists());
}

#[tokio::test]
async fn a_call_is_seen_through_when_the_input_ends_and_its_question_is_denied() {
    let stage = Stage::new(Script::from(vec![])).await;
    let input = format!("{}\n{}\n", write("made.txt"), shell("touch no"));
    let flags = [&FLAGS[..], &["--approve", "edits"]].concat();
    let finished = stage.buddy(flags).input(input).run().await;
    let log = stage.only_log().await;
    assert_eq!(ended(&log.events).len(), 2, "{finished}");
    assert_eq!(stage.home.text("made.txt"), "made\n", "{finished}");
    assert!(!stage.home.work().join("no").exists());
}

#[tokio::test]
async fn tools_that_are_off_absent_or_change_things_in_plan_mode_are_refused() {
    let absent = json!({"type": "call", "tool": "no_such_tool", "input": {}});
    let (failed, denied) = (ItemStatus::Failed, ItemStatus::Denied);
    for (flags, command, status, code) in [
        (&["--approve", "all"][..], absent, failed, "unknown_tool"),
        (&["--approve", "all", "-c", "tools.write_file=false"], write("made.txt"), failed, "tool_off"),
        (&["--approve", "all", "--plan"], write("made.txt"), denied, "forbidden"),
        (&["--approve", "all", "--plan"], shell("touch made.txt"), denied, "forbidden"),
        (&["--approve", "none"], shell("touch made.txt"), denied, "approval_needed"),
    ] {
        let stage = Stage::new(Script::from(vec![])).await;
        let flags = [&FLAGS[..], flags].concat();
        let finished = stage.buddy(flags).input(format!("{command}\n")).run().await;
        let log = stage.only_log().await;
        let calls = ended(&log.events);
        let [(item, _)] = &calls[..] else { panic!("{command}: {finished}") };
        assert_eq!(item.status, status, "{command}: {}", output(item));
        assert!(output(item).contains(code), "{command}: {}", output(item));
        assert!(!stage.home.work().join("made.txt").exists(), "{command}");
    }
}

#[tokio::test]
async fn broken_calls_are_refused_and_the_next_one_runs() {
    let (stage, mut started) = started(&["--approve", "edits"], []).await;
    let lines = [
        r#"{"type":"call","tool":"write_file","input":{"path":"a","content":"x"},"input":{"path":"b","content":"x"}}"#,
        r#"{"type":"call","tool":"write_file","input":["a"]}"#,
        r#"{"type":"call","tool":"","input":{}}"#,
        r#"{"type":"call","tool":"write_file"}"#,
        r#"{"type":"call","type":"end","tool":"write_file","input":{}}"#,
    ];
    for line in lines {
        started.write(format!("{line}\n").as_bytes()).await;
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    started
        .write(
            format!("{{\"type\":\"call\",\"tool\":\"write_file\",\"input\":{{\"path\":{deep}}}}}\n")
                .as_bytes(),
        )
        .await;
    say(&mut started, &write("made.txt")).await;
    started.stdout.wait_for("\"status\":\"completed\"", 1).await;
    let finished = started.finish().await;
    assert_eq!(refusals(&finished).len(), lines.len() + 1, "{finished}");
    assert_eq!(stage.home.text("made.txt"), "made\n");
    assert!(!stage.home.work().join("a").exists() && !stage.home.work().join("b").exists());
}

#[tokio::test]
async fn a_call_runs_beside_a_turn_and_none_after_the_end() {
    let (stage, mut started) = started(&["--approve", "edits"], [turn().text("One."), done()]).await;
    say(&mut started, &json!({"type": "prompt", "text": "go"})).await;
    say(&mut started, &write("made.txt")).await;
    started.stdout.wait_for("\"type\":\"result\"", 1).await;
    started.stdout.wait_for("\"name\":\"write_file\"", 2).await;
    say(&mut started, &json!({"type": "end"})).await;
    say(&mut started, &write("late.txt")).await;
    started.finish().await;
    assert_eq!(stage.home.text("made.txt"), "made\n");
    assert!(!stage.home.work().join("late.txt").exists());
}

#[tokio::test]
async fn a_push_by_a_client_is_asked_about() {
    let stage = Stage::new(Script::from(vec![])).await;
    let call = json!({"type": "call", "tool": "git_push", "input": {"remote": "origin", "branch": "main", "why": "x"}});
    let flags = [&FLAGS[..], &["--approve", "auto"]].concat();
    let finished = stage.buddy(flags).input(format!("{call}\n")).run().await;
    let log = stage.only_log().await;
    let calls = ended(&log.events);
    assert_eq!(calls.len(), 1, "{finished}");
    assert_eq!(calls[0].0.status, ItemStatus::Failed, "{}", output(calls[0].0));
}
