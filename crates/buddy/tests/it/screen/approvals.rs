//! Approvals on a screen: what is shown, and what each key answers.

use buddy_testkit::model::turn;
use serde_json::json;
use tokio::time::sleep;

use super::{LOOK, Screen, making};
use crate::stage::shell;

/// Prompts, answers the approval with these keys, and sees the turn through.
async fn check(keys: &[&str], is_done: bool, model_sees: &str) -> Screen {
    let screen = Screen::start(making("made"), 80, 24).await;
    screen.line("make it");
    screen.wait_for_question("▌ mkdir made").await;
    assert!(!screen.stage.home.work().join("made").exists(), "nothing is done before the answer");
    screen.keys(keys);
    screen.wait_for("So be it.").await;
    assert_eq!(screen.stage.home.work().join("made").exists(), is_done);
    let seen = screen.stage.results()[0].to_string();
    assert!(seen.contains(model_sees), "{seen}");
    screen
}

#[tokio::test]
async fn an_approval_is_a_card_with_its_keys() {
    let screen = Screen::start(making("made"), 80, 24).await;
    screen.line("make it");
    insta::assert_snapshot!(screen.wait_for_question("Run this command?").await);
    screen.keys(&["?"]);
    insta::assert_snapshot!(screen.wait_for_whole("Less").await);
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
    check(&words, false, "the user said no: use b").await;
}

#[tokio::test]
async fn e_runs_another_command_instead() {
    let keys = ["e", "C-u", "l", "s", "Space", "-", "a", "Enter"];
    let screen = check(&keys, false, "the user changed the command to: ls -a").await;
    let shown = screen.wait_idle().await;
    assert!(shown.contains("✓ Ran     ls -a") && !shown.contains("Ran     mkdir"), "{shown}");
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
    screen.wait_for_question("▌ mkdir one").await;
    screen.keys(&["a"]);
    screen.wait_for("So be it.").await;
    assert!(screen.stage.home.work().join("two").is_dir());
}

#[tokio::test]
async fn p_offers_what_can_be_allowed_and_where() {
    let screen = Screen::start(making("made"), 80, 24).await;
    screen.line("make it");
    screen.wait_for_question("Run this command?").await;
    screen.keys(&["p"]);
    insta::assert_snapshot!(screen.wait_for_whole("esc Back").await);
    screen.keys(&["Down", "Enter"]);
    screen.wait_for("So be it.").await;
    assert!(screen.stage.home.work().join("made").is_dir());
}

#[tokio::test]
async fn an_edit_shows_what_it_would_change() {
    let edit = json!({"path": "notes.txt", "old": "two", "new": "2"});
    let screen = Screen::start([turn().call("edit_file", edit), turn().text("So be it.")], 80, 24).await;
    let file = screen.stage.home.work().join("notes.txt");
    std::fs::write(&file, "one\ntwo\nthree\n").unwrap();
    screen.line("change it");
    insta::assert_snapshot!(screen.wait_for_question("Edit notes.txt?").await);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\nthree\n", "looking changes nothing");
    screen.keys(&["1"]);
    screen.wait_for("So be it.").await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n2\nthree\n");
}

#[tokio::test]
async fn edits_that_are_asked_for_together_show_what_each_would_change() {
    let write = |name: &str| json!({"path": name, "content": format!("{name} it is\n")});
    let both = turn().call("write_file", write("red")).call("write_file", write("blue"));
    let screen = Screen::start([both, turn().text("So be it.")], 80, 24).await;
    screen.line("write them");
    let shown = screen.wait_for_question("Apply 2 edits?").await;
    assert!(shown.contains("+ red it is") && shown.contains("+ blue it is"), "{shown}");
    screen.keys(&["1", "y"]);
    screen.wait_for("So be it.").await;
    let is_there = |name: &str| screen.stage.home.work().join(name).exists();
    assert!(!is_there("red") && is_there("blue"));
}

#[tokio::test]
async fn a_command_that_is_longer_than_the_screen_can_be_read_from_its_beginning() {
    let lines: Vec<String> = (1..=60).map(|number| format!("echo line {number} > made")).collect();
    let turns = [turn().call("run_shell", shell(&lines.join("\n"))), turn().text("So be it.")];
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("run it");
    let folded = screen.wait_for_question("Some rows are folded. y shows them first.").await;
    assert!(folded.contains("▌ echo line 1 > made"), "what is to be done comes first: {folded}");
    assert!(folded.contains("… 54 more rows") && folded.contains("line 60 "), "{folded}");
    screen.keys(&["?"]);
    let shown = screen.wait_for_words("y shows the others first").await;
    assert!(!shown.contains("line 60 "), "{shown}");
    let place = |shown: &str| shown.lines().find(|row| row.contains(" to ")).map(str::to_owned);
    let mut seen = shown;
    // Each page is looked at before the next one, until the last: there a key shows nothing new.
    let mut is_new = true;
    while is_new {
        let before = place(&screen.screen());
        screen.keys(&["NPage"]);
        is_new = false;
        for _ in 0..25 {
            sleep(LOOK).await;
            let shown = screen.screen();
            if place(&shown) != before {
                seen.push_str(&shown);
                is_new = true;
                break;
            }
        }
    }
    for line in &lines {
        assert!(seen.contains(line), "`{line}` was never shown");
    }
    assert!(seen.contains("runs   echo line 1\n"), "its parts are named: {seen}");
    screen.keys(&["PPage"]);
    sleep(LOOK).await;
    screen.keys(&["d"]);
    screen.wait_for("So be it.").await;
}

#[tokio::test]
async fn keys_typed_before_the_question_never_answer_it() {
    let turns = [turn().gate("answer").call("run_shell", shell("mkdir made")), turn().text("So be it.")];
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("make it");
    screen.wait_until("work", crate::screen::is_working).await;
    screen.text("yyy");
    screen.wait_for("› yyy").await;
    screen.stage.server.gate("answer").open();
    while !screen.screen().contains("Run this command?") {
        screen.text("y");
        sleep(LOOK).await;
    }
    screen.text("y");
    let shown = screen.wait_for("You were typing.").await;
    assert!(!screen.stage.home.work().join("made").exists(), "{shown}");
    screen.wait_gone("You were typing.").await;
    screen.keys(&["d"]);
    let after = screen.wait_for("So be it.").await;
    assert!(after.lines().any(|line| line.contains("yyy")), "what was typed before is in the draft: {after}");
    assert!(!screen.stage.home.work().join("made").exists());
}
