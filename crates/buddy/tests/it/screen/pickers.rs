//! Pickers: the title on the rule, the rows, the keys below, in each size of window.

use buddy_testkit::model::turn;

use super::Screen;
use super::size::{Size, at_each_size};
use crate::stage::Stage;

at_each_size!(themes, approvals, conversations, commands, resumed);

async fn themes(size: Size) {
    let screen = size.start([]).await;
    screen.line("/theme");
    size.check("pick_theme", &screen.wait_for_whole("› Type to search").await);
    screen.keys(&["Up", "Enter"]);
    screen.wait_for("Theme: light").await;
}

async fn approvals(size: Size) {
    let screen = size.start([]).await;
    screen.line("/approve");
    size.check("pick_approvals", &screen.wait_for_whole("› Type to search").await);
    screen.text("edi");
    screen.wait_for("❯ edits").await;
    screen.keys(&["Enter"]);
    screen.wait_gone("esc close").await;
    screen.wait_for("Accept").await;
}

/// A conversation that can be taken up again.
async fn talked(size: Size) -> Screen {
    let screen = size.start([turn().text("One.")]).await;
    screen.line("fix the overflow in parse_number and then publish the branch");
    screen.wait_for("One.").await;
    screen.wait_idle().await;
    screen
}

async fn conversations(size: Size) {
    let screen = talked(size).await;
    screen.line("/session");
    size.check("pick_session", &screen.wait_for("› Type to search titles").await);
}

async fn resumed(size: Size) {
    let screen = talked(size).await;
    screen.leave().await;
    screen.buddy(&["respawn-pane", "-k", "-t", "screen", "--"], &["resume"]);
    screen.tmux(&["clear-history", "-t", "screen"]);
    size.check("pick_resumed", &screen.wait_for("esc close").await);
    screen.text("zzz");
    screen.wait_for("nothing fits").await;
    screen.keys(&["Enter", "BSpace", "BSpace", "BSpace"]);
    screen.text("overflow");
    screen.wait_for("❯ fix the overflow").await;
    screen.keys(&["Enter"]);
    let shown = screen.wait_until("a prompt", super::has_prompt).await;
    assert!(shown.contains("● One."), "the session is there: {shown}");
}

async fn commands(size: Size) {
    let screen = size.start([]).await;
    screen.text("/co");
    size.check("pick_command", &screen.wait_for("❯ co").await);
}

#[tokio::test]
async fn a_terminal_without_unicode_gets_ascii_alone() {
    let stage = Stage::new(Vec::new()).await;
    let screen = Screen::bare(stage, &["--trust"], 80, 24, &[("LANG", "C")]);
    screen.wait_until("a prompt", super::has_prompt).await;
    screen.line("/theme");
    let shown = screen.wait_for("> Type to search").await;
    assert!(shown.is_ascii() && shown.contains("-- Theme --") && shown.contains("up/down choose"), "{shown}");
}

#[tokio::test]
async fn without_colours_the_mark_tells_the_chosen_row() {
    let stage = Stage::new(Vec::new()).await;
    let screen = Screen::bare(stage, &["--trust"], 80, 24, &[("NO_COLOR", "1")]);
    screen.wait_until("a prompt", super::has_prompt).await;
    screen.line("/theme");
    screen.wait_for("❯ ").await;
    screen.wait_for("esc close").await;
    let shown = String::from_utf8(screen.tmux(&["capture-pane", "-p", "-e", "-t", "screen"]).stdout).unwrap();
    let row = shown.lines().find(|row| row.contains('❯')).unwrap();
    assert!(row.contains("[0;1m") || row.contains("[1m"), "it is bold: {row:?}");
    assert!(!shown.contains("[38;") && !shown.contains("[48;"), "{shown:?}");
}
