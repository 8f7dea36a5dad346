//! Commands that begin with `/`.

use buddy_testkit::model::turn;

use super::{Screen, making};

async fn idle() -> Screen {
    Screen::start([turn().text("Answer."), turn().text("Again.")], 80, 24).await
}

/// Gives a command and waits for what it shows.
async fn check(command: &str, shown: &str) -> Screen {
    let screen = idle().await;
    screen.line(command);
    screen.wait_for(shown).await;
    screen
}

#[tokio::test]
async fn a_menu_lists_what_fits_and_enter_takes_it() {
    let screen = idle().await;
    screen.text("/");
    insta::assert_snapshot!(screen.wait_for("❯ help").await);
    screen.text("stat");
    screen.wait_for("❯ status").await;
    screen.keys(&["Enter"]);
    screen.wait_for("session    ses_ID").await;
}

#[tokio::test]
async fn help_lists_every_command() {
    let screen = Screen::start([turn().text("Answer.")], 120, 60).await;
    screen.line("/help");
    screen.wait_for("ctrl-z").await;
    insta::assert_snapshot!(screen.wait_idle().await);
}

#[tokio::test]
async fn an_unknown_command_is_told_and_nothing_is_sent() {
    let screen = check("/nothing", "there is no command `/nothing`; /help lists them").await;
    assert!(screen.stage.requests().is_empty());
}

#[tokio::test]
async fn numbers_of_the_session_are_told() {
    check("/context", "no model was called yet").await;
    let screen = check("/cost", "output     0 tokens").await;
    screen.line("/ps");
    screen.wait_for("no task runs").await;
    screen.line("/kill 7");
    screen.wait_for("there is no task 7").await;
    screen.line("/timeout 5m");
    screen.wait_for("no task runs").await;
}

#[tokio::test]
async fn modes_change_and_show_in_the_status() {
    let screen = idle().await;
    screen.keys(&["BTab"]);
    screen.wait_for("· accepts edits").await;
    screen.keys(&["BTab"]);
    screen.wait_for("· plan").await;
    screen.line("/plan off");
    screen.wait_for("plan mode is off").await;
    screen.line("/approve all");
    screen.wait_for("· approves all").await;
    screen.line("/approve nonsense");
    screen.wait_for("say /approve ask, edits, all, none").await;
}

#[tokio::test]
async fn a_theme_is_picked_with_arrows() {
    let screen = idle().await;
    screen.line("/theme");
    screen.wait_for("❯ dark").await;
    screen.keys(&["Down", "Enter"]);
    screen.wait_for("theme: light").await;
    screen.line("/theme none");
    screen.wait_for("there is no theme `none`; there are dark, light, terminal").await;
}

#[tokio::test]
async fn another_conversation_is_begun_and_the_first_is_gone_back_to() {
    let screen = idle().await;
    screen.line("first");
    screen.wait_for("Answer.").await;
    screen.line("/rename the first one");
    screen.wait_for("title: the first one").await;
    screen.line("/new");
    screen.wait_for("a new conversation").await;
    screen.line("second");
    screen.wait_for("Again.").await;
    screen.line("/session");
    screen.wait_for("arrows choose").await;
    screen.text("first");
    screen.keys(&["Enter"]);
    screen.wait_until("the first conversation", |shown| shown.matches("Answer.").count() == 2).await;
}

#[tokio::test]
async fn a_task_in_the_background_asks_in_the_foreground_and_tells_its_end() {
    let turns = [turn().text("Hello."), making("made")[0].clone(), making("made")[1].clone()];
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("hi");
    screen.wait_for("Hello.").await;
    screen.line("make it &");
    screen.wait_for_question("$ mkdir made -- approve?").await;
    screen.keys(&["y"]);
    let told = screen.wait_for("task 2 done: make it").await;
    assert!(told.contains("So be it."), "{told}");
    assert!(screen.stage.home.work().join("made").is_dir());
}

#[tokio::test]
async fn the_keys_are_shown_at_a_question_mark_and_leaving_needs_two_presses() {
    let screen = idle().await;
    screen.keys(&["?"]);
    screen.wait_for("ctrl-g  edit in your editor").await;
    screen.keys(&["C-c"]);
    screen.wait_for("press ctrl-c again to leave").await;
    screen.keys(&["C-c"]);
    screen.wait_for("go on with: buddy resume").await;
}

#[tokio::test]
async fn quit_has_three_names() {
    for name in ["/quit", "/exit", "/q"] {
        check(name, "go on with: buddy resume").await;
    }
}
