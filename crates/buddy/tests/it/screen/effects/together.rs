//! Several things at once: tasks beside the conversation, a prompt that waits, words that steer, and somebody who types.

use std::time::Duration;

use buddy_testkit::model::turn;

use crate::screen::{Screen, numbered};
use crate::stage::{said, shell};

#[tokio::test]
async fn two_tasks_a_queued_prompt_and_steering_go_on_at_once() {
    let turns = [
        turn().text("Hello."),
        turn().gate("trees").text("Seven trees."),
        turn().gate("stones").text("Nine stones."),
        turn().text("I look.").gate("look").call("run_shell", shell("echo looked")),
        turn().text("Steered."),
        turn().text("The queued one."),
    ];
    let stage = crate::stage::Stage::new(turns.to_vec()).await;
    let screen = Screen::on(stage, &["--trust", "--approve", "all"], 100, 40).await;
    let server = &screen.stage.server;
    screen.line("hi");
    screen.wait_for("Hello.").await;
    screen.wait_idle().await;
    screen.line("count the trees &");
    server.wait_for_requests(2).await;
    screen.line("count the stones &");
    server.wait_for_requests(3).await;
    screen.line("look around");
    screen.wait_for("I look.").await;
    screen.text("and then this");
    screen.keys(&["Tab"]);
    screen.wait_for("and then this   queued").await;
    screen.line("only at the trees");
    screen.text("a draft that stays");
    let shown = screen.wait_for("› a draft that stays").await;
    for row in [
        "  ● task 1  count the trees",
        "  ● task 2  count the stones",
        "next    and then this   queued",
        "● Writing",
    ] {
        assert!(shown.contains(row), "{row} is missing:\n{shown}");
    }
    server.gate("look").open();
    screen.wait_for("The queued one.").await;
    server.gate("stones").open();
    screen.wait_for("Nine stones.").await;
    server.gate("trees").open();
    screen.wait_for("Seven trees.").await;
    let last = screen.wait_idle().await;
    assert_eq!(last.lines().rev().nth(2), Some("› a draft that stays"), "{last}");
    let requests = screen.stage.requests();
    assert_eq!(said(&requests[4].body, "user"), ["hi", "look around", "only at the trees"]);
    let all = ["hi", "look around", "only at the trees", "and then this"];
    assert_eq!(said(&requests[5].body, "user"), all);
    insta::assert_snapshot!("together", last);
}

#[tokio::test]
async fn nothing_gets_into_the_line_of_somebody_who_types_while_an_answer_streams() {
    let words = numbered(150);
    let lines: Vec<String> = words.chunks(5).map(|line| line.join(" ")).collect();
    let answer = turn().text(lines.join("\n\n")).chunk_chars(6).chunk_delay(Duration::from_millis(10));
    let screen = Screen::start([answer], 80, 24).await;
    screen.line("stream");
    screen.wait_for("word001").await;
    let draft = "every letter of this stands where it was typed";
    let mut typed = String::new();
    for letter in draft.chars() {
        screen.text(&letter.to_string());
        typed.push(letter);
        let shown = screen.screen();
        let line = shown.lines().rev().find(|line| line.starts_with('›')).unwrap_or_default();
        let line = if line.contains("Steer with Enter") { "›" } else { line };
        assert!(format!("› {typed}").starts_with(line), "`{line}` is none of `{typed}`:\n{shown}");
    }
    screen.wait_for(&format!("› {draft}")).await;
    screen.wait_for("word150").await;
    let last = screen.wait_idle().await;
    assert_eq!(last.lines().rev().nth(2), Some(format!("› {draft}").as_str()), "{last}");
    screen.check_each_once(&words);
}
