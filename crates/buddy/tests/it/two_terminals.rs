//! Two terminals on one session, line by line: the first one works in it, the second one reads along and takes it over.

use buddy_protocol::{Answer, Fact, ItemStatus, TurnOutcome};
use buddy_testkit::model::{Turn, turn};
use buddy_testkit::program::Started;
use rustix::process::Signal;
use serde_json::json;

use crate::stage::{Log, Stage, said, shell};

/// The end of each question.
const APPROVE: &str = "approve? [y/n]";
/// The words of each refusal.
const REFUSED: &str = "so this was not sent";

/// A turn that says something, calls a tool and then waits in the middle of its answer for the gate `held`.
pub(crate) fn reading_along() -> [Turn; 2] {
    [
        turn().text("I look first.").call("read_file", json!({"path": "found.txt"})),
        turn().text("Half").gate("held").text(" of it. So be it."),
    ]
}

/// A turn that asks, and another one.
pub(crate) fn offering() -> [Turn; 3] {
    [turn().call("run_shell", shell("mkdir made")), turn().text("So be it."), turn().text("Here I am.")]
}

/// A turn with a call that runs for long and one that asks, and the answer to the next prompt.
pub(crate) fn left_open() -> [Turn; 2] {
    let long = shell("touch begun; sleep 600");
    [turn().call("run_shell", long).call("run_shell", shell("mkdir made")), turn().text("I go on.")]
}

/// Fails unless the one question of a session is still open in a turn that runs, and nothing was said but by its owner.
pub(crate) async fn check_untouched(stage: &Stage) {
    let log = stage.only_log().await;
    assert_eq!(log.transcript.asks().len(), 1, "the question is still open");
    assert!(log.transcript.turn().is_some(), "the turn still runs");
    let answered = log.events.iter().filter(|event| matches!(event.fact, Fact::Answered(_))).count();
    assert_eq!(answered, 0);
    assert!(!stage.home.work().join("made").exists());
}

/// Fails unless the taking over closed what the owner left open before the next turn, and the log only grew.
pub(crate) async fn check_left_behind(stage: &Stage, before: &Log) {
    let log = stage.only_log().await;
    assert_eq!(log.events[..before.events.len()], before.events, "the log only grows");
    let later = log.events[before.events.len()..].iter();
    let answers: Vec<&Answer> = later
        .filter_map(|event| match &event.fact {
            Fact::Answered(answered) => Some(&answered.answer),
            _ => None,
        })
        .collect();
    assert!(matches!(answers[..], [Answer::Withdrawn]), "{answers:?}");
    let calls = log.calls();
    let code = |place: usize| calls[place].1.output.as_ref().unwrap().error.as_ref().unwrap().code.clone();
    assert_eq!((calls[0].0.status, code(0).as_str()), (ItemStatus::Interrupted, "outcome_unknown"));
    assert_eq!((calls[1].0.status, code(1).as_str()), (ItemStatus::Interrupted, "not_run"));
    let outcomes: Vec<TurnOutcome> = log
        .events
        .iter()
        .filter_map(|event| match &event.fact {
            Fact::TurnEnded(ended) => Some(ended.outcome),
            _ => None,
        })
        .collect();
    assert_eq!(outcomes, [TurnOutcome::Completed, TurnOutcome::Interrupted, TurnOutcome::Completed]);
    assert!(!stage.home.work().join("made").exists());
    let last = stage.requests().pop().unwrap().body;
    assert_eq!(said(&last, "user").last().map(String::as_str), Some("what now?"));
}

/// A session that had a turn, open in two terminals: the owner first, then the reader.
async fn two_terminals(turns: impl IntoIterator<Item = Turn>) -> (Stage, Started, Started) {
    let stage = Stage::new(std::iter::once(turn().text("Hello.")).chain(turns).collect::<Vec<_>>()).await;
    let session = stage.completed("hi").await.session();
    let mut owner = stage.buddy(["resume", &session]).converse();
    owner.stderr.wait_for("> ", 1).await;
    let mut reader = stage.buddy(["resume", &session]).converse();
    reader.stderr.wait_for("You read along", 1).await;
    (stage, owner, reader)
}

#[tokio::test]
async fn a_reader_follows_event_by_event() {
    let (stage, mut owner, mut reader) = two_terminals(reading_along()).await;
    owner.write(b"look around\n").await;
    owner.stdout.wait_for("Half", 1).await;
    reader.stdout.wait_for("I look first.", 1).await;
    reader.stderr.wait_for("found.txt", 1).await;
    assert!(stage.only_log().await.transcript.turn().is_some(), "the turn still runs");
    assert!(!reader.stdout.text().contains("So be it."));
    stage.server.gate("held").open();
    owner.stdout.wait_for("of it. So be it.", 1).await;
    reader.stdout.wait_for("Half of it. So be it.", 1).await;
    owner.finish().await.expect_code(0);
    reader.finish().await.expect_code(0);
}

#[tokio::test]
async fn a_reader_can_neither_answer_nor_interrupt_nor_prompt() {
    let (stage, mut owner, mut reader) = two_terminals(offering()).await;
    owner.write(b"make it\n").await;
    owner.stderr.wait_for(APPROVE, 1).await;
    reader.stderr.wait_for(APPROVE, 1).await;
    reader.write(b"y\n").await;
    reader.stderr.wait_for(REFUSED, 1).await;
    reader.write(b"deny all\n").await;
    reader.stderr.wait_for(REFUSED, 2).await;
    reader.signal(Signal::INT);
    reader.stderr.wait_for(REFUSED, 3).await;
    reader.write(b"/review it all\n").await;
    reader.stderr.wait_for("is in use by process", 1).await;
    check_untouched(&stage).await;
    owner.write(b"y\n").await;
    owner.stdout.wait_for("So be it.", 1).await;
    reader.stdout.wait_for("So be it.", 1).await;
    assert!(stage.home.work().join("made").exists());
    reader.stderr.wait_for("> ", 2).await;
    let told = reader.stderr.text();
    let is_alone = |line: &str| line.split_once(APPROVE).is_none_or(|(_, behind)| behind.trim().is_empty());
    assert!(told.lines().all(is_alone), "nothing is written behind a question:\n{told}");
    reader.write(b"is it there?\n").await;
    reader.stderr.wait_for(REFUSED, 4).await;
    // It is free as soon as its owner has left.
    owner.finish().await.expect_code(0);
    reader.write(b"and now?\n").await;
    reader.stdout.wait_for("Here I am.", 1).await;
    reader.finish().await.expect_code(1);
}

#[tokio::test]
async fn a_reader_takes_over_from_an_owner_that_was_killed() {
    let (stage, mut owner, mut reader) = two_terminals(left_open()).await;
    owner.write(b"make it\n").await;
    owner.stderr.wait_for("touch begun; sleep 600 -- approve?", 1).await;
    owner.write(b"y\n").await;
    stage.wait_for_work("begun").await;
    reader.stderr.wait_for("mkdir made -- approve?", 1).await;
    owner.signal(Signal::KILL);
    assert_eq!(owner.finish().await.signal, Some(9));
    let before = stage.only_log().await;
    assert_eq!(before.transcript.asks().len(), 1, "the question is still open");
    // An answer comes too late: taking the session over withdraws the question.
    reader.write(b"y\n").await;
    reader.stderr.wait_for("interrupted\n", 1).await;
    reader.stderr.wait_for("> ", 1).await;
    reader.write(b"what now?\n").await;
    reader.stdout.wait_for("I go on.", 1).await;
    reader.finish().await.expect_code(0);
    check_left_behind(&stage, &before).await;
}

#[tokio::test]
async fn another_model_and_mode_are_not_set_in_a_session_in_use() {
    let stage =
        Stage::new(std::iter::once(turn().text("Hello.")).chain(offering()).collect::<Vec<_>>()).await;
    let session = stage.completed("hi").await.session();
    let mut owner = stage.buddy(["resume", &session]).converse();
    owner.stderr.wait_for("> ", 1).await;
    let events = stage.only_log().await.events.len();
    let wishes = ["resume", &session, "-m", "other", "--approve", "all"];
    let mut reader = stage.buddy(wishes).converse();
    reader.stderr.wait_for("did not change its model and approval mode", 1).await;
    reader.stderr.wait_for("You read along", 1).await;
    reader.finish().await.expect_code(0);
    assert_eq!(stage.only_log().await.events.len(), events, "nothing was changed");
    owner.finish().await.expect_code(0);
}

#[tokio::test]
async fn a_prompt_from_a_pipe_fails_in_a_session_in_use() {
    let (stage, owner, reader) = two_terminals(offering()).await;
    let session = stage.only_log().await.session;
    // Nobody may see the refusal, so the exit code has to tell.
    let piped = stage.buddy(["resume", session.as_str()]).input("make it\n").run().await.expect_code(1);
    piped.expect_stderr(REFUSED);
    // Who only reads leaves at the end of the input, also while the owner works.
    reader.finish().await.expect_code(0);
    owner.finish().await.expect_code(0);
    assert_eq!(stage.only_log().await.transcript.turns(), 1);
}
