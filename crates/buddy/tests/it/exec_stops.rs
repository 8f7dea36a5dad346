//! Runs that are stopped from outside: by their time limit, by a signal, by a reader that leaves.

use std::time::Duration;

use buddy_protocol::{ItemStatus, TurnOutcome};
use buddy_testkit::model::{Turn, turn};
use buddy_testkit::processes;
use buddy_testkit::program::{Finished, Started};
use rustix::process::Signal;

use crate::stage::{Printed, Stage, shell};

/// A command that has begun when `began` is there, and whose tree would live for a minute.
const LONG: &str = "(setsid sleep 60 &) ; sleep 60 & touch began; wait";

/// How long buddy may take to stop what runs and to write everything down.
const STOPS_WITHIN: Duration = Duration::from_secs(6);

fn long_call() -> Turn {
    turn().call("run_shell", shell(LONG))
}

pub(crate) async fn begun(stage: &Stage) {
    for _ in 0..2_000 {
        if stage.home.work().join("began").exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the command did not begin");
}

/// The run ended with this code and soon, nothing of it lives, and its session can be gone on with.
async fn check_stopped(stage: &Stage, finished: Finished, code: i32) {
    let finished = finished.expect_code(code);
    assert_eq!(processes::of(stage.home.path()), []);
    assert!(!finished.stderr.contains("panicked"), "{finished}");
    check_settled(stage).await;
}

/// Nothing of the session is open, and it can be gone on with.
pub(crate) async fn check_settled(stage: &Stage) {
    let log = stage.only_log().await;
    assert_eq!(log.transcript.turn(), None);
    assert_eq!(log.transcript.open_items().count(), 0);
    assert_eq!(log.transcript.last_turn().unwrap().outcome, TurnOutcome::Interrupted);
    let resumed = stage.exec(["and now?", "--resume", log.session.as_str()]).run().await.expect_code(0);
    assert_eq!(resumed.stdout, b"Well.\n");
    stage.requests();
}

#[tokio::test]
async fn the_time_limit_ends_a_command() {
    let stage = Stage::new([long_call(), turn().text("Well.")]).await;
    let finished = stage.exec(["go", "--timeout", "2s", "--json"]).run().await;
    assert!(finished.took < STOPS_WITHIN, "{finished}");
    assert_eq!(Printed::of(&finished).result["status"], "timeout");
    check_stopped(&stage, finished.expect_stderr("time limit"), 124).await;
}

#[tokio::test]
async fn the_time_limit_ends_a_silent_model() {
    let stage = Stage::new([turn().text("Hm").hang_after(1), turn().text("Well.")]).await;
    // Long enough for the request to be made on a busy machine, so that the next run gets the next turn.
    let finished = stage.exec(["go", "--timeout", "2"]).run().await;
    assert!(finished.took < STOPS_WITHIN, "{finished}");
    check_stopped(&stage, finished, 124).await;
}

#[tokio::test]
async fn the_time_limit_is_heeded_although_nobody_reads_on() {
    let stage = Stage::new([turn().text("x".repeat(1024 * 1024))]).await;
    // The pipe is open at both ends and nothing is ever read from it.
    let line = "mkfifo pipe; exec 3<>pipe; exec $BUDDY exec go --json --timeout 2s >&3";
    let finished = stage.in_bash(line).run().await.expect_code(124);
    assert!(finished.took < Duration::from_secs(20), "{finished}");
}

#[tokio::test]
async fn the_time_limit_ends_waiting_for_the_prompt() {
    let stage = Stage::new([]).await;
    for arguments in [&["exec", "--timeout", "0.3"][..], &["exec", "go", "--timeout", "0.3"]] {
        let started = stage.buddy(arguments).converse();
        let finished = started.finish_with_open_input().await.expect_code(124).expect_stderr("timed out");
        assert!(finished.took < STOPS_WITHIN, "{finished}");
    }
    assert!(stage.requests().is_empty() && !stage.home.data().exists());
}

#[tokio::test]
async fn the_time_limit_ends_waiting_between_retries() {
    let busy = || turn().error(429, "rate_limit", "slow down").header("retry-after", "30");
    let stage = Stage::new([busy(), turn().text("Well.")]).await;
    let finished = stage.exec(["go", "--timeout", "2"]).run().await;
    assert!(finished.took < STOPS_WITHIN, "{finished}");
    check_stopped(&stage, finished, 124).await;
}

async fn check_signal(kind: Signal) {
    let stage = Stage::new([long_call(), turn().text("Well.")]).await;
    let started = stage.exec(["go"]).start();
    begun(&stage).await;
    started.signal(kind);
    let finished = started.finish().await;
    assert!(finished.took < Duration::from_secs(20), "{finished}");
    check_stopped(&stage, finished, 130).await;
    let log = stage.only_log().await;
    assert_eq!(log.calls()[0].0.status, ItemStatus::Interrupted);
}

#[tokio::test]
async fn an_interrupt_ends_the_run() {
    check_signal(Signal::INT).await;
}

#[tokio::test]
async fn a_request_to_end_ends_the_run() {
    check_signal(Signal::TERM).await;
}

#[tokio::test]
async fn a_request_to_quit_ends_the_run() {
    check_signal(Signal::QUIT).await;
}

#[tokio::test]
async fn a_terminal_that_hangs_up_ends_the_run() {
    check_signal(Signal::HUP).await;
}

/// How many commands run when buddy is asked to end.
const TEN: usize = 10;

/// Ten commands at the same time, some with a daemon, some that ignore requests to end, and one that prints without end.
pub(crate) fn ten_calls() -> Turn {
    (0..TEN).fold(turn(), |turn, number| {
        let began = format!("touch began-{number}");
        let command = match number {
            0..4 => format!("(setsid sleep 60 &) ; {began}; sleep 60"),
            4..7 => format!("trap '' TERM INT HUP; {began}; while :; do sleep 0.1; done"),
            7 => format!("{began}; yes"),
            _ => format!("{began}; sleep 60 | cat"),
        };
        let mut call = shell(&command);
        // Only what says that it changes nothing runs beside others.
        call["mutation"] = serde_json::json!(false);
        turn.call("run_shell", call)
    })
}

pub(crate) async fn ten_begun(stage: &Stage) {
    let began = |number| stage.home.work().join(format!("began-{number}")).exists();
    for _ in 0..4_000 {
        if (0..TEN).all(began) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("ten commands do not run at the same time");
}

/// Asks for the end of a buddy with ten commands, which must come within ten seconds.
async fn end_with_ten(stage: &Stage, started: Started) {
    ten_begun(stage).await;
    let asked = std::time::Instant::now();
    started.signal(Signal::TERM);
    let finished = started.finish_with_open_input().await;
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}: {finished}", asked.elapsed());
    check_stopped(stage, finished, 130).await;
    let log = stage.only_log().await;
    let statuses: Vec<ItemStatus> = log.calls().iter().map(|(item, _)| item.status).collect();
    assert_eq!(statuses, [ItemStatus::Interrupted; TEN]);
}

#[tokio::test]
async fn a_request_to_end_with_ten_commands_ends_all_of_them_and_keeps_the_session() {
    let stage = Stage::new([ten_calls(), turn().text("Well.")]).await;
    let started = stage.exec(["go"]).start();
    end_with_ten(&stage, started).await;
}

#[tokio::test]
async fn a_request_to_end_ends_a_conversation_with_ten_commands() {
    let stage = Stage::new([ten_calls(), turn().text("Well.")]).await;
    let mut started = stage.buddy([]).env("BUDDY_APPROVE", "all").converse();
    started.write(b"go\n").await;
    end_with_ten(&stage, started).await;
}

#[tokio::test]
async fn a_command_that_ignores_requests_to_end_is_killed() {
    let stubborn = "trap '' TERM INT HUP; touch began; while :; do sleep 0.1; done";
    let stage = Stage::new([turn().call("run_shell", shell(stubborn)), turn().text("Well.")]).await;
    let started = stage.exec(["go"]).start();
    begun(&stage).await;
    started.signal(Signal::INT);
    check_stopped(&stage, started.finish().await, 130).await;
}

#[tokio::test]
async fn a_second_interrupt_does_not_wait() {
    let stubborn = "trap '' TERM INT HUP; touch began; while :; do sleep 0.1; done";
    let stage = Stage::new([turn().call("run_shell", shell(stubborn)), turn().text("Well.")]).await;
    let started = stage.exec(["go"]).start();
    begun(&stage).await;
    let asked = std::time::Instant::now();
    started.signal(Signal::INT);
    tokio::time::sleep(Duration::from_millis(100)).await;
    started.signal(Signal::INT);
    let finished = started.finish().await.expect_code(130);
    assert!(asked.elapsed() < Duration::from_millis(700), "{:?}: {finished}", asked.elapsed());
    assert_eq!(processes::wait_until_gone(stage.home.path(), Duration::from_secs(2)), []);
    let session = stage.only_log().await.session;
    let resumed = stage.exec(["and now?", "--resume", session.as_str()]).run().await.expect_code(0);
    assert_eq!(resumed.stdout, b"Well.\n");
    stage.requests();
}

/// Leaves the outputs once the first line was printed and the model was asked, then lets the model go on.
async fn leave(stage: &Stage, mut started: Started) -> Finished {
    started.stdout.wait_for("\n", 1).await;
    stage.server.wait_for_requests(1).await;
    started.leave_outputs().await;
    stage.server.gate("left").open();
    started.finish().await
}

#[tokio::test]
async fn a_reader_that_leaves_ends_the_run_quietly() {
    let answer = turn().gate("left").text("Much more to say. ").call("run_shell", shell("sleep 60"));
    let stage = Stage::new([answer, turn().text("Well.")]).await;
    let finished = leave(&stage, stage.exec(["go", "--json"]).start()).await;
    assert!(finished.took < Duration::from_secs(20), "{finished}");
    check_stopped(&stage, finished, 141).await;
}

#[tokio::test]
async fn a_pipe_into_head_is_quiet() {
    let stage = Stage::new([turn().text("Well."), turn().text("Well.")]).await;
    let line = r#""$BUDDY" exec hi --json | head -1; echo "${PIPESTATUS[0]}" >&2"#;
    let finished = stage.in_bash(line).run().await.expect_code(0);
    let code = finished.stderr.trim();
    assert!(code == "141" || code == "0", "{finished}");
    assert_eq!(finished.text().lines().count(), 1);
}

#[tokio::test]
async fn an_answer_that_nobody_reads_is_told_by_the_code() {
    let stage = Stage::new([turn().gate("left").text("Hi.")]).await;
    let mut started = stage.exec(["go"]).start();
    stage.server.wait_for_requests(1).await;
    started.leave_outputs().await;
    stage.server.gate("left").open();
    started.finish().await.expect_code(141);
    assert_eq!(stage.only_log().await.transcript.last_turn().unwrap().outcome, TurnOutcome::Completed);
}

#[tokio::test]
async fn a_limit_of_no_time_is_kept() {
    let stage = Stage::new([turn().text("Well."), turn().text("Well.")]).await;
    let finished = stage.exec(["go", "--timeout", "0s"]).run().await;
    finished.expect_code(124);
}

#[tokio::test]
async fn an_output_that_cannot_be_written_is_told() {
    let stage = Stage::new([turn().text("Hello.")]).await;
    let finished = stage.in_bash("$BUDDY exec hi > /dev/full").run().await.expect_code(141);
    finished.expect_stderr("cannot write the output");
}
