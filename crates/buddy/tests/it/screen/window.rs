//! Windows of all sizes, and what happens when theirs changes.

use buddy_testkit::model::turn;

use super::{Screen, numbered, streaming};

const STORY: &str =
    "A line that is long enough to be broken in a narrow window, and to stand in one row of a wide one.";

#[tokio::test]
async fn the_same_conversation_fits_a_narrow_and_a_wide_window() {
    for (columns, rows, name) in [(40, 15, "narrow"), (80, 24, "usual"), (200, 50, "wide")] {
        let screen = Screen::start([turn().text(STORY)], columns, rows).await;
        screen.line("tell me a story");
        screen.wait_for("A line that").await;
        insta::assert_snapshot!(name, screen.wait_idle().await);
    }
}

#[tokio::test]
async fn a_window_that_changes_in_mid_stream_loses_nothing() {
    let words = numbered(120);
    let stream = streaming(&words, &[10, 30, 50]);
    let before: Vec<String> = (1..=40).map(|number| format!("- line {number}")).collect();
    let screen = Screen::start([turn().text(before.join("\n")), stream], 80, 24).await;
    screen.line("fill the screen");
    screen.wait_for("line 40").await;
    screen.wait_idle().await;
    screen.line("stream");
    for (at, columns) in [(10, 50), (30, 100), (50, 60)] {
        screen.resize_at(at, columns, 20).await;
    }
    screen.wait_for("word120").await;
    screen.wait_idle().await;
    screen.check_each_once(&words);
    screen.check_each_once(&["› stream".to_owned()]);
}
