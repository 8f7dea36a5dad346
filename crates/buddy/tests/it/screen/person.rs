//! Actions of a user besides talking, on a screen.

use buddy_testkit::model::turn;
use serde_json::json;

use super::Screen;
use crate::stage::shell;

#[tokio::test]
async fn a_command_of_the_person_shows_its_output_as_it_comes_and_stays() {
    let screen = Screen::start([turn().text("I saw it.")], 80, 24).await;
    screen.line("!echo first; while [ ! -e go ]; do sleep 0.05; done; echo last");
    let live = screen.wait_for("esc stops it").await;
    assert!(live.contains("! echo first"), "{live}");
    screen.wait_until("its output", |screen| screen.lines().any(|line| line.trim() == "first")).await;
    std::fs::write(screen.stage.home.work().join("go"), "").unwrap();
    screen.wait_gone("esc stops it").await;
    let ended = screen.wait_until("its end", |screen| screen.lines().any(|line| line.trim() == "last")).await;
    assert!(ended.lines().any(|line| line.trim() == "first"), "{ended}");
    screen.line("did you see?");
    screen.wait_for("I saw it.").await;
    let seen = crate::stage::said(&screen.stage.requests()[0].body, "user").join("");
    assert!(seen.contains("<output>\nfirst\nlast\n</output>"), "{seen}");
}

#[tokio::test]
async fn all_lines_of_a_long_output_are_counted() {
    let turns = [turn().call("run_shell", shell("seq 1 20000")), turn().text("Counted.")];
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("/approve all");
    screen.line("count");
    let shown = screen.wait_for("Counted.").await;
    assert!(shown.contains("seq 1 20000  20000 lines"), "{shown}");
}

#[tokio::test]
async fn escape_stops_a_command_of_the_person() {
    let screen = Screen::start([], 80, 24).await;
    screen.line("!sleep 60");
    screen.wait_for("esc stops it").await;
    screen.keys(&["Escape"]);
    screen.wait_for("stopped by the user").await;
    screen.line("!");
    screen.wait_for("Put a command after !").await;
}

#[tokio::test]
async fn shift_tab_goes_from_asking_to_accepting_edits_to_planning() {
    let write = json!({"path": "made.txt", "content": "new\n"});
    let turns = [turn().call("write_file", write), turn().text("Written.")];
    let screen = Screen::start(turns, 80, 24).await;
    screen.keys(&["BTab"]);
    screen.wait_for("Accept edits ──").await;
    screen.line("write it");
    let shown = screen.wait_for("Written.").await;
    assert!(!shown.contains("Run this command?"), "{shown}");
    assert_eq!(screen.stage.home.text("made.txt"), "new\n");
    screen.wait_idle().await;
    screen.keys(&["BTab"]);
    screen.wait_for("Plan only ╌╌").await;
    screen.keys(&["BTab"]);
    let asking = screen.wait_gone("Plan only ╌╌").await;
    assert!(!asking.contains("Accept edits ──"), "{asking}");
}

#[tokio::test]
async fn a_command_of_the_person_goes_to_the_background_and_is_told_to_the_agent_when_it_ends() {
    let screen = Screen::start([turn().text("I saw it.")], 80, 24).await;
    screen.line("!while [ ! -e go ]; do sleep 0.05; done; echo last");
    screen.wait_for("esc stops it").await;
    screen.keys(&["C-b"]);
    let shown = screen.wait_for("task 1 runs in the background").await;
    assert!(!shown.contains("esc stops it"), "{shown}");
    // The stop is for the command in the foreground.
    screen.keys(&["C-c"]);
    screen.wait_for("Press ctrl+c again to leave").await;
    screen.line("/ps");
    screen.wait_until("the list", |screen| screen.lines().any(|line| line.starts_with("  task 1  "))).await;
    std::fs::write(screen.stage.home.work().join("go"), "").unwrap();
    screen.wait_until("its end", |screen| screen.lines().any(|line| line.trim() == "last")).await;
    screen.line("did you see?");
    screen.wait_for("I saw it.").await;
    let seen = crate::stage::said(&screen.stage.requests()[0].body, "user").join("");
    assert!(seen.contains("<output>\nlast\n</output>"), "{seen}");
    screen.line("!sleep 60");
    screen.wait_for("esc stops it").await;
    screen.keys(&["C-b"]);
    screen.wait_for("task 2 runs in the background").await;
    screen.line("/kill 2");
    screen.wait_for("stopped by the user").await;
}

#[tokio::test]
async fn a_turn_goes_to_the_background_as_a_whole_and_tells_its_end() {
    let turns = [
        turn().text("Known from before."),
        turn().call("run_shell", shell("while [ ! -e go ]; do sleep 0.05; done; echo built")),
        turn().text("Here I answer meanwhile."),
        turn().text("The build is done."),
    ];
    let screen = Screen::start(turns, 80, 24).await;
    screen.line("remember this");
    screen.wait_for("Known from before.").await;
    screen.wait_idle().await;
    screen.line("build it");
    // The command only reads and waits, so nobody is asked about it.
    screen.wait_for("ctrl+b background").await;
    screen.keys(&["C-b"]);
    let shown = screen.wait_for("task 1 continues in the background").await;
    assert_eq!(
        shown.matches("Known from before.").count(),
        1,
        "what is on the screen is not said again: {shown}"
    );
    screen.wait_for("1 in the background").await;
    screen.line("and now?");
    screen.wait_for("Here I answer meanwhile.").await;
    let seen = crate::stage::said(&screen.stage.requests()[2].body, "user").join("|");
    assert!(seen.contains("remember this|") && !seen.contains("build it"), "{seen}");
    std::fs::write(screen.stage.home.work().join("go"), "").unwrap();
    let done = screen.wait_for("task 1 done: build it").await;
    assert!(done.contains("task 1 done: build it\n● The build is done.\n"), "{done}");
    screen.wait_gone("1 in the background").await;
}
