//! `buddy exec`: what goes in, what comes out where, and which session it belongs to.

use buddy_protocol::{Content, DeltaStream, Event, Fact};
use buddy_testkit::model::{Script, Turn, turn};
use serde_json::{Value, json};

use crate::stage::{Printed, Stage, prompt, said, shell};

async fn check_prompt(arguments: &[&str], input: &str, expected: &str) {
    let stage = Stage::new([turn().text("All right.")]).await;
    let finished = stage.buddy(["exec"]).args(arguments).input(input).run().await.expect_code(0);
    assert_eq!(finished.stdout, b"All right.\n", "{finished}");
    assert_eq!(prompt(&stage.requests()[0].body), expected);
}

#[tokio::test]
async fn an_answer_that_the_provider_pauses_goes_on_where_it_stopped() {
    let turns = [turn().text("One, ").stop("pause_turn"), turn().text("two.")];
    let stage = Stage::new(turns).await;
    let finished = stage.exec(["count"]).env("BUDDY_API", "messages").run().await.expect_code(0);
    assert_eq!(finished.text(), "One, two.\n");
    let requests = stage.server.requests();
    let last = requests[1].body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["role"], &last["content"][0]["text"]), (&json!("assistant"), &json!("One,")));
    let log = stage.only_log().await;
    let texts: Vec<_> = log
        .transcript
        .items()
        .iter()
        .filter_map(|item| match &item.content {
            Content::AgentMessage { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["One, ", "two."]);
}

/// The texts that streamed and those that the log has at the end, each under its item, over a wire with parts.
async fn streamed_and_logged(api: &str, answer: Turn) -> (Vec<(String, String)>, Vec<(String, String)>) {
    let stage = Stage::new([answer, turn().text("Done.")]).await;
    let stream = stage.exec(["speak", "--json", "--include-deltas"]).env("BUDDY_API", api);
    let printed = Printed::of(&stream.run().await.expect_code(0));
    let (mut streamed, mut logged) = (Vec::<(String, String)>::new(), Vec::new());
    for event in printed.events {
        match event.fact {
            Fact::ItemDelta(delta) if delta.stream == DeltaStream::Text => {
                match streamed.iter_mut().find(|(item, _)| *item == delta.item.to_string()) {
                    Some((_, text)) => text.push_str(&delta.text),
                    None => streamed.push((delta.item.to_string(), delta.text)),
                }
            }
            Fact::ItemEnded(ended) => match ended.item.content {
                Content::AgentMessage { text } | Content::Reasoning { text } if !text.is_empty() => {
                    logged.push((ended.item.id.to_string(), text));
                }
                _ => {}
            },
            _ => {}
        }
    }
    (streamed, logged)
}

#[tokio::test]
async fn each_part_of_an_answer_streams_as_the_item_that_the_log_has_of_it() {
    for api in ["messages", "responses"] {
        let two = turn().chunk_chars(3).text("First part.").apart().text("Second part.");
        let around = turn().text("Before.").call("run_shell", shell("true")).text("Behind.");
        let thoughts =
            turn().hidden_reasoning("?").reasoning("Hm.").text("One.").reasoning("Ha.").text("Two.");
        for (answer, texts) in [
            (two, vec!["First part.", "Second part."]),
            (around, vec!["Before.", "Behind.", "Done."]),
            (thoughts, vec!["Hm.", "One.", "Ha.", "Two."]),
        ] {
            let (streamed, logged) = streamed_and_logged(api, answer).await;
            let said: Vec<&str> = logged.iter().map(|(_, text)| text.as_str()).collect();
            assert_eq!(said, texts, "{api}");
            assert_eq!(streamed, logged, "{api}");
        }
    }
}

#[tokio::test]
async fn the_prompt_is_the_argument() {
    check_prompt(&["say it"], "", "say it").await;
}

#[tokio::test]
async fn the_prompt_is_the_input() {
    check_prompt(&[], "from the pipe\n", "from the pipe\n").await;
}

#[tokio::test]
async fn a_dash_is_the_input() {
    check_prompt(&["-"], "from the pipe", "from the pipe").await;
}

#[tokio::test]
async fn the_input_is_added_to_the_argument() {
    check_prompt(&["look:"], "a\nb", "look:\n\n<stdin>\na\nb\n</stdin>").await;
}

async fn check_stdout(answer: &str, expected: &[u8]) {
    let stage = Stage::new([
        turn().reasoning("Hm.").text("First a look.").call("run_shell", shell("echo noise; echo more >&2")),
        turn().text(answer),
    ])
    .await;
    let finished = stage.exec(["go"]).run().await.expect_code(0);
    assert_eq!(finished.stdout, expected, "{finished}");
    assert!(finished.stderr.contains("✓ Ran     echo noise"), "what happens on the way is told: {finished}");
}

#[tokio::test]
async fn the_answer_alone_is_on_the_output() {
    check_stdout("Done.", b"Done.\n").await;
}

#[tokio::test]
async fn a_newline_is_not_doubled() {
    check_stdout("Done.\n", b"Done.\n").await;
}

#[tokio::test]
async fn the_bytes_of_the_answer_are_kept() {
    let answer = "é 漢 \u{1f980} \u{1b}[31mred\u{1b}[0m\ttab\r\n\u{202e}end";
    check_stdout(answer, format!("{answer}\n").as_bytes()).await;
}

#[tokio::test]
async fn what_was_said_before_a_call_is_no_answer() {
    let looking = || turn().text("First a look.").call("run_shell", shell("true"));
    // An empty answer is asked about once.
    for (last, code) in [(vec![turn(), turn()], 0), (vec![turn().error(400, "bad", "no")], 1)] {
        let stage = Stage::new([vec![looking()], last].concat()).await;
        let finished = stage.exec(["go"]).run().await.expect_code(code);
        assert_eq!(finished.text(), "", "{finished}");
    }
}

#[tokio::test]
async fn json_is_one_object() {
    let call = turn().call("run_shell", shell("true"));
    let stage = Stage::new([call, turn().text("Done.")]).await;
    let finished = stage.exec(["go", "--output-format", "json"]).run().await.expect_code(0);
    let text = finished.text();
    assert_eq!(text.lines().count(), 1, "{finished}");
    let result: Value = serde_json::from_str(&text).unwrap();
    let session = stage.only_log().await.session;
    assert_eq!(
        (&result["status"], &result["text"], &result["session_id"], &result["turns"], &result["cost"]),
        (&json!("completed"), &json!("Done."), &json!(session.as_str()), &json!(2), &Value::Null)
    );
    let usage = json!({"input": 200, "cached_input": 0, "cache_write": 0, "output": 40, "reasoning_output": 0,
        "estimated": false});
    assert_eq!(result["usage"], usage);
    assert!(result["duration_ms"].as_u64().is_some_and(|spent| spent > 0), "{result}");
}

async fn stream(arguments: &[&str]) -> (Stage, Printed) {
    let call = turn().text("Let me see what is there.").call("run_shell", shell("echo hi"));
    let stage = Stage::new([call, turn().text("It says hi, and that is all.")]).await;
    let finished = stage.exec(["go"]).args(arguments).run().await.expect_code(0);
    let printed = Printed::of(&finished);
    (stage, printed)
}

fn is_delta(event: &Event) -> bool {
    matches!(event.fact, Fact::ItemDelta(_))
}

#[tokio::test]
async fn stream_json_is_the_log() {
    for flags in [&["--json"][..], &["--output-format", "stream-json"]] {
        let (stage, printed) = stream(flags).await;
        let log = stage.only_log().await;
        assert_eq!(printed.events, log.events);
        assert_eq!(printed.seqs(), (1..=log.transcript.head()).collect::<Vec<_>>());
        for key in ["status", "text", "session_id", "usage", "cost", "duration_ms", "turns"] {
            assert!(printed.result.get(key).is_some(), "{key} is missing: {}", printed.result);
        }
    }
}

#[tokio::test]
async fn deltas_come_when_they_are_wanted() {
    let (_, printed) = stream(&["--json"]).await;
    assert!(!printed.events.iter().any(is_delta));
    let (stage, printed) = stream(&["--json", "--include-deltas"]).await;
    let deltas: String = printed.events.iter().filter_map(text_of).collect();
    assert!(deltas.contains("Let me see what is there.") && deltas.contains("and that is all."), "{deltas}");
    let durable: Vec<Event> = printed.events.into_iter().filter(|event| event.seq.is_some()).collect();
    assert_eq!(durable, stage.only_log().await.events);
}

fn text_of(event: &Event) -> Option<&str> {
    if let Fact::ItemDelta(delta) = &event.fact { Some(&delta.text) } else { None }
}

#[tokio::test]
async fn a_session_goes_on() {
    let stage = Stage::new([turn().text("One."), turn().text("Two.")]).await;
    let first = stage.completed("first").await;
    let finished = stage.exec(["second", "--json", "--resume", &first.session()]).run().await.expect_code(0);
    let second = Printed::of(&finished);
    assert_eq!(second.session(), first.session());
    let head = first.seqs().last().copied().unwrap();
    assert_eq!(second.seqs().first().copied(), Some(head + 1));
    let last = stage.requests().pop().unwrap().body;
    assert_eq!(said(&last, "assistant"), ["One."]);
    assert_eq!(said(&last, "user"), ["first", "second"]);
}

#[tokio::test]
async fn last_is_the_last_of_the_directory() {
    let script = Script::from([turn().text("Yes.")]).repeating_last();
    let stage = Stage::new(script).await;
    let (here, there) = (stage.home.path().join("here"), stage.home.path().join("there"));
    for place in [&here, &there] {
        std::fs::create_dir(place).unwrap();
        let place = place.to_str().unwrap();
        stage.exec(["-C", place, "first"]).run().await.expect_code(0);
    }
    let finished = stage.exec(["-C", here.to_str().unwrap(), "--last", "again", "--json"]).run().await;
    let resumed = Printed::of(&finished.expect_code(0)).session();
    let logs = stage.log().await;
    assert_eq!(logs.len(), 2);
    let log = logs.iter().find(|log| log.session.as_str() == resumed).unwrap();
    assert_eq!(log.transcript.started().unwrap().cwd, here.to_str().unwrap());
    assert_eq!(log.transcript.turns(), 2);
}

#[tokio::test]
async fn there_may_be_no_last_session() {
    let stage = Stage::new([]).await;
    let finished = stage.exec(["--last", "again"]).run().await.expect_code(1);
    finished.expect_stderr("there is no session to resume");
    assert!(stage.log().await.is_empty() && stage.requests().is_empty());
}

#[tokio::test]
async fn the_model_can_be_named() {
    let stage = Stage::new([turn().text("A."), turn().text("B.")]).await;
    let finished = stage.exec(["-m", "other", "hi", "--json"]).run().await.expect_code(0);
    let session = Printed::of(&finished).session();
    stage.exec(["-m", "third", "hi", "--resume", &session]).run().await.expect_code(0);
    let models: Vec<Value> = stage.requests().iter().map(|request| request.body["model"].clone()).collect();
    assert_eq!(models, ["other", "third"]);
}

#[tokio::test]
async fn work_is_done_in_the_named_directory() {
    let stage = Stage::new([turn().call("run_shell", shell("pwd")), turn().text("There.")]).await;
    let place = stage.home.path().join("elsewhere with space");
    std::fs::create_dir(&place).unwrap();
    stage.exec(["-C", place.to_str().unwrap(), "where?"]).run().await.expect_code(0);
    assert_eq!(stage.results()[0]["result"]["stdout"], format!("{}\n", place.display()));
}

fn writing() -> [buddy_testkit::model::Turn; 2] {
    [turn().call("run_shell", shell("touch sentinel")), turn().text("I may not.")]
}

#[tokio::test]
async fn without_approval_nothing_is_done() {
    let stage = Stage::new(writing()).await;
    let finished = stage.buddy(["exec", "write"]).run().await.expect_code(5);
    assert_eq!(finished.stdout, b"I may not.\n");
    assert_eq!(stage.results()[0]["error"]["code"], "approval_needed");
    assert!(!stage.home.work().join("sentinel").exists());
    finished.expect_stderr("denied: ");
}

#[tokio::test]
async fn a_file_is_not_written_without_approval_either() {
    let write = turn().call("write_file", json!({"path": "sentinel", "content": "x"}));
    let stage = Stage::new([write, turn().text("No.")]).await;
    let finished = stage.buddy(["exec", "write", "--output-format", "json"]).run().await.expect_code(5);
    assert!(finished.text().contains(r#""status":"approval_needed""#), "{finished}");
    assert!(!stage.home.work().join("sentinel").exists());
}

#[tokio::test]
async fn approval_comes_by_flag_or_variable() {
    for (arguments, variable) in [(&["--approve", "all"][..], "none"), (&[], "all")] {
        let stage = Stage::new(writing()).await;
        let program = stage.buddy(["exec", "write"]).args(arguments).env("BUDDY_APPROVE", variable);
        program.run().await.expect_code(0);
        assert!(stage.home.work().join("sentinel").exists(), "{arguments:?}");
    }
}

#[tokio::test]
async fn the_flag_wins_over_the_variable() {
    let stage = Stage::new(writing()).await;
    let program = stage.buddy(["exec", "write", "--approve", "none"]).env("BUDDY_APPROVE", "all");
    program.run().await.expect_code(5);
    assert!(!stage.home.work().join("sentinel").exists());
}

#[tokio::test]
async fn the_limit_on_model_calls_holds() {
    let call = turn().call("run_shell", shell("echo x >> effects"));
    let script = Script::from([call]).repeating_last();
    let stage = Stage::new(script).await;
    let finished = stage.exec(["loop", "--max-turns", "3", "--json"]).run().await.expect_code(3);
    let requests = stage.requests();
    assert_eq!(
        (requests.len(), &requests[3].body["tool_choice"]),
        (4, &json!("none")),
        "a report comes last"
    );
    assert_eq!(stage.home.text("effects"), "x\nx\nx\n", "a call in the report is not run");
    let printed = Printed::of(&finished);
    assert_eq!((&printed.result["status"], &printed.result["turns"]), (&json!("turn_limit"), &json!(4)));
    assert!(printed.result["error"]["message"].as_str().unwrap().contains("3 model calls"));
}

#[tokio::test]
async fn two_terminals_share_a_store() {
    let script = Script::from([turn().text("A").gate("both").text("B")]).repeating_last();
    let stage = Stage::new(script).await;
    let (first, second) = (stage.exec(["one"]).start(), stage.exec(["two"]).start());
    stage.server.wait_for_requests(2).await;
    stage.server.gate("both").open();
    for started in [first, second] {
        assert_eq!(started.finish().await.expect_code(0).stdout, b"AB\n");
    }
    assert_eq!(stage.log().await.len(), 2);
}

#[tokio::test]
async fn a_session_has_one_user_at_a_time() {
    let stage =
        Stage::new([turn().text("One."), turn().text("Tw").gate("held").text("o."), turn().text("Three.")])
            .await;
    let session = stage.completed("first").await.session();
    let holder = stage.exec(["second", "--resume", &session]).start();
    stage.server.gate("held").reached().await;
    let refused = stage.exec(["third", "--resume", &session]).run().await.expect_code(1);
    let refused = refused.expect_stderr("is in use by");
    assert!(refused.stdout.is_empty() && refused.stderr.contains(&session), "{refused}");
    // A reader is not in the way.
    let mut reader = stage.buddy(["resume", &session]).converse();
    reader.stderr.wait_for("You read along", 1).await;
    reader.finish().await.expect_code(0).expect_stderr("is in use by");
    let shown = stage.buddy(["show", &session]).run().await.expect_code(0);
    assert!(shown.text().contains("> second"), "{shown}");
    stage.server.gate("held").open();
    assert_eq!(holder.finish().await.expect_code(0).stdout, b"Two.\n");
    stage.exec(["third", "--resume", &session]).run().await.expect_code(0);
    assert_eq!(stage.requests().len(), 3);
}

#[tokio::test]
async fn how_much_is_told_of_calls_and_tokens_is_chosen() {
    let turns = || vec![turn().call("list_directory", json!({"path": "."})), turn().text("Done.")];
    let told = Stage::new(turns()).await.exec(["look"]).run().await.expect_code(0);
    assert!(told.stderr.contains("✓ Listed  .  ") && !told.stderr.contains(" tokens: "), "{told}");
    let stage = Stage::new(turns()).await;
    let wishes = ["-c", "display.show_tool_calls=false", "-c", "display.show_tokens=true"];
    let told = stage.exec(["look"]).args(wishes).run().await.expect_code(0);
    assert!(told.stderr.contains("✓ Listed    "), "{told}");
    assert!(told.stderr.contains("240 tokens: 200 in, 0 of them cached, 40 out"), "{told}");
    assert_eq!(told.text(), "Done.\n");
}
