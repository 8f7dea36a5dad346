//! Two terminals on one session: one works in it, the other reads along on a screen of its own and takes it over.

use buddy_testkit::model::{Turn, turn};
use rustix::process::{Pid, Signal, kill_process};

use super::Screen;
use crate::stage::Stage;
use crate::two_terminals::{check_left_behind, check_untouched, left_open, offering, reading_along};

/// A session that had a turn, open on two screens: the owner first, then the reader.
async fn two_screens(turns: impl IntoIterator<Item = Turn>) -> (Screen, Screen) {
    let turns = std::iter::once(turn().text("Hello.")).chain(turns).collect::<Vec<_>>();
    let stage = Stage::new(turns).await;
    let session = stage.completed("hi").await.session();
    let owner = Screen::on(stage, &["resume", &session, "--trust"], 100, 40).await;
    let reader = owner.beside(&["resume", &session]).await;
    reader.wait_for_words("You read along").await;
    (owner, reader)
}

impl Screen {
    /// Kills buddy.
    async fn kill(&self) {
        let pane = self.tmux(&["display-message", "-p", "-t", "screen", "#{pane_pid}"]).stdout;
        let process = Pid::from_raw(String::from_utf8(pane).unwrap().trim().parse().unwrap()).unwrap();
        kill_process(process, Signal::KILL).unwrap();
        self.wait_dead().await;
    }
}

#[tokio::test]
async fn a_screen_reads_along_event_by_event() {
    let (owner, reader) = two_screens(reading_along()).await;
    owner.line("look around");
    owner.wait_for("Half").await;
    reader.wait_for_words("look around").await;
    // The message streamed on the owner's screen; the reader has it with its end.
    reader.wait_for("I look first.").await;
    reader.wait_for("found.txt").await;
    let shown = reader.screen();
    assert!(!shown.contains("So be it."), "the turn still runs:\n{shown}");
    assert!(owner.stage.only_log().await.transcript.turn().is_some(), "the turn still runs");
    owner.stage.server.gate("held").open();
    owner.wait_for("of it. So be it.").await;
    reader.wait_for("Half of it. So be it.").await;
    reader.wait_idle().await;
}

#[tokio::test]
async fn leaving_while_reading_along_stops_nothing() {
    let (owner, reader) = two_screens(reading_along()).await;
    owner.line("look around");
    reader.wait_for("I look first.").await;
    reader.keys(&["C-d"]);
    reader.wait_dead().await;
    let shown = reader.everything();
    assert!(!shown.contains("Leaving stops"), "{shown}");
    owner.stage.server.gate("held").open();
    owner.wait_for("of it. So be it.").await;
}

#[tokio::test]
async fn a_reader_can_neither_answer_nor_interrupt_nor_prompt() {
    let (owner, reader) = two_screens(offering()).await;
    owner.line("make it");
    owner.wait_for_question("▌ mkdir made").await;
    reader.wait_for_question("▌ mkdir made").await;
    let refusals = |screen: &str| super::flowing(screen).matches("so this was not sent").count();
    reader.keys(&["y"]);
    reader.wait_until("a refusal", |screen| refusals(screen) == 1).await;
    reader.keys(&["C-c"]);
    reader.wait_until("two refusals", |screen| refusals(screen) == 2).await;
    reader.line("use another name");
    let shown = reader.wait_until("three refusals", |screen| refusals(screen) == 3).await;
    assert!(super::flowing(&shown).contains("is in use by process"), "{shown}");
    assert!(shown.contains("› use another name"), "the prompt comes back:\n{shown}");
    check_untouched(&owner.stage).await;
    owner.keys(&["y"]);
    owner.wait_for("So be it.").await;
    reader.wait_for("So be it.").await;
    assert!(owner.stage.home.work().join("made").exists());
    // It is free as soon as its owner has left.
    owner.leave().await;
    owner.wait_dead().await;
    reader.keys(&["Escape", "C-u"]);
    reader.line("and now?");
    reader.wait_for("Here I am.").await;
}

#[tokio::test]
async fn a_reader_takes_over_from_an_owner_that_was_killed() {
    let (owner, reader) = two_screens(left_open()).await;
    owner.line("make it");
    owner.wait_for_question("▌ touch begun").await;
    owner.keys(&["y"]);
    owner.stage.wait_for_work("begun").await;
    reader.wait_for_question("▌ mkdir made").await;
    owner.kill().await;
    let before = owner.stage.only_log().await;
    assert_eq!(before.transcript.asks().len(), 1, "the question is still open");
    reader.line("what now?");
    reader.wait_for("I go on.").await;
    let shown = reader.wait_idle().await;
    assert!(!shown.contains("▌ mkdir made"), "the question is gone:\n{shown}");
    check_left_behind(&owner.stage, &before).await;
}

#[tokio::test]
async fn another_model_and_mode_are_not_set_in_a_session_in_use() {
    let turns = std::iter::once(turn().text("Hello.")).chain(reading_along()).collect::<Vec<_>>();
    let stage = Stage::new(turns).await;
    let session = stage.completed("hi").await.session();
    let owner = Screen::on(stage, &["resume", &session, "--trust"], 100, 40).await;
    let before = owner.stage.only_log().await.events.len();
    let reader = owner.beside(&["resume", &session, "-m", "other", "--approve", "all"]).await;
    reader.wait_for_words("did not change its model and approval mode").await;
    reader.wait_for_words("You read along").await;
    assert_eq!(owner.stage.only_log().await.events.len(), before, "nothing was changed");
    let status = reader.screen();
    assert!(status.contains("scripted"), "the model in use is shown:\n{status}");
}
