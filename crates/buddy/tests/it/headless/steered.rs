//! `--input-format stream-json`: commands in, events out.

use buddy_protocol::{Content, Event, Fact, Item, TurnOutcome};
use buddy_testkit::model::{Script, Turn, turn};
use buddy_testkit::processes;
use buddy_testkit::program::{Finished, Started};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::exec_stops::begun;
use crate::stage::{Stage, done, prompt, run};

const FLAGS: [&str; 5] = ["exec", "--trust", "--input-format", "stream-json", "--json"];

async fn steered(turns: impl IntoIterator<Item = Turn>) -> (Stage, Started) {
    let stage = Stage::new(Script::from(turns.into_iter().collect::<Vec<_>>())).await;
    let started = stage.buddy(FLAGS).converse();
    (stage, started)
}

async fn say(started: &mut Started, command: Value) {
    started.write(format!("{command}\n").as_bytes()).await;
}

fn saying(text: &str) -> Value {
    json!({"type": "prompt", "text": text})
}

/// The lines that are no events: results and refusals.
fn told(finished: &Finished) -> Vec<Value> {
    let text = finished.text();
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON"));
    lines.filter(|line: &Value| matches!(line["type"].as_str(), Some("result" | "error"))).collect()
}

fn events(text: &str) -> Vec<Event> {
    text.lines().filter_map(|line| Event::from_json(line).ok()).collect()
}

/// The id of what waits for an answer.
async fn asked(started: &mut Started, count: usize) -> String {
    started.stdout.wait_for("\"type\":\"asked\"", count).await;
    let events = events(&started.stdout.text());
    let asks: Vec<_> = events
        .iter()
        .filter_map(
            |event| if let Fact::Asked(asked) = &event.fact { Some(asked.ask.id.to_string()) } else { None },
        )
        .collect();
    asks.last().expect("an ask").clone()
}

const RESULT: &str = "\"type\":\"result\"";

#[tokio::test]
async fn one_prompt_follows_another_and_each_has_its_result() {
    let (stage, mut started) = steered([turn().text("One."), turn().text("Two.")]).await;
    say(&mut started, saying("first")).await;
    started.stdout.wait_for(RESULT, 1).await;
    say(&mut started, saying("second")).await;
    started.stdout.wait_for(RESULT, 2).await;
    let finished = started.finish().await.expect_code(0);
    let texts: Vec<_> = told(&finished).iter().map(|result| result["text"].clone()).collect();
    assert_eq!(texts, ["One.", "Two."]);
    let log = stage.only_log().await;
    assert_eq!(events(&finished.text()), log.events, "every event is printed once");
    assert_eq!(log.transcript.turns(), 2);
}

#[tokio::test]
async fn an_input_that_has_ended_sees_its_turn_through() {
    let stage = Stage::new([turn().text("One.")]).await;
    let input = format!("{}\n", saying("first"));
    let finished = stage.buddy(FLAGS).input(input).run().await.expect_code(0);
    assert_eq!(told(&finished)[0]["text"], "One.");
    let nothing = stage.buddy(FLAGS).input("\n\n").run().await.expect_code(0);
    assert_eq!(told(&nothing), [] as [Value; 0]);
}

#[tokio::test]
async fn the_first_prompt_may_be_the_argument() {
    let stage = Stage::new([turn().text("One.")]).await;
    let finished = stage.buddy(FLAGS).args(["first", "-o", "last.txt"]).run().await.expect_code(0);
    assert_eq!(told(&finished)[0]["text"], "One.");
    assert_eq!(prompt(&stage.requests()[0].body), "first");
    assert_eq!(stage.home.text("last.txt"), "One.\n");
}

#[tokio::test]
async fn what_needs_an_approval_is_asked_for() {
    let (stage, mut started) = steered([run("touch yes"), run("touch no"), done()]).await;
    say(&mut started, saying("go")).await;
    let ask = asked(&mut started, 1).await;
    assert!(!stage.home.work().join("yes").exists());
    say(&mut started, json!({"type": "answer", "ask": ask, "answer": {"type": "allow"}})).await;
    let ask = asked(&mut started, 2).await;
    say(
        &mut started,
        json!({"type": "answer", "ask": ask, "answer": {"type": "deny", "reason": "not that"}}),
    )
    .await;
    started.stdout.wait_for(RESULT, 1).await;
    let finished = started.finish().await.expect_code(5);
    assert_eq!(told(&finished)[0]["status"], "approval_needed");
    assert!(stage.home.work().join("yes").exists() && !stage.home.work().join("no").exists());
    assert!(stage.results()[1].to_string().contains("not that"), "{:#?}", stage.results());
    // The log takes the program for no person who was there.
    let log = stage.only_log().await;
    let answers = log.events.iter().filter(|event| matches!(event.fact, Fact::Answered(_)));
    let names: Vec<&str> = answers.map(|event| event.by.as_ref().unwrap().name.as_str()).collect();
    assert!(names.len() == 2 && names.iter().all(|name| name.starts_with("a program of ")), "{names:?}");
    let shown = stage.buddy(["show", &log.session.to_string()]).run().await.expect_code(0).text();
    assert!(shown.contains("touch yes [allowed by a program of "), "{shown}");
    assert!(shown.contains("touch no [not allowed by a program of "), "{shown}");
}

#[tokio::test]
async fn a_question_of_the_agent_gets_its_reply() {
    let question =
        turn().call("ask_user", json!({"question": "Which harbour?", "options": ["north", "south"]}));
    let (stage, mut started) = steered([question, done()]).await;
    say(&mut started, saying("go")).await;
    let ask = asked(&mut started, 1).await;
    say(&mut started, json!({"type": "answer", "ask": ask, "answer": {"type": "reply", "text": "south"}}))
        .await;
    started.stdout.wait_for(RESULT, 1).await;
    started.finish().await.expect_code(0);
    assert!(stage.results()[0]["result"].to_string().contains("south"), "{:#?}", stage.results());
}

#[tokio::test]
async fn a_command_of_the_persons_own_is_seen_through() {
    let stage = Stage::new([]).await;
    let input = format!("{}\n", json!({"type": "run", "command": "echo mine > mine.txt"}));
    let finished = stage.buddy(FLAGS).input(input).run().await.expect_code(0);
    assert_eq!(told(&finished), [] as [Value; 0], "it is no turn");
    assert_eq!(stage.home.text("mine.txt"), "mine\n");
    assert_eq!(stage.only_log().await.transcript.open_items().count(), 0);
}

#[tokio::test]
async fn what_waits_when_the_input_ends_is_denied() {
    let (stage, mut started) = steered([run("touch no"), run("touch neither"), done()]).await;
    say(&mut started, saying("go")).await;
    asked(&mut started, 1).await;
    let finished = started.finish().await.expect_code(5);
    assert_eq!(told(&finished)[0]["text"], "So be it.");
    assert_eq!(stage.results().len(), 2);
    assert!(!stage.home.work().join("no").exists() && !stage.home.work().join("neither").exists());
}

#[tokio::test]
async fn a_turn_is_interrupted_and_the_next_one_goes_on() {
    let (stage, mut started) =
        steered([turn().text("Wait").gate("held").text("ing."), turn().text("Two.")]).await;
    say(&mut started, saying("first")).await;
    stage.server.gate("held").reached().await;
    say(&mut started, json!({"type": "interrupt"})).await;
    started.stdout.wait_for(RESULT, 1).await;
    say(&mut started, saying("second")).await;
    started.stdout.wait_for(RESULT, 2).await;
    let finished = started.finish().await.expect_code(0);
    let statuses: Vec<_> = told(&finished).iter().map(|result| result["status"].clone()).collect();
    assert_eq!(statuses, ["interrupted", "completed"]);
}

#[tokio::test]
async fn what_holds_in_the_session_is_changed() {
    let (stage, mut started) = steered([turn().text("One."), run("touch yes"), done()]).await;
    say(&mut started, saying("first")).await;
    started.stdout.wait_for(RESULT, 1).await;
    say(&mut started, json!({"type": "change", "approvals": {"type": "all"}, "model": "other"})).await;
    say(&mut started, saying("second")).await;
    started.stdout.wait_for(RESULT, 2).await;
    started.finish().await.expect_code(0);
    assert!(stage.home.work().join("yes").exists());
    assert_eq!(stage.requests().last().unwrap().body["model"], "other");
}

#[tokio::test]
async fn room_is_made_although_the_input_ends_at_once() {
    let (stage, mut started) = steered([turn().text("One."), turn().text("They greeted each other.")]).await;
    say(&mut started, saying("first")).await;
    started.stdout.wait_for(RESULT, 1).await;
    say(&mut started, json!({"type": "compact"})).await;
    let finished = started.finish().await.expect_code(0);
    assert_eq!(told(&finished).len(), 2, "it is a turn with a result");
    let log = stage.only_log().await;
    let is_summary = |item: &&Item| matches!(item.content, Content::Compaction { .. });
    assert_eq!(log.transcript.items().iter().filter(is_summary).count(), 1);
}

#[tokio::test]
async fn room_is_not_made_while_a_turn_runs_and_that_is_told() {
    let (stage, mut started) = steered([turn().text("Wait").gate("held").text("ing.")]).await;
    say(&mut started, saying("first")).await;
    stage.server.gate("held").reached().await;
    say(&mut started, json!({"type": "compact"})).await;
    started.stdout.wait_for("\"type\":\"error\"", 1).await;
    stage.server.gate("held").open();
    started.stdout.wait_for(RESULT, 1).await;
    let finished = started.finish().await.expect_code(0);
    let told = told(&finished);
    assert!(
        told[0]["line"] == 2 && told[0]["message"].as_str().unwrap().contains("a turn runs"),
        "{told:#?}"
    );
    assert_eq!(told[1]["text"], "Waiting.");
}

#[tokio::test]
async fn a_prompt_brings_images_that_are_larger_than_a_text_may_be() {
    let (stage, mut started) = steered([turn().text("Seen.")]).await;
    let refused = json!({"type": "prompt", "text": "x".repeat(4 * 1024 * 1024 + 1)});
    say(&mut started, refused).await;
    // A file that is no image, to be seen by its refusal: the line itself is taken.
    let data = "A".repeat(6 * 1024 * 1024);
    say(&mut started, json!({"type": "prompt", "text": "look", "images": [{"name": "a.png", "data": data}]}))
        .await;
    say(&mut started, saying("look")).await;
    started.stdout.wait_for(RESULT, 1).await;
    let finished = started.finish().await.expect_code(0);
    let told = told(&finished);
    assert!(told[0]["message"].as_str().unwrap().contains("the prompt has 4194305 bytes"), "{told:#?}");
    assert!(told[1]["line"] == 2 && told[1]["message"].as_str().unwrap().contains("a.png"), "{told:#?}");
    assert_eq!((told.len(), stage.requests().len()), (3, 1));
}

#[tokio::test]
async fn images_need_a_prompt_of_the_command_line() {
    let stage = Stage::new([]).await;
    for prompt in [&[][..], &["-"]] {
        let program = stage.buddy(FLAGS).args(["--image", "a.png"]).args(prompt);
        program.run().await.expect_code(2).expect_stderr("--image needs a prompt");
    }
    assert!(!stage.home.data().exists());
}

#[tokio::test]
async fn a_session_that_is_ended_takes_nothing_more() {
    let (stage, mut started) = steered([turn().text("One.")]).await;
    say(&mut started, saying("first")).await;
    started.stdout.wait_for(RESULT, 1).await;
    say(&mut started, json!({"type": "end"})).await;
    let finished = started.finish_with_open_input().await.expect_code(0);
    assert!(finished.text().contains("\"type\":\"session.ended\""), "{finished}");
    let session = stage.only_log().await.session;
    stage.exec(["more", "--resume", session.as_str()]).run().await.expect_code(1);
}

#[tokio::test]
async fn an_end_during_a_call_is_told_to_its_last_event() {
    let stage = Stage::new([run("touch began; sleep 60"), done()]).await;
    let mut started = stage.buddy(FLAGS).args(["--approve", "all", "go"]).converse();
    crate::exec_stops::begun(&stage).await;
    say(&mut started, json!({"type": "end"})).await;
    let finished = started.finish_with_open_input().await.expect_code(130);
    let results = told(&finished);
    assert_eq!((results.len(), &results[0]["status"]), (1, &json!("interrupted")), "{finished}");
    assert_eq!(events(&finished.text()), stage.only_log().await.events, "every event is printed once");
}

#[tokio::test]
async fn a_reader_that_leaves_stops_the_persons_own_command_too() {
    let stage = Stage::new([turn().text("One.")]).await;
    let mut started = stage.buddy(FLAGS).converse();
    say(&mut started, json!({"type": "run", "command": "touch began; sleep 60"})).await;
    crate::exec_stops::begun(&stage).await;
    started.leave_outputs().await;
    // A message finds no reader now.
    say(&mut started, saying("first")).await;
    let finished = started.finish_with_open_input().await.expect_code(141);
    assert!(finished.took < std::time::Duration::from_secs(20), "{finished}");
    assert_eq!(stage.only_log().await.transcript.open_items().count(), 0);
}

#[tokio::test]
async fn a_line_that_is_no_command_is_answered_and_nothing_is_lost() {
    let stage = Stage::new([turn().text("One.")]).await;
    let long = "x".repeat(88 * 1024 * 1024 + 1);
    let unknown =
        json!({"type": "answer", "ask": "ask_01jzzzzzzzzzzzzzzzzzzzzzzz", "answer": {"type": "allow"}});
    let input =
        format!("nonsense\n{{\"type\": \"paint\"}}\n{long}\n\n{unknown}\n{}\n{{\"type\":", saying("first"));
    let finished = stage.buddy(FLAGS).input(input).run().await.expect_code(0);
    let told = told(&finished);
    let errors: Vec<_> = told.iter().filter(|line| line["type"] == "error").collect();
    let lines: Vec<_> = errors.iter().map(|error| error["line"].clone()).collect();
    assert_eq!(lines, [1, 2, 3, 5, 7], "{told:#?}");
    for (error, part) in
        errors.iter().zip(["not a command", "paint", "bytes", "does not wait", "not a command"])
    {
        assert!(error["message"].as_str().unwrap().contains(part), "{error}");
    }
    assert_eq!(told.iter().find(|line| line["type"] == "result").unwrap()["text"], "One.");
}

#[tokio::test]
async fn a_signal_or_the_time_limit_ends_it_also_between_turns() {
    let (_stage, mut started) = steered([turn().text("One.")]).await;
    say(&mut started, saying("first")).await;
    started.stdout.wait_for(RESULT, 1).await;
    started.signal(Signal::INT);
    started.finish_with_open_input().await.expect_code(130);
    let stage = Stage::new([]).await;
    let started = stage.buddy(FLAGS).args(["--timeout", "300ms"]).converse();
    started.finish_with_open_input().await.expect_code(124);
}

#[tokio::test]
async fn it_needs_events_on_the_output() {
    let stage = Stage::new([]).await;
    for more in [&[][..], &["--output-format", "json"]] {
        let program = stage.buddy(["exec", "--input-format", "stream-json"]).args(more);
        program.run().await.expect_code(2).expect_stderr("--output-format stream-json");
    }
    let schema = ["--output-schema", "x"];
    stage.buddy(FLAGS).args(schema).run().await.expect_code(2).expect_stderr("cannot be used with");
    assert!(!stage.home.data().exists());
}

#[tokio::test]
async fn a_turn_that_is_wound_up_reports_without_tools() {
    let long = run("touch began; sleep 600");
    let stage = Stage::new([long, turn().text("It was asleep.")]).await;
    let mut started = stage.buddy(FLAGS).args(["--approve", "all"]).converse();
    say(&mut started, saying("go")).await;
    begun(&stage).await;
    say(&mut started, json!({"type": "wind_up", "reason": "the time is nearly up"})).await;
    started.stdout.wait_for(RESULT, 1).await;
    started.finish().await;
    let last = &stage.requests()[1].body;
    assert_eq!(last["tool_choice"], "none");
    assert!(prompt(last).contains("The run is about to end: the time is nearly up"), "{}", prompt(last));
    let log = stage.only_log().await;
    assert_eq!(log.transcript.last_turn().unwrap().outcome, TurnOutcome::Interrupted);
    assert_eq!(processes::of(stage.home.path()), []);
}
