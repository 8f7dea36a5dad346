//! Tasks and processes: listed, ended, and ended after a time.

use buddy_protocol::TurnOutcome;
use buddy_testkit::model::{Turn, turn};
use buddy_testkit::processes;

use crate::screen::Screen;
use crate::stage::{Stage, shell};

/// A conversation in which a turn runs until the gate `end` is opened.
async fn working(turns: impl IntoIterator<Item = Turn>) -> Screen {
    let held = turn().text("I begin.").gate("end").text(" Never said.");
    let screen = Screen::start(std::iter::once(held).chain(turns), 80, 24).await;
    screen.line("work");
    screen.wait_for("I begin.").await;
    screen
}

/// Fails unless the only turn was stopped before its end.
async fn check_stopped(screen: &Screen) {
    screen.wait_for("interrupted").await;
    screen.wait_idle().await;
    screen.stage.server.gate("end").open();
    screen.leave().await;
    let log = screen.stage.only_log().await;
    assert_eq!(log.transcript.last_turn().map(|turn| turn.outcome), Some(TurnOutcome::Interrupted));
    assert!(!screen.everything().contains("Never said"));
}

#[tokio::test]
async fn a_running_turn_is_listed_and_ended_by_its_number() {
    let screen = working([]).await;
    screen.line("/ps");
    screen.wait_for("task 0  0s  this conversation").await;
    screen.line("/kill 0");
    check_stopped(&screen).await;
}

#[tokio::test]
async fn a_turn_ends_when_its_time_is_over() {
    let screen = working([]).await;
    screen.line("/timeout 1s");
    screen.wait_for("the turn ends in 0s").await;
    screen.wait_for("the turn reached its time limit").await;
    check_stopped(&screen).await;
}

#[tokio::test]
async fn one_of_several_tasks_has_to_be_named() {
    let screen = working([turn().gate("other").text("Done beside it.")]).await;
    screen.line("work beside it &");
    screen.wait_for("task 1 runs in the background").await;
    screen.stage.server.wait_for_requests(2).await;
    screen.line("/timeout 5m");
    screen.wait_for("Several tasks run. Name one").await;
    screen.line("/timeout 5m 1");
    screen.wait_for("task 1 ends in 5m 0s").await;
    screen.line("/kill 1");
    let shown = screen.wait_for("task 1 stopped: work beside it").await;
    assert!(!shown.contains("Done beside it."), "{shown}");
    screen.wait_until("work", crate::screen::is_working).await;
    screen.keys(&["Escape"]);
    screen.wait_for("interrupted").await;
    screen.stage.server.gate("end").open();
    screen.stage.server.gate("other").open();
}

#[tokio::test]
async fn a_process_is_listed_and_ended_by_its_name() {
    let mut call = shell("echo here; exec sleep 600");
    call["name"] = "sleeper".into();
    let stage = Stage::new(vec![turn().call("process_start", call), turn().text("It runs.")]).await;
    let screen = Screen::on(stage, &["--trust", "--approve", "all"], 80, 24).await;
    screen.line("start it");
    screen.wait_for("It runs.").await;
    screen.wait_idle().await;
    screen.line("/ps");
    screen.wait_for("sleeper: echo here").await;
    let id = screen.stage.results()[0]["result"]["id"].as_str().unwrap().to_owned();
    let is_there =
        || processes::of(screen.stage.home.path()).iter().any(|one| one.command.contains("sleep 600"));
    assert!(is_there());
    screen.line(&format!("/kill {id}"));
    screen.wait_until("its end", |_| !is_there()).await;
    screen.line("/kill proc-00");
    screen.wait_for("proc-00").await;
}

#[tokio::test]
async fn leaving_says_first_what_it_would_stop_and_then_how_each_is_gone_on_with() {
    let screen = working([turn().gate("other").text("Done beside it.")]).await;
    screen.line("work beside it &");
    screen.wait_for("task 1 runs in the background").await;
    screen.stage.server.wait_for_requests(2).await;
    screen.keys(&["C-d"]);
    screen.wait_for_words("Leaving stops the agent's work and task 1").await;
    screen.keys(&["C-d"]);
    screen.wait_for_words("A task was stopped. Resume it with buddy resume ses_ID").await;
    let all = screen.everything();
    let rows: Vec<&str> = all.lines().filter(|row| row.contains("buddy resume")).collect();
    assert_eq!(rows, ["  Resume with  buddy resume ses_ID", "  buddy resume ses_ID"], "{all}");
    screen.stage.server.gate("end").open();
    screen.stage.server.gate("other").open();
}
