//! Which commands can be given while a turn runs.

use buddy_testkit::model::turn;

use crate::screen::Screen;

#[tokio::test]
async fn a_command_for_when_nothing_runs_says_so_and_others_are_carried_out() {
    let screen = Screen::start([turn().text("I begin.").gate("end").text(" The end.")], 100, 50).await;
    screen.line("work");
    screen.wait_for("I begin.").await;
    for name in ["compact", "rewind", "undo", "login"] {
        screen.line(&format!("/{name}"));
        screen.wait_for(&format!("/{name} waits for the end of the turn; esc interrupts it")).await;
    }
    for (line, shown) in [
        ("/status", "plan only  no"),
        ("/context", "no model was called yet"),
        ("/ps", "task 1  0s  this conversation"),
        ("/approve edits", "· accepts edits"),
        ("/rename at work", "title: at work"),
        ("/theme light", "theme: light"),
    ] {
        screen.line(line);
        screen.wait_for(shown).await;
    }
    let working = screen.wait_for("● working").await;
    assert!(!working.contains("go back before:") && !working.contains("API key"), "{working}");
    screen.stage.server.gate("end").open();
    screen.wait_for("I begin. The end.").await;
    screen.wait_idle().await;
    assert_eq!(screen.stage.requests().len(), 1, "nothing was summed up or said");
    screen.line("/rewind");
    screen.wait_for("go back before:").await;
}

#[tokio::test]
async fn help_and_leaving_are_there_while_a_turn_runs() {
    let screen = Screen::start([turn().text("I begin.").gate("end")], 100, 60).await;
    screen.line("work");
    screen.wait_for("I begin.").await;
    screen.line("/help");
    screen.wait_for("/quit").await;
    screen.line("/quit");
    screen.wait_for("go on with: buddy resume").await;
    screen.stage.server.gate("end").open();
}
