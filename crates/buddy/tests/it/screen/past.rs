//! Going back, forking, searching and exporting in a conversation.

use std::fs;

use buddy_testkit::model::turn;

use super::Screen;
use crate::stage::said;

/// A conversation in which two things were said.
async fn talked() -> Screen {
    let answers = ["First answer.", "Second answer.", "Third answer.", "Fourth answer."];
    let screen = Screen::start(answers.map(|answer| turn().text(answer)), 100, 30).await;
    screen.line("find the boat");
    screen.wait_for("First answer.").await;
    screen.wait_idle().await;
    screen.line("paint the boat");
    screen.wait_for("Second answer.").await;
    screen.wait_idle().await;
    screen
}

#[tokio::test]
async fn going_back_puts_the_prompt_into_the_draft_and_forgets_what_followed() {
    let screen = talked().await;
    screen.line("/rewind");
    // The menu of commands says what the title of the picker says.
    let shown = screen.wait_for("❯ 2 paint the boat").await;
    assert!(shown.contains("Go back before a prompt") && shown.contains("  1 find the boat"), "{shown}");
    screen.keys(&["Enter"]);
    let shown = screen.wait_for("no call has changed files since").await;
    assert!(shown.contains("files stay as they are, /undo takes changes back"), "{shown}");
    screen.wait_until("the draft", |shown| shown.lines().rev().nth(2) == Some("› paint the boat")).await;
    screen.text(" blue");
    screen.keys(&["Enter"]);
    screen.wait_for("Third answer.").await;
    let request = screen.stage.requests().pop().unwrap().body;
    assert_eq!(said(&request, "user"), ["find the boat", "paint the boat blue"]);
    screen.leave().await;
    let mut turns: Vec<u64> = screen.stage.log().await.iter().map(|log| log.transcript.turns()).collect();
    turns.sort_unstable();
    assert_eq!(turns, [2, 2], "the conversation before is still there");
}

#[tokio::test]
async fn escape_twice_goes_back_too() {
    let screen = talked().await;
    screen.keys(&["Escape"]);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    screen.keys(&["Escape"]);
    screen.wait_for("Go back before a prompt").await;
    screen.keys(&["Down", "Enter"]);
    screen
        .wait_until("the first prompt as a draft", |shown| {
            shown.contains("back before that prompt")
                && shown.lines().filter(|line| *line == "› find the boat").count() >= 2
        })
        .await;
}

#[tokio::test]
async fn a_copy_goes_on_and_the_first_conversation_is_gone_back_to() {
    let screen = talked().await;
    screen.line("/fork");
    let shown = screen
        .wait_for_words("This is a copy of the conversation. Return to the original with /resume ses_ID")
        .await;
    assert!(shown.lines().any(|row| row == "  /resume ses_ID"), "the command is not broken: {shown}");
    screen.line("sell the boat");
    screen.wait_for("Third answer.").await;
    let request = screen.stage.requests().pop().unwrap().body;
    assert_eq!(said(&request, "user"), ["find the boat", "paint the boat", "sell the boat"]);
    screen.wait_idle().await;
    screen.leave().await;
    let logs = screen.stage.log().await;
    let mut turns: Vec<u64> = logs.iter().map(|log| log.transcript.turns()).collect();
    turns.sort_unstable();
    assert_eq!(turns, [2, 3]);
}

#[tokio::test]
async fn a_task_in_the_background_knows_the_conversation() {
    let screen = talked().await;
    screen.line("name the boat &");
    screen.wait_for("task 1 done: name the boat").await;
    let request = screen.stage.requests().pop().unwrap().body;
    assert_eq!(said(&request, "user"), ["find the boat", "paint the boat", "name the boat"]);
    screen.leave().await;
    // The task was used last, but the user resumes a conversation.
    let shown = screen.stage.buddy(["show", "--last"]).run().await.expect_code(0).text();
    assert!(shown.contains("paint the boat") && !shown.contains("name the boat"), "{shown}");
    screen.stage.exec(["--last", "and now?"]).run().await.expect_code(0);
    let request = screen.stage.requests().pop().unwrap().body;
    assert_eq!(said(&request, "user"), ["find the boat", "paint the boat", "and now?"]);
    let logs = screen.stage.log().await;
    let parents: Vec<_> = logs.iter().filter_map(|log| log.transcript.started()?.parent.clone()).collect();
    assert_eq!(parents.len(), 1);
    assert!(logs.iter().any(|log| log.session == parents[0] && log.transcript.turns() == 3));
}

#[tokio::test]
async fn a_past_conversation_is_found_by_what_was_said() {
    let screen = talked().await;
    screen.line("/new");
    screen.wait_for("\n  This is a new conversation").await;
    screen.line("/session search paint boat");
    let shown = screen.wait_for("── Found ──").await;
    assert!(shown.contains("❯ paint the boat  find the boat"), "{shown}");
    screen.keys(&["Enter"]);
    screen.wait_until("the conversation", |shown| shown.matches("Second answer.").count() == 2).await;
    screen.line("/session search submarine");
    screen.wait_for("No conversation contains these words.").await;
}

#[tokio::test]
async fn the_conversation_is_written_to_a_file() {
    let screen = talked().await;
    screen.line("/export boat.md");
    screen.wait_for("boat.md written").await;
    let text = fs::read_to_string(screen.stage.home.work().join("boat.md")).unwrap();
    assert!(text.contains("> paint the boat\n\nSecond answer.\n"), "{text}");
    screen.line("/export boat.json");
    screen.wait_for("boat.json written").await;
    screen.line("/export boat.md");
    screen.wait_for("`boat.md` already exists").await;
}

#[tokio::test]
async fn changes_of_files_since_are_counted() {
    let change = serde_json::json!({"path": "boat.txt", "content": "blue"});
    let turns = [turn().text("I write.").call("write_file", change), turn().text("Written.")];
    let stage = crate::stage::Stage::new(turns.to_vec()).await;
    let screen = Screen::on(stage, &["--trust", "--approve", "all"], 100, 30).await;
    screen.line("write it");
    screen.wait_for("Written.").await;
    screen.wait_idle().await;
    assert!(screen.stage.home.work().join("boat.txt").is_file());
    screen.line("/rewind");
    screen.wait_for("❯ 1 write it").await;
    screen.keys(&["Enter"]);
    screen.wait_for("1 call has changed files since").await;
    assert!(screen.stage.home.work().join("boat.txt").is_file(), "files stay as they are");
    screen.keys(&["C-u"]);
    screen.line("/undo");
    screen.wait_for("/redo takes it back").await;
    assert!(!screen.stage.home.work().join("boat.txt").exists());
}

#[tokio::test]
async fn a_session_is_picked_where_none_is_named() {
    let screen = talked().await;
    screen.leave().await;
    screen.buddy(&["respawn-pane", "-k", "-t", "screen", "--"], &["resume"]);
    screen.tmux(&["clear-history", "-t", "screen"]);
    let shown = screen.wait_for("Resume a session").await;
    assert!(shown.contains("❯ find the boat") && shown.contains("2 turns"), "{shown}");
    screen.keys(&["Enter"]);
    let shown = screen.wait_until("a prompt", super::has_prompt).await;
    assert!(shown.contains("● Second answer."), "{shown}");
}

#[tokio::test]
async fn after_going_back_the_note_is_on_the_screen_below_the_past() {
    let long: Vec<String> = (0..40).map(|number| format!("line {number}")).collect();
    let turns = [turn().text(long.join("\n\n")), turn().text("Second answer.")];
    let screen = Screen::start(turns, 100, 24).await;
    screen.line("tell me");
    screen.wait_for("line 39").await;
    screen.wait_idle().await;
    screen.line("and more");
    screen.wait_for("Second answer.").await;
    screen.wait_idle().await;
    screen.line("/rewind");
    screen.wait_for("❯ 2 and more").await;
    screen.keys(&["Enter"]);
    screen.wait_until("the draft", |shown| shown.lines().rev().nth(2) == Some("› and more")).await;
    let shown = screen
        .wait_until("the note", |shown| {
            let place = |text: &str| shown.find(text);
            place("line 39")
                .is_some_and(|past| place("back before that prompt").is_some_and(|note| note > past))
        })
        .await;
    assert!(shown.contains("the conversation before is /resume"), "{shown}");
}
