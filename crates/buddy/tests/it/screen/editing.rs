//! The input: keys, history, pastes, completion.

use buddy_testkit::model::turn;

use super::Screen;
use crate::stage::Stage;

fn answers(count: usize) -> Vec<buddy_testkit::model::Turn> {
    (1..=count).map(|number| turn().text(format!("Answer {number}."))).collect()
}

/// The last message to the model.
fn last_prompt(screen: &Screen) -> String {
    let requests = screen.stage.requests();
    let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
    let user = messages.iter().rev().find(|message| message["role"] == "user").unwrap();
    user["content"]
        .as_str()
        .map_or_else(|| user["content"][0]["text"].as_str().unwrap().to_owned(), str::to_owned)
}

#[tokio::test]
async fn several_lines_are_one_prompt() {
    let screen = Screen::start(answers(1), 80, 24).await;
    screen.text("one");
    screen.keys(&["C-j"]);
    screen.text("two");
    screen.keys(&["M-Enter"]);
    screen.text("three\\");
    screen.keys(&["Enter"]);
    screen.text("four");
    insta::assert_snapshot!(screen.wait_for("four").await);
    screen.keys(&["Enter"]);
    screen.wait_for("Answer 1.").await;
    assert_eq!(last_prompt(&screen), "one\ntwo\nthree\nfour");
}

#[tokio::test]
async fn what_was_sent_comes_back_in_this_session_and_the_next() {
    let screen = Screen::start(answers(3), 80, 24).await;
    screen.line("the first");
    screen.wait_for("Answer 1.").await;
    screen.line("the second");
    screen.wait_for("Answer 2.").await;
    screen.wait_idle().await;
    screen.text("draft");
    screen.keys(&["Up", "Up"]);
    screen.wait_until("> the first", |shown| shown.lines().rev().nth(2) == Some("› the first")).await;
    screen.keys(&["Down", "Down"]);
    screen.wait_for("› draft").await;
    screen.keys(&["C-c"]);
    screen.wait_gone("› draft").await;
    screen.leave().await;
    screen.again(&[]).await;
    screen.keys(&["C-r"]);
    screen.text("sec");
    screen.wait_for("(search) sec: the second").await;
    screen.keys(&["Enter"]);
    screen.wait_for("Answer 3.").await;
    assert_eq!(last_prompt(&screen), "the second");
}

#[tokio::test]
async fn a_paste_of_ten_thousand_lines_is_a_word_and_sends_nothing_by_itself() {
    let screen = Screen::start(answers(1), 80, 24).await;
    let long = (1..=10_000).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n");
    screen.text("see ");
    screen.paste(&long);
    screen.wait_for("› see [paste 1: 10000 lines]").await;
    assert!(screen.stage.requests().is_empty(), "a paste sends nothing");
    screen.keys(&["Enter"]);
    screen.wait_for("Answer 1.").await;
    assert_eq!(last_prompt(&screen).lines().count(), 10_000);
    assert!(last_prompt(&screen).ends_with("line 10000"));
}

#[tokio::test]
async fn files_are_completed_by_a_part_of_their_name() {
    let screen = Screen::start(answers(1), 80, 24).await;
    let work = screen.stage.home.work();
    std::fs::create_dir_all(work.join("src")).unwrap();
    std::fs::create_dir_all(work.join(".git")).unwrap();
    for name in ["src/main.rs", "src/lib.rs", "hidden.log", ".gitignore"] {
        std::fs::write(work.join(name), "*.log\n").unwrap();
    }
    screen.text("explain @main");
    screen.wait_for("❯ src/main.rs").await;
    screen.keys(&["Tab"]);
    screen.wait_for("› explain src/main.rs").await;
    screen.keys(&["C-u"]);
    screen.text("@hidden");
    screen.wait_for("› @hidden").await;
    assert!(!screen.screen().contains("❯"), "{}", screen.screen());
}

#[tokio::test]
async fn the_draft_goes_through_the_persons_editor() {
    let stage = crate::stage::Stage::new(answers(1)).await;
    let editor = stage.home.path().join("editor");
    std::fs::write(&editor, "#!/bin/sh\nprintf ' and more' >> \"$1\"\n").unwrap();
    std::fs::set_permissions(&editor, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let screen = Screen::on(stage, &["--trust"], 80, 24).await;
    screen.text("a draft");
    screen.keys(&["C-g"]);
    screen.wait_for("› a draft and more").await;
}

#[tokio::test]
async fn wide_characters_and_emoji_leave_the_cursor_where_it_belongs() {
    let screen = Screen::start(answers(1), 40, 15).await;
    screen.text("漢字 é 👍 x");
    screen.keys(&["Left", "BSpace", "BSpace"]);
    screen.text("y");
    screen.wait_for("› 漢字 é yx").await;
}

#[tokio::test]
async fn keys_of_vim_edit_the_draft_in_two_modes_that_the_status_tells() {
    let stage = Stage::new(vec![turn().gate("answer").text("Hello.")]).await;
    let screen = Screen::on(stage, &["--trust", "-c", "display.keys=vim"], 80, 24).await;
    screen.wait_for("insert   scripted").await;
    screen.text("one two three");
    screen.wait_for("› one two three").await;
    screen.keys(&["Escape"]);
    screen.wait_for("normal   scripted").await;
    screen.text("0wcw2");
    screen.wait_for("› one 2 three").await;
    screen.keys(&["Escape"]);
    screen.wait_for("normal   scripted").await;
    screen.text("u$xA!");
    screen.wait_for("› one two thre!").await;
    screen.keys(&["Enter"]);
    // Both rows: a look may come in the middle of a painting.
    let is_sent = |screen: &str| crate::screen::is_working(screen) && screen.contains("insert   scripted");
    screen.wait_until("the turn, and the mode for writing", is_sent).await;
    // With nothing to edit, Escape stops the turn as ever.
    screen.keys(&["Escape"]);
    screen.wait_for("interrupted").await;
    screen.keys(&["Escape"]);
    screen.wait_for("normal   scripted").await;
    screen.text("k");
    screen
        .wait_until("the prompt before", |shown| {
            shown.contains("› one two thre!") && shown.contains("normal   ")
        })
        .await;
}
