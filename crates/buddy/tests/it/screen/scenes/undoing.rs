//! The report of an undo, in a conversation and on the command line.

use buddy_testkit::model::turn;
use serde_json::json;

use crate::screen::Screen;
use crate::screen::size::{Size, at_each_size};

at_each_size!(undo_in_a_conversation, undo_on_the_command_line);

/// A conversation in which one file was edited and another one written.
async fn edited(size: Size) -> Screen {
    let edit = json!({"path": "notes.txt", "old": "one", "new": "two"});
    let turns = [
        turn().call("edit_file", edit),
        turn().call("write_file", json!({"path": "docs/made.md", "content": "new\n"})),
        turn().text("Both are changed."),
    ];
    let screen = Screen::on(
        crate::stage::Stage::new(turns.to_vec()).await,
        &["--trust", "--approve", "edits"],
        size.columns,
        size.rows,
    )
    .await;
    std::fs::write(screen.stage.home.work().join("notes.txt"), "one\n").unwrap();
    screen.line("change both");
    screen.wait_for("Both are changed.").await;
    screen.wait_idle().await;
    screen
}

/// A screen in which times of day and ids have zeros in the place of their digits.
fn timeless(shown: &str) -> String {
    let is_time = |word: &str| word.as_bytes().get(2) == Some(&b':');
    let zeroed = |word: &str| match word {
        _ if is_time(word) => word.replace(|letter: char| letter.is_ascii_digit(), "0"),
        _ if word.starts_with("undo_") => "undo_ID".to_owned(),
        _ => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(zeroed).collect::<Vec<_>>().join(" ");
    shown.lines().map(line).collect::<Vec<_>>().join("\n")
}

async fn undo_in_a_conversation(size: Size) {
    let screen = edited(size).await;
    let work = screen.stage.home.work();
    screen.line("/undo");
    screen.wait_for("removed").await;
    assert!(!work.join("docs/made.md").exists(), "the last call is undone");
    screen.wait_idle().await;
    screen.line("/undo");
    screen.wait_for("restored  notes.txt").await;
    let shown = screen.wait_idle().await;
    assert_eq!(screen.stage.home.text("notes.txt"), "one\n");
    for row in shown.lines() {
        assert!(row.chars().count() <= size.columns as usize, "too wide: {row}");
    }
    let (_, report) = shown.split_at(shown.find("› /undo").unwrap());
    size.check("undo", &timeless(report));
}

async fn undo_on_the_command_line(size: Size) {
    let screen = edited(size).await;
    screen.leave().await;
    screen.buddy(&["respawn-pane", "-k", "-t", "screen", "--"], &["undo", "--yes"]);
    screen.tmux(&["clear-history", "-t", "screen"]);
    screen.wait_for("removed").await;
    screen.wait_dead().await;
    let shown = screen.everything();
    assert!(!screen.stage.home.work().join("docs/made.md").exists());
    let rows: Vec<&str> = shown.lines().filter(|row| !row.starts_with("Pane is dead")).collect();
    size.check("undo_command", &timeless(rows.join("\n").trim_end()));
}
