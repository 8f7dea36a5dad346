//! Keys: a program in the pane gets exactly the text that policy judges.

use std::path::Path;

use buddy_exec::{Keys, PaneSelector, Panes};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::stage::PaneStage;
use crate::stage::PATIENCE;

/// The number of calls that are typed.
const CASES: usize = 60;

/// A character that no generated text has in it.
const END: &str = "\u{25a0}";

/// Words that tmux interprets beyond their letters, in any case, and texts.
fn word() -> impl Strategy<Value = String> {
    let names = prop::sample::select(vec![
        "Enter",
        "Space",
        "Tab",
        "BSpace",
        "Home",
        "Up",
        "Left",
        "Escape",
        "DC",
        "PgUp",
        "F1",
        "F13",
        "KP1",
        "KPEnter",
        "0x72",
        "0x0d",
        "^U",
        "^",
        "C-u",
        "C-m",
        "C-",
        "M-a",
        "S-x",
        "S-Left",
        "C-M-b",
        "None",
        "Any",
        "User0",
        "MouseDown1Pane",
        "PasteStart",
        "FocusIn",
    ]);
    let cased = (names, any::<u8>()).prop_map(|(name, mask)| {
        let turn = |(at, letter): (usize, char)| match mask >> (at % 8) & 1 {
            0 => letter,
            _ if letter.is_ascii_uppercase() => letter.to_ascii_lowercase(),
            _ => letter.to_ascii_uppercase(),
        };
        name.chars().enumerate().map(turn).collect::<String>()
    });
    prop_oneof![cased, "[ -~]{1,6}", "[;'\"\\\\$#{}!^é-]{1,4}"]
}

fn keys() -> impl Strategy<Value = (String, Vec<String>, bool)> {
    ("[ -~\n;é]{0,12}", prop::collection::vec(word(), 0..5), any::<bool>())
}

/// The bytes since the last end.
fn received(file: &Path, from: usize) -> Vec<u8> {
    std::fs::read(file).unwrap_or_default().split_off(from)
}

#[tokio::test]
async fn a_program_gets_exactly_the_text_that_was_judged() {
    let stage = PaneStage::new("/bin/bash");
    let selector = PaneSelector::default();
    let reader = stage.command("stty raw -echo; echo reading; cat > received");
    stage.target.dispatch(&selector, reader).await.unwrap();
    stage.until_shown("reading").await;
    let (mut runner, mut read, mut from) = (TestRunner::default(), 0, 0);
    for _ in 0..CASES {
        let (literal, words, enter) = keys().new_tree(&mut runner).unwrap().current();
        let parsed: Result<Vec<_>, _> = words.iter().map(|word| word.parse()).collect();
        let Ok(keys) = parsed else { continue };
        let keys = Keys { literal_text: Some(literal), keys, enter };
        let Some(judged) = keys.plain_text() else { continue };
        stage.target.send_keys(&stage.bounds, &selector, &keys).await.unwrap();
        let end = Keys { literal_text: Some(END.to_owned()), ..Keys::default() };
        stage.target.send_keys(&stage.bounds, &selector, &end).await.unwrap();
        let waits = std::time::Instant::now() + PATIENCE;
        let mut came = received(&stage.path("received"), from);
        while !came.ends_with(END.as_bytes()) {
            assert!(std::time::Instant::now() < waits, "{keys} never came whole: {came:?}");
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            came = received(&stage.path("received"), from);
        }
        // A terminal sends the key Enter as a carriage return to every program.
        let expected = format!("{}{END}", judged.replace('\n', "\r"));
        assert_eq!(String::from_utf8_lossy(&came), expected, "{keys} of {words:?}");
        from += came.len();
        read += 1;
    }
    assert!(read > CASES / 10, "only {read} of {CASES} were text");
}

#[tokio::test]
async fn a_long_text_of_one_line_comes_whole() {
    let stage = PaneStage::new("/bin/bash");
    let selector = PaneSelector::default();
    let reader =
        stage.command("stty raw -echo; echo reading; head -c 60000 > received; stty sane; echo all of it");
    stage.target.dispatch(&selector, reader).await.unwrap();
    stage.until_shown("reading").await;
    let text = (0..6_000).map(|number| format!("{number:09}")).collect::<Vec<_>>().join(" ") + " ";
    let keys = Keys { literal_text: Some(text.clone()), ..Keys::default() };
    stage.target.send_keys(&stage.bounds, &selector, &keys).await.unwrap();
    stage.until_shown("all of it").await;
    assert_eq!(std::fs::read_to_string(stage.path("received")).unwrap(), text);
}
