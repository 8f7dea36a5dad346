//! Approvals on a screen: what is shown, and what each key answers.

use buddy_testkit::model::turn;
use tokio::time::sleep;

use super::{LOOK, Screen, making};
use crate::stage::shell;

/// Prompts, answers the approval with these keys, and sees the turn through.
async fn check(keys: &[&str], is_done: bool, model_sees: &str) -> Screen {
    let screen = Screen::start(making("made"), 80, 24).await;
    screen.line("make it");
    screen.wait_for_question("$ mkdir made -- approve?").await;
    assert!(!screen.stage.home.work().join("made").exists(), "nothing is done before the answer");
    screen.keys(keys);
    screen.wait_for("So be it.").await;
    assert_eq!(screen.stage.home.work().join("made").exists(), is_done);
    let seen = screen.stage.results()[0].to_string();
    assert!(seen.contains(model_sees), "{seen}");
    screen
}

#[tokio::test]
async fn an_approval_is_one_line_and_its_keys() {
    let screen = Screen::start(making("made"), 80, 24).await;
    screen.line("make it");
    insta::assert_snapshot!(screen.wait_for_question("approve?").await);
    screen.keys(&["?"]);
    insta::assert_snapshot!(screen.wait_for("risk").await);
}

#[tokio::test]
async fn y_allows_it_once() {
    check(&["y"], true, r#""exit_code":0"#).await;
}

#[tokio::test]
async fn d_denies_it_and_the_agent_goes_on() {
    check(&["d"], false, r#""code":"denied""#).await;
}

#[tokio::test]
async fn n_denies_it_with_words_for_the_agent() {
    let words = ["n", "u", "s", "e", "Space", "b", "Enter"];
    check(&words, false, "the person said no: use b").await;
}

#[tokio::test]
async fn e_runs_another_command_instead() {
    let keys = ["e", "C-u", "l", "s", "Space", "-", "a", "Enter"];
    let screen = check(&keys, false, "the person changed the command to: ls -a").await;
    let shown = screen.wait_idle().await;
    assert!(shown.contains("run_shell  ls -a") && !shown.contains("run_shell  mkdir"), "{shown}");
}

#[tokio::test]
async fn a_allows_the_same_for_the_session() {
    let turns = [
        turn().call("run_shell", shell("mkdir one")),
        turn().call("run_shell", shell("mkdir two")),
        turn().text("So be it."),
    ];
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("make them");
    screen.wait_for_question("$ mkdir one -- approve?").await;
    screen.keys(&["a"]);
    screen.wait_for("So be it.").await;
    assert!(screen.stage.home.work().join("two").is_dir());
}

#[tokio::test]
async fn p_offers_what_can_be_allowed_and_where() {
    let screen = Screen::start(making("made"), 80, 24).await;
    screen.line("make it");
    screen.wait_for_question("approve?").await;
    screen.keys(&["p"]);
    insta::assert_snapshot!(screen.wait_for("esc goes back").await);
    screen.keys(&["Down", "Enter"]);
    screen.wait_for("So be it.").await;
    assert!(screen.stage.home.work().join("made").is_dir());
}

#[tokio::test]
async fn keys_typed_before_the_question_never_answer_it() {
    let turns = [turn().gate("answer").call("run_shell", shell("mkdir made")), turn().text("So be it.")];
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("make it");
    screen.wait_for("working").await;
    screen.text("yyy");
    screen.wait_for("> yyy").await;
    screen.stage.server.gate("answer").open();
    let mut typed = 3;
    while !screen.screen().contains("approve?") {
        screen.text("y");
        typed += 1;
        sleep(LOOK).await;
    }
    screen.text("y");
    let shown = screen.screen();
    assert!(shown.contains("approve?") && !screen.stage.home.work().join("made").exists(), "{shown}");
    screen.wait_for_question("approve?").await;
    screen.keys(&["d"]);
    let after = screen.wait_for("So be it.").await;
    let draft = after.lines().find(|line| line.starts_with("> yy")).unwrap_or_default();
    assert!(draft.len() >= typed, "what was typed is in the draft: {after}");
    assert!(!screen.stage.home.work().join("made").exists());
}
