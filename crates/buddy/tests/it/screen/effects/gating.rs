//! Which commands can be given while a turn runs.

use buddy_testkit::model::turn;
use serde_json::json;

use crate::screen::Screen;
use crate::stage::{Stage, done, shell};

#[tokio::test]
async fn a_command_for_when_nothing_runs_is_done_at_the_end_and_others_at_once() {
    let screen = Screen::start([turn().text("I begin.").gate("end").text(" The end.")], 100, 50).await;
    screen.line("work");
    screen.wait_for("I begin.").await;
    for (count, name) in (1..).zip(["undo", "rewind"]) {
        screen.line(&format!("/{name}"));
        let later = "This runs when the turn has ended";
        screen.wait_until(later, |shown| shown.matches(later).count() == count).await;
    }
    for (line, shown) in [
        ("/status", "plan only  no"),
        ("/context", "no model call yet"),
        ("/ps", "task 0  0s  this conversation"),
        ("/approve edits", "Accept edits ──"),
        ("/rename at work", "title: at work"),
        ("/theme light", "Theme: light"),
    ] {
        screen.line(line);
        screen.wait_for(shown).await;
    }
    let working = screen.wait_until("work", crate::screen::is_working).await;
    assert!(
        !working.contains("Go back before a prompt") && !working.contains("nothing to undo"),
        "{working}"
    );
    screen.stage.server.gate("end").open();
    screen.wait_for("I begin. The end.").await;
    screen.wait_for("There is nothing to undo in this conversation.").await;
    screen.wait_for("Go back before a prompt").await;
    assert_eq!(screen.stage.requests().len(), 1, "nothing was said to the agent");
}

#[tokio::test]
async fn help_and_leaving_are_there_while_a_turn_runs() {
    let screen = Screen::start([turn().text("I begin.").gate("end")], 100, 60).await;
    screen.line("work");
    screen.wait_for("I begin.").await;
    screen.line("/help");
    screen.wait_for("/quit").await;
    screen.line("/quit");
    screen.wait_for("Leaving stops the agent's work. Do it again to leave").await;
    screen.line("/quit");
    screen.wait_for("Resume with  buddy resume").await;
    screen.stage.server.gate("end").open();
}

#[tokio::test]
async fn leaving_says_that_a_background_command_would_be_stopped() {
    let mut command = shell("sleep 600");
    command["wait"] = json!("100ms");
    let stage = Stage::new([turn().call("run_shell", command), done()]).await;
    let screen = Screen::on(stage, &["--trust", "--approve", "all"], 100, 30).await;
    screen.line("work");
    screen.wait_for("So be it.").await;
    screen.wait_idle().await;
    screen.keys(&["C-d"]);
    screen.wait_for("Leaving stops 1 background command. Do it again to leave").await;
    screen.keys(&["C-d"]);
    screen.wait_for("Resume with  buddy resume").await;
}
