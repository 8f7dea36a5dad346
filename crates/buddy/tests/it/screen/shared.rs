//! Messages about shared terminals while rows are painted: each is a notice of the session, and nothing writes past the
//! screen.

use buddy_protocol::Fact;
use buddy_testkit::program::Started;
use buddy_testkit::ssh_host::SshHost;

use super::Screen;
use crate::stage::Stage;

const TOLD: &str = "commands run without a shared terminal there";

/// A stage on which another buddy has the shared terminal of this machine for as long as it talks.
async fn occupied() -> (Stage, Started) {
    let stage = Stage::new(vec![]).await;
    let mut first = stage.buddy(["--tmux"]).env("BUDDY_ENV", "production").converse();
    first.stderr.wait_for("> ", 1).await;
    (stage, first)
}

/// It is on the screen once, above the prompt, and in the log.
async fn check_told(screen: &Screen) {
    let words = |shown: &str| shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = screen.wait_until("the words", |shown| words(shown).contains(TOLD)).await;
    assert_eq!(words(&shown).matches(TOLD).count(), 1, "{shown}");
    screen.wait_until("a prompt", super::has_prompt).await;
    let logs = screen.stage.log().await;
    let facts = logs.iter().flat_map(|log| &log.events).map(|event| &event.fact);
    let told = facts.filter(|fact| matches!(fact, Fact::Notice(notice) if notice.text.contains(TOLD)));
    assert_eq!(told.count(), 1);
}

#[tokio::test]
async fn a_terminal_that_another_buddy_has_is_told_when_a_conversation_begins() {
    let (stage, first) = occupied().await;
    let screen = Screen::bare(stage, &["-c", "tmux.enabled=true", "--trust"], 80, 24, &[]);
    check_told(&screen).await;
    screen.keys(&["C-d"]);
    screen.wait_dead().await;
    first.finish().await.expect_code(0);
}

#[tokio::test]
async fn and_when_this_machine_comes_later() {
    let host = SshHost::start().unwrap();
    let (stage, first) = occupied().await;
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", host.client_folder().unwrap().display());
    let arguments = ["-c", "tmux.enabled=true", "--ssh", "machine"];
    let screen = Screen::bare(stage, &arguments, 80, 24, &[("PATH", &path)]);
    screen.wait_until("a prompt", super::has_prompt).await;
    assert!(!screen.everything().contains("without a shared"));
    screen.line("/target add local");
    check_told(&screen).await;
    screen.keys(&["C-d"]);
    screen.wait_dead().await;
    first.finish().await.expect_code(0);
}
