//! The treatment of calls: `/approve` and `/plan`.

use buddy_testkit::model::turn;
use serde_json::json;

use crate::screen::{Screen, making};

/// Gives the command, lets the agent make a directory, and sees whether it is there. Nothing is asked.
async fn check(command: &str, told: &str, is_made: bool) {
    let screen = Screen::start(making("made"), 80, 24).await;
    screen.line(command);
    screen.wait_for(told).await;
    screen.line("make it");
    let shown = screen.wait_for("So be it.").await;
    assert!(!shown.contains("Run this command?"), "{shown}");
    assert_eq!(screen.stage.home.work().join("made").is_dir(), is_made);
    assert_eq!(screen.stage.results()[0]["ok"], json!(is_made));
}

#[tokio::test]
async fn everything_is_approved() {
    check("/approve all", "Allow everything ━━", true).await;
}

#[tokio::test]
async fn everything_is_approved_for_a_while() {
    check("/approve 10m", "Allow for a while, 10 min left ━━", true).await;
}

#[tokio::test]
async fn nothing_is_approved() {
    check("/approve none", "Deny what needs approval ──", false).await;
}

#[tokio::test]
async fn nothing_is_changed_in_plan_mode() {
    check("/plan", "Plan only ╌╌", false).await;
}

#[tokio::test]
async fn asking_begins_again() {
    let turns = making("one")
        .into_iter()
        .chain([turn().call("run_shell", crate::stage::shell("mkdir two")), turn().text("Both.")]);
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("/permissions all");
    screen.wait_for("Allow everything ━━").await;
    screen.line("make it");
    screen.wait_for("So be it.").await;
    screen.wait_idle().await;
    screen.line("/approve ask");
    screen.wait_gone("Allow everything ━━").await;
    screen.line("make another");
    screen.wait_for_question("▌ mkdir two").await;
    screen.keys(&["d"]);
    screen.wait_for("Both.").await;
    assert!(screen.stage.home.work().join("one").is_dir() && !screen.stage.home.work().join("two").exists());
}
