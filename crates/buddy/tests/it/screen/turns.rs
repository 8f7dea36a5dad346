//! Turns on a screen.

use buddy_testkit::model::turn;
use serde_json::json;

use super::{Screen, has_prompt};
use crate::stage::{Stage, shell};

#[tokio::test]
async fn each_part_of_an_answer_is_shown_once() {
    let parts = turn().chunk_chars(4).text("The first part.").apart().text("The second part.");
    let stage = Stage::new([parts]).await;
    let screen = Screen::bare(stage, &["--trust"], 80, 24, &[("BUDDY_API", "messages")]);
    screen.wait_until("a prompt", has_prompt).await;
    screen.line("speak");
    screen.wait_for("The second part.").await;
    screen.wait_idle().await;
    let all = screen.everything();
    for part in ["The first part.", "The second part."] {
        assert_eq!(
            all.lines().filter(|line| line.strip_prefix("● ") == Some(part)).count(),
            1,
            "{part}: {all}"
        );
        assert_eq!(all.matches(part).count(), 1, "{part}: {all}");
    }
}

#[tokio::test]
async fn an_answer_stands_above_the_prompt_and_stays_in_the_scrollback() {
    let screen =
        Screen::start([turn().text("The first line.\n\nThe second, with **weight**.")], 80, 24).await;
    screen.line("hello");
    screen.wait_for("The second").await;
    insta::assert_snapshot!(screen.wait_idle().await);
    let last = screen.leave().await;
    assert!(last.contains("The first line."), "{last}");
}

#[tokio::test]
async fn a_turn_with_tools_shows_each_call_in_one_line() {
    let turns = [
        turn()
            .text("I look around.")
            .call("list_directory", json!({"path": "."}))
            .call("run_shell", shell("touch x; seq 1 30")),
        turn().text("There is nothing."),
    ];
    let screen = Screen::start(turns, 80, 24).await;
    std::fs::write(screen.stage.home.work().join("notes.txt"), "x\n").unwrap();
    screen.line("look");
    screen.wait_for_question("▌ touch x; seq 1 30").await;
    screen.keys(&["y"]);
    screen.wait_for("There is nothing.").await;
    insta::assert_snapshot!(screen.wait_idle().await);
    screen.keys(&["C-o"]);
    screen.wait_for("  29\n  30\n").await;
}

#[tokio::test]
async fn an_interrupt_ends_the_turn_and_the_prompt_is_there_again() {
    let turns =
        [turn().call("run_shell", shell("touch x; cat /dev/zero | tr -d '\\0'")), turn().text("never")];
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("wait");
    screen.wait_for("Run this command?").await;
    screen.keys(&["C-c"]);
    let ended = screen.wait_for("interrupted").await;
    assert!(!ended.contains("never"), "{ended}");
    screen.text("a new draft");
    screen.wait_for("› a new draft").await;
}

#[tokio::test]
async fn a_conversation_is_taken_up_with_its_end_in_view() {
    let screen = Screen::start([turn().text("Remember me."), turn().text("I do.")], 80, 24).await;
    screen.line("first");
    screen.wait_for("Remember me.").await;
    screen.wait_idle().await;
    let left = screen.leave().await;
    assert!(left.contains("Resume with  buddy resume ses_ID"), "{left}");
    let session = screen.stage.only_log().await.session.to_string();
    screen.again(&["resume", &session]).await;
    let shown = screen.wait_for("Remember me.").await;
    assert!(shown.contains("› first"), "{shown}");
    screen.line("second");
    screen.wait_for("I do.").await;
}
