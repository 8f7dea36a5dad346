//! Other conversations: begun, gone back to, named, summed up.

use buddy_protocol::Content;
use buddy_testkit::model::turn;

use crate::screen::Screen;
use crate::stage::said;

/// A conversation with one turn, and what is answered next.
async fn talked() -> Screen {
    let turns = [turn().text("First answer."), turn().text("Second answer."), turn().text("Third answer.")];
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("first words");
    screen.wait_for("First answer.").await;
    screen.wait_idle().await;
    screen
}

/// The user's words in the last request, without the remarks of buddy's own.
fn last_said(screen: &Screen) -> Vec<String> {
    let request = screen.stage.requests().pop().unwrap().body;
    said(&request, "user")
}

/// Begins another conversation with this command, and goes back with that one, in which `ID` stands for the first.
async fn check_there_and_back(new: &str, back: &str) {
    let screen = talked().await;
    let first = screen.stage.log().await.remove(0).session.to_string();
    screen.line(new);
    // The menu of commands says the same words beside a name.
    let is_new = |shown: &str| shown.lines().any(|line| line == "  This is a new conversation.");
    screen.wait_until("This is a new conversation", is_new).await;
    screen.line("other words");
    screen.wait_for("Second answer.").await;
    screen.wait_idle().await;
    assert_eq!(last_said(&screen), ["other words"], "nothing of the first conversation is known");
    screen.line(&back.replace("ID", &first));
    screen.wait_until("the first conversation", |shown| shown.matches("First answer.").count() == 2).await;
    screen.line("more words");
    screen.wait_for("Third answer.").await;
    assert_eq!(last_said(&screen), ["first words", "more words"]);
}

#[tokio::test]
async fn a_conversation_is_gone_back_to_by_its_id() {
    check_there_and_back("/new", "/resume ID").await;
}

#[tokio::test]
async fn the_last_conversation_is_gone_back_to() {
    check_there_and_back("/clear", "/resume last").await;
}

#[tokio::test]
async fn session_has_commands_of_its_own_for_that() {
    check_there_and_back("/session new", "/session resume ID").await;
}

#[tokio::test]
async fn the_last_conversation_is_the_last_one_beside_this() {
    check_there_and_back("/new", "/session resume last").await;
    let alone = Screen::start([], 80, 24).await;
    alone.line("/resume last");
    alone.wait_for("There is no other conversation.").await;
    alone.line("/resume ses_nonsense");
    alone.wait_for_words("/session lists them").await;
}

#[tokio::test]
async fn a_title_stays_with_the_conversation() {
    let screen = talked().await;
    screen.line("/rename about boats");
    screen.wait_for("title: about boats").await;
    screen.line("/status");
    let status = screen.wait_for("tools      run_shell").await;
    let (above, _) = status.split_once("tools  ").unwrap();
    insta::assert_snapshot!("status", above.replace(&screen.stage.server.url(), "http://SERVER"));
    screen.leave().await;
    assert_eq!(screen.stage.only_log().await.transcript.title(), Some("about boats"));
}

#[tokio::test]
async fn what_was_said_is_summed_up_for_the_model_and_stays_in_the_log() {
    let turns = [turn().text("First answer."), turn().text("They met."), turn().text("Yes.")];
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("first words");
    screen.wait_for("First answer.").await;
    screen.wait_idle().await;
    screen.line("/compact");
    screen.wait_for("Summarised the conversation").await;
    screen.wait_idle().await;
    screen.line("and now?");
    screen.wait_for("Yes.").await;
    let request = screen.stage.requests().pop().unwrap().body["messages"].to_string();
    assert!(request.contains("They met.") && !request.contains("First answer."), "{request}");
    screen.wait_idle().await;
    screen.leave().await;
    let log = screen.stage.only_log().await;
    let is_old =
        |content: &Content| matches!(content, Content::AgentMessage { text } if text == "First answer.");
    assert!(log.transcript.items().iter().any(|item| is_old(&item.content)));
}

#[tokio::test]
async fn init_asks_the_agent_for_the_file() {
    let screen = talked().await;
    screen.line("/init");
    screen.wait_for("Second answer.").await;
    assert!(last_said(&screen)[1].starts_with("Write an AGENTS.md"), "{:?}", last_said(&screen));
}
