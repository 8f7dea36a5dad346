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
    // A letter right after the first would make both of them text for a prompt.
    let words = ["n", "End", "u", "s", "e", "Space", "b", "Enter"];
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
async fn a_command_that_was_changed_is_told_as_it_ran_and_a_denial_with_its_reason() {
    let turns = [
        turn().call("run_shell", shell("rm -r data")),
        turn().call("run_shell", shell("rm -r data")),
        turn().text("So be it."),
    ];
    let screen = Screen::start(turns, 100, 40).await;
    let work = screen.stage.home.work().clone();
    std::fs::create_dir(work.join("data")).unwrap();
    std::fs::write(work.join("data/kept.csv"), "1\n").unwrap();
    screen.line("clean up");
    screen.wait_for_question("▌ rm -r data").await;
    screen.keys(&["e", "C-u"]);
    screen.line("ls data");
    screen.wait_for("you changed it from `rm -r data`").await;
    screen.wait_for_question("▌ rm -r data").await;
    screen.keys(&["n", "End"]);
    screen.line("they are mine");
    screen.wait_for("So be it.").await;
    assert!(work.join("data/kept.csv").exists());
    screen.line("/export talk.md");
    screen.wait_for("talk.md written").await;
    let text = std::fs::read_to_string(work.join("talk.md")).unwrap();
    let (changed, denied) = text.split_once("not allowed by ").unwrap();
    assert!(
        changed.contains(": ls data, changed by ") && changed.contains("from <code>rm -r data</code>"),
        "{text}"
    );
    assert!(changed.contains("```sh\nls data\n```") && !changed.contains("```sh\nrm -r data"), "{text}");
    assert!(denied.lines().next().unwrap().contains(": they are mine"), "{text}");
    let shown = screen.stage.buddy(["show", "--last"]).run().await.expect_code(0).text();
    let row = |text: &str| shown.lines().find(|line| line.contains(text)).unwrap_or_default().to_owned();
    assert!(
        row("ls data").contains("[changed by ") && row("ls data").contains(" from `rm -r data`]"),
        "{shown}"
    );
    assert!(row("rm -r data [not").contains(": they are mine]"), "{shown}");
}

#[tokio::test]
async fn a_command_that_is_typed_at_a_card_is_carried_out_and_the_card_stays() {
    let screen = Screen::start(making("made"), 80, 30).await;
    screen.line("make it");
    screen.wait_for_question("▌ mkdir made").await;
    screen.line("/approve edits");
    screen.wait_for("Accept edits").await;
    let shown = screen.screen();
    assert!(shown.contains("▌ mkdir made") && !screen.stage.home.work().join("made").exists(), "{shown}");
    screen.keys(&["y"]);
    screen.wait_for("So be it.").await;
    assert!(screen.stage.home.work().join("made").is_dir());
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

/// The words that the risk comes from are underlined, with colours and without; the place says which limits hold there.
#[tokio::test]
async fn risky_words_are_underlined_and_the_limits_are_told() {
    for variables in [&[][..], &[("NO_COLOR", "1")]] {
        let push = turn().call("run_shell", shell("git push --force origin main"));
        let stage = crate::stage::Stage::new(vec![push, turn().text("No.")]).await;
        let screen = Screen::bare(stage, &["--trust"], 100, 30, variables);
        screen.wait_until("a prompt", super::has_prompt).await;
        screen.line("publish it");
        let shown = screen.wait_for_question("Run this command?").await;
        let place = shown.lines().find(|row| row.contains("▌ where ")).unwrap();
        assert!(place.contains("ann@atlas  ~/work  sandboxed, network on"), "{shown}");
        let painted = screen.tmux(&["capture-pane", "-p", "-e", "-t", "screen"]).stdout;
        let painted = String::from_utf8(painted).unwrap();
        let (before, after) = painted.split_once("git push --force").unwrap();
        let style = before.rsplit('▌').next().unwrap();
        assert!(style.contains("[4m") || style.contains(";4"), "{variables:?}: {style:?}");
        let rest = after.lines().next().unwrap();
        let (end, words) = rest.split_once(" origin main").unwrap();
        assert!(end.starts_with("\u{1b}[0") && words.is_empty(), "{variables:?}: {rest:?}");
        screen.keys(&["d"]);
        screen.wait_for("No.").await;
    }
}
