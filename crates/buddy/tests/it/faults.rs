//! A model server that fails in every way: each a clear error or the right recovery, never a hang, never a second
//! execution.

use std::time::Duration;

use buddy_protocol::{Fact, TurnOutcome};
use buddy_testkit::model::{ModelServer, Turn, turn};
use buddy_testkit::program::Finished;
use serde_json::{Value, json};

use crate::stage::{Stage, shell};

/// Far above what any of these runs needs, retries included.
const BOUND: Duration = Duration::from_secs(30);

async fn run(stage: &Stage) -> Finished {
    let program = stage.exec(["go"]).env("BUDDY_MODEL_IDLE_TIMEOUT", "1").within(BOUND);
    let finished = program.run().await;
    assert!(!finished.stderr.contains("panicked"), "{finished}");
    finished
}

/// The faults are overcome: the answer is whole and was asked for exactly so often.
async fn check_recovery(faults: impl IntoIterator<Item = Turn>) {
    let turns: Vec<Turn> = faults.into_iter().chain([turn().text("Here I am.")]).collect();
    let expected = turns.len();
    let stage = Stage::new(turns).await;
    let finished = run(&stage).await.expect_code(0);
    assert_eq!(finished.stdout, b"Here I am.\n", "{finished}");
    assert_eq!(stage.requests().len(), expected);
}

/// The run fails with this code, says why, and asked exactly so often.
async fn check_failure(turns: impl IntoIterator<Item = Turn>, requests: usize, code: i32, why: &str) {
    let stage = Stage::new(turns.into_iter().collect::<Vec<_>>()).await;
    let finished = run(&stage).await.expect_code(code).expect_stderr(why);
    assert!(finished.stdout.is_empty(), "{finished}");
    assert_eq!(stage.requests().len(), requests, "{finished}");
    let log = stage.only_log().await;
    assert_eq!(log.transcript.last_turn().unwrap().outcome, TurnOutcome::Failed);
}

fn busy() -> Turn {
    turn().error(429, "rate_limit_exceeded", "slow down")
}

#[tokio::test]
async fn nobody_listens() {
    let stage = Stage::new([]).await;
    let url = ModelServer::unreachable_url().await;
    let program = stage.exec(["go"]).env("BUDDY_BASE_URL", format!("{url}/v1")).within(BOUND);
    let finished = program.run().await.expect_code(1).expect_stderr("cannot connect");
    assert!(finished.stdout.is_empty(), "{finished}");
}

#[tokio::test]
async fn a_connection_is_closed_without_a_word() {
    check_recovery([turn().refuse(), turn().refuse()]).await;
}

#[tokio::test]
async fn a_wrong_key_is_not_tried_twice() {
    check_failure([turn().error(401, "invalid_api_key", "who are you?")], 1, 6, "who are you?").await;
}

#[tokio::test]
async fn a_rate_limit_is_waited_for() {
    check_recovery([busy(), busy()]).await;
    check_recovery([busy().header("retry-after", "1"), busy().header("retry-after-ms", "20")]).await;
}

#[tokio::test]
async fn a_rate_limit_of_an_hour_is_told() {
    check_failure([busy().header("retry-after", "3600")], 1, 1, "3600").await;
}

#[tokio::test]
async fn a_server_that_stays_broken_is_given_up() {
    let broken = || turn().error(500, "server_error", "on fire").header("retry-after-ms", "5");
    check_failure((0..18).map(|_| broken()), 18, 1, "on fire").await;
}

#[tokio::test]
async fn a_server_that_recovers_is_used() {
    check_recovery([turn().error(500, "server_error", "oops"), turn().error(503, "overloaded", "busy")])
        .await;
}

#[tokio::test]
async fn garbage_is_tried_again() {
    check_recovery([turn().text("half").malformed_after(2)]).await;
    check_recovery([turn().sse(&b"\xff\xfe\x00garbage\n\n"[..])]).await;
    check_recovery([turn().sse("data: {\"choices\":\n\n")]).await;
}

#[tokio::test]
async fn a_web_page_is_named() {
    let page = "<html><title>Bad gateway</title><body>nginx</body></html>";
    let gateway = || turn().status(502).header("content-type", "text/html").body(page);
    check_recovery([gateway()]).await;
    let login = turn().status(200).header("content-type", "text/html").body(page);
    check_failure([login], 1, 1, "web page").await;
}

#[tokio::test]
async fn silence_is_not_waited_for_for_ever() {
    check_recovery([turn().hang_after(0), turn().text("and then").hang_after(2)]).await;
}

#[tokio::test]
async fn silence_for_good_is_told() {
    check_failure((0..5).map(|_| turn().hang_after(0)), 5, 1, "was silent for 1 s").await;
}

#[tokio::test]
async fn an_error_inside_the_stream_is_seen() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "So "}, "finish_reason": null}]});
    let error = |code: u16, message: &str| {
        let error = json!({"error": {"message": message, "type": "error", "code": code}});
        turn().sse(format!("data: {chunk}\n\ndata: {error}\n\n"))
    };
    check_recovery([error(503, "overloaded")]).await;
    let stage = Stage::new([error(400, "not like this")]).await;
    run(&stage).await.expect_code(1).expect_stderr("not like this");
}

#[tokio::test]
async fn a_conversation_that_is_too_long_has_its_own_code() {
    let message = "This model's maximum context length is 8192 tokens.";
    check_failure([turn().error(400, "context_length_exceeded", message)], 1, 7, "too long").await;
}

#[tokio::test]
async fn an_answer_without_an_end_is_asked_for_again() {
    check_recovery([turn().text("half of it").truncate_after(2)]).await;
    check_recovery([turn().text("half of it").cut_after(2)]).await;
}

/// A call with an effect that can be counted.
fn counted() -> Turn {
    turn().call("run_shell", shell("echo effect >> effects")).chunk_chars(8)
}

async fn check_once(turns: impl IntoIterator<Item = Turn>) {
    let stage = Stage::new(turns.into_iter().collect::<Vec<_>>()).await;
    let finished = run(&stage).await.expect_code(0);
    assert_eq!(finished.stdout, b"Done.\n", "{finished}");
    assert_eq!(stage.home.text("effects"), "effect\n");
    assert_eq!(stage.only_log().await.calls().len(), 1);
    stage.requests();
}

#[tokio::test]
async fn a_call_cut_in_its_arguments_runs_once_it_is_whole() {
    let done = || turn().text("Done.");
    check_once([counted().cut_after(5), counted(), done()]).await;
    check_once([counted().truncate_after(6), counted(), done()]).await;
    check_once([counted().malformed_after(7), counted(), done()]).await;
    check_once([counted().hang_after(8), counted(), done()]).await;
}

#[tokio::test]
async fn a_call_is_not_made_again_when_the_answer_to_it_fails() {
    let done = || turn().text("Done.");
    check_once([counted(), busy(), turn().text("Do").cut_after(2), done()]).await;
    check_once([counted(), turn().refuse(), turn().hang_after(0), done()]).await;
}

#[tokio::test]
async fn a_turn_that_failed_after_a_call_can_be_gone_on_with() {
    let broken = || turn().error(500, "server_error", "on fire").header("retry-after-ms", "5");
    let turns: Vec<Turn> =
        [counted()].into_iter().chain((0..18).map(|_| broken())).chain([turn().text("Done.")]).collect();
    let stage = Stage::new(turns).await;
    run(&stage).await.expect_code(1).expect_stderr("on fire");
    let session = stage.only_log().await.session;
    let resumed = stage.exec(["go on", "--resume", session.as_str()]).run().await.expect_code(0);
    assert_eq!(resumed.stdout, b"Done.\n");
    assert_eq!((stage.home.text("effects").as_str(), stage.results().len()), ("effect\n", 1));
}

/// The model makes a call that cannot be; it is told so and the turn goes on.
async fn check_bad_call(call: Turn, codes: &[&str]) {
    let stage = Stage::new([call, turn().text("I see.")]).await;
    let finished = run(&stage).await.expect_code(0);
    assert_eq!(finished.stdout, b"I see.\n", "{finished}");
    let found: Vec<Value> = stage.results().iter().map(|result| result["error"]["code"].clone()).collect();
    assert_eq!(found, codes, "{:#?}", stage.results());
    assert_eq!(stage.home.text("effects"), "");
}

#[tokio::test]
async fn calls_that_make_no_sense_are_answered() {
    check_bad_call(turn().call_raw("run_shell", r#"{"command": "echo effect >> eff"#), &["invalid_input"])
        .await;
    check_bad_call(turn().call_raw("run_shell", "echo effect >> effects"), &["invalid_input"]).await;
    check_bad_call(turn().call_raw("run_shell", ""), &["invalid_input"]).await;
    check_bad_call(turn().call("run_shell", json!({"command": 7})), &["invalid_input"]).await;
    let mut extra = shell("echo effect >> effects");
    extra["sudo"] = json!(true);
    check_bad_call(turn().call("run_shell", extra), &["invalid_input"]).await;
    check_bad_call(turn().call("no_such_tool", json!({})), &["unknown_tool"]).await;
    let two = turn().call("read_file", json!({"path": "a"})).call("read_file", json!({"path": "b"}));
    check_bad_call(two, &["not_found", "not_found"]).await;
}

#[tokio::test]
async fn ids_that_are_used_twice_do_not_break_the_history() {
    let twice = || {
        turn().call_with_id("same", "run_shell", shell("echo effect >> effects")).call_with_id(
            "same",
            "run_shell",
            shell("echo effect >> effects"),
        )
    };
    let stage = Stage::new([twice(), twice(), turn().text("Done.")]).await;
    run(&stage).await.expect_code(0);
    assert_eq!(stage.requests().len(), 3);
    assert_eq!(stage.home.text("effects"), "effect\n".repeat(stage.only_log().await.calls().len()));
}

#[tokio::test]
async fn numbers_that_are_missing_are_no_fault() {
    let stage = Stage::new([turn().text("Done.").no_usage()]).await;
    let finished = stage.exec(["go", "--output-format", "json"]).run().await.expect_code(0);
    let result: Value = serde_json::from_slice(&finished.stdout).unwrap();
    assert_eq!(result["text"], "Done.");
    assert!(result["usage"]["input"].is_u64());
}

#[tokio::test]
async fn a_retry_is_told_and_logged() {
    let stage = Stage::new([busy(), turn().text("Here I am.")]).await;
    run(&stage).await.expect_code(0).expect_stderr("slow down");
    let log = stage.only_log().await;
    let is_retry = |fact: &Fact| matches!(fact, Fact::Notice(notice) if notice.code == "model_retry");
    assert_eq!(log.events.iter().filter(|event| is_retry(&event.fact)).count(), 1);
}
