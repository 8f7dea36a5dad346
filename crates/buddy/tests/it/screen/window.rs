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

/// Every size of window that the screen is designed for, while an answer streams.
#[tokio::test]
async fn each_designed_size_in_mid_stream_keeps_every_word_and_fits() {
    const SIZES: [(u32, u32); 5] = [(40, 15), (100, 30), (200, 50), (80, 24), (40, 15)];
    let words = numbered(200);
    let pauses: Vec<usize> = (1..=SIZES.len()).map(|place| place * 30).collect();
    let screen = Screen::start([streaming(&words, &pauses)], 80, 24).await;
    screen.line("stream");
    for (at, (columns, rows)) in pauses.iter().zip(SIZES) {
        screen.resize_at(*at, columns, rows).await;
        let shown = screen.wait_for(&words[*at]).await;
        assert!(shown.lines().count() <= rows as usize, "{columns}x{rows}:\n{shown}");
        for row in shown.lines() {
            let width = row.chars().count();
            assert!(width <= columns as usize, "{columns}x{rows} has a row of {width}: {row}");
        }
        let rule = shown.lines().rev().nth(1).unwrap_or_default();
        let expected = columns.min(120) as usize;
        assert_eq!(rule.chars().count(), expected, "the slot fits {columns}x{rows}:\n{shown}");
    }
    screen.wait_for("word200").await;
    screen.wait_idle().await;
    screen.check_each_once(&words);
    screen.check_each_once(&["› stream".to_owned()]);
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
