//! Terminals that can little: no colours, no signs beyond ASCII, no painting at all.

use buddy_testkit::model::turn;
use serde_json::json;

use super::Screen;
use crate::stage::{Stage, shell};

const ANSWER: &str = "# A title\n\nSome *words* and `code`.\n\n- one\n- two\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";

async fn answered(variables: &[(&str, &str)]) -> Screen {
    answered_with(&[], variables).await
}

async fn answered_with(wishes: &[&str], variables: &[(&str, &str)]) -> Screen {
    let turns = vec![
        turn().text("I look.").call("list_directory", json!({"path": "."})).call("run_shell", shell("ls")),
        turn().text(ANSWER),
    ];
    let stage = Stage::new(turns).await;
    let arguments: Vec<&str> = ["--trust", "--approve", "all"].iter().chain(wishes).copied().collect();
    let screen = Screen::bare(stage, &arguments, 80, 40, variables);
    screen.wait_until("a prompt", super::has_prompt).await;
    screen.line("go");
    screen.wait_for("A title").await;
    screen.wait_idle().await;
    screen
}

#[tokio::test]
async fn an_answer_in_colours_reads_the_same_without() {
    let screen = answered(&[]).await;
    insta::assert_snapshot!("in_colours", screen.screen());
    let with = String::from_utf8(screen.tmux(&["capture-pane", "-p", "-e", "-t", "screen"]).stdout).unwrap();
    assert!(with.contains("\u{1b}["), "{with}");
    let screen = answered(&[("NO_COLOR", "1")]).await;
    insta::assert_snapshot!("without_colours", screen.screen());
    let without =
        String::from_utf8(screen.tmux(&["capture-pane", "-p", "-e", "-t", "screen"]).stdout).unwrap();
    let codes = without.split("\u{1b}[").skip(1).filter_map(|rest| rest.split_once('m'));
    for (code, _) in codes {
        assert!(
            code.split(';').all(|one| ["", "0", "1", "2", "3", "4", "7", "39", "49"].contains(&one)),
            "{code}: {without}"
        );
    }
    let screen = answered_with(&["--color", "always"], &[("NO_COLOR", "1")]).await;
    let wanted =
        String::from_utf8(screen.tmux(&["capture-pane", "-p", "-e", "-t", "screen"]).stdout).unwrap();
    assert!(wanted.contains("\u{1b}["), "the command line is stronger: {wanted}");
}

#[tokio::test]
async fn colours_follow_the_ground_that_the_terminal_tells_of() {
    let stage = Stage::new(vec![]).await;
    let screen = Screen::bare(stage, &["--trust"], 80, 24, &[("COLORTERM", "truecolor")]);
    let painted =
        || String::from_utf8(screen.tmux(&["capture-pane", "-p", "-e", "-t", "screen"]).stdout).unwrap();
    let (dark, light) = ("38;2;88;102;109", "38;2;118;131;135");
    screen.wait_until("a prompt", super::has_prompt).await;
    assert!(!painted().contains("38;2;"), "a ground that is not told has 16 colours: {}", painted());
    screen.tmux(&["set-option", "-g", "window-style", "bg=#fdf6e3"]);
    screen.again(&["--trust"]).await;
    let shown = screen.wait_until("light colours", |_| painted().contains(light)).await;
    assert!(shown.contains("› Ask buddy anything"), "the answer is not typed: {shown}");
    screen.line("/theme dark");
    screen.wait_until("dark colours", |_| painted().contains(dark)).await;
    screen.again(&["--trust", "-c", "display.theme=dark"]).await;
    assert!(!painted().contains(light), "what somebody chose stays: {}", painted());
}

#[tokio::test]
async fn a_terminal_without_unicode_gets_ascii_alone() {
    let screen = answered(&[("LANG", "C")]).await;
    let shown = screen.everything();
    assert!(shown.is_ascii(), "{shown}");
    insta::assert_snapshot!(shown);
}

#[tokio::test]
async fn a_screen_that_is_read_aloud_is_never_painted_over() {
    let turns = vec![turn().call("read_file", json!({"path": "missing.txt"})), turn().text("Hello.")];
    let screen = Screen::bare(Stage::new(turns).await, &["--trust", "--screen-reader"], 80, 24, &[]);
    screen.wait_for("session ses_ID").await;
    screen.tmux(&[
        "pipe-pane",
        "-t",
        "screen",
        &format!("cat > {}/said", screen.stage.home.path().display()),
    ]);
    screen.line("hi");
    screen.wait_for("Hello.").await;
    let said = std::fs::read_to_string(screen.stage.home.path().join("said")).unwrap();
    for sequence in ["\u{1b}[", "\u{1b}]"] {
        assert!(!said.contains(sequence), "nothing moves the cursor or changes the title: {said:?}");
    }
    assert!(said.contains("failed: read missing.txt, failed"), "signs are words: {said:?}");
    assert!(!said.contains('✗'), "{said:?}");
}

#[tokio::test]
async fn how_much_is_told_of_calls_and_tokens_is_chosen() {
    let turns = vec![turn().call("list_directory", json!({"path": "."})), turn().text("Done.")];
    let wishes = ["--trust", "-c", "display.show_tool_calls=false", "-c", "display.show_tokens=true"];
    let screen = Screen::on(Stage::new(turns).await, &wishes, 80, 24).await;
    screen.line("look");
    let shown = screen.wait_for(" tokens: ").await;
    assert!(
        shown.lines().any(|line| line == "  ✓ Listed    1 entry" || line == "  ✓ Listed    no entries"),
        "{shown}"
    );
    let at = |text: &str| shown.find(text).unwrap_or_default();
    assert!(at("Done.") > 0 && at("240 tokens: 200 in") > at("Done."), "{shown}");
}
