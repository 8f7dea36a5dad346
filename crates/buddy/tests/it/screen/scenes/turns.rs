//! Turns: with tools, interrupted, in the background, and in a window whose size changes.

use buddy_testkit::model::turn;
use serde_json::json;

use crate::screen::size::{Size, at_each_size};
use crate::screen::{making, numbered, streaming};
use crate::stage::shell;

at_each_size!(turn_with_tools, interrupt, background, several_agents, resize_in_mid_stream);

async fn turn_with_tools(size: Size) {
    let edit = json!({"path": "notes.txt", "old": "one", "new": "two"});
    let turns = [
        turn()
            .text("I look around.")
            .call("list_directory", json!({"path": "."}))
            .call("run_shell", shell("seq 1 30; exit 3")),
        turn().text("Now I change it.").call("edit_file", edit),
        turn().text("Done:\n\n| file | state |\n|---|---|\n| notes.txt | changed |\n"),
    ];
    let screen = size.start(turns).await;
    std::fs::write(screen.stage.home.work().join("notes.txt"), "zero\none\nthree\n").unwrap();
    screen.line("look");
    screen.wait_for_question("Run this command?").await;
    screen.keys(&["y"]);
    // A narrow window has room for the question alone.
    size.check("edit_question", &screen.wait_for_question("2 + two").await);
    screen.keys(&["y"]);
    screen.wait_for("changed").await;
    screen.wait_idle().await;
    size.check("turn_with_tools", &screen.everything());
    assert_eq!(screen.stage.home.text("notes.txt"), "zero\ntwo\nthree\n");
}

async fn interrupt(size: Size) {
    let turns = [
        turn().text("This is the beginning of a longer story.").gate("rest").text(" Never said."),
        turn().text("Gladly."),
    ];
    let screen = size.start(turns).await;
    screen.line("tell me");
    screen.wait_for_words("a longer story.").await;
    size.check("working", &screen.wait_until("work", crate::screen::is_working).await);
    screen.keys(&["Escape"]);
    screen.wait_for("interrupted").await;
    // A call that was let go of is counted by an estimate, which depends on what the model is told of its tools.
    let shown = screen.wait_idle().await;
    let (above, status) = shown.trim_end().rsplit_once('\n').unwrap();
    assert!(status.trim_end().ends_with('k'), "{status}");
    size.check("interrupt", above);
    screen.line("go on");
    let shown = screen.wait_for("Gladly.").await;
    assert!(!shown.contains("Never said"), "{shown}");
    screen.stage.server.gate("rest").open();
}

async fn background(size: Size) {
    let turns = [
        turn().text("Hello."),
        turn().gate("first").text("The first is done."),
        turn().gate("second").text("The second is done."),
    ];
    let screen = size.start(turns).await;
    screen.line("hi");
    screen.wait_for("Hello.").await;
    screen.wait_idle().await;
    for (number, prompt) in [(1, "count the trees &"), (2, "count the stones &")] {
        screen.line(prompt);
        screen.wait_for(&format!("task {number} runs in the background")).await;
        screen.stage.server.wait_for_requests(number + 1).await;
    }
    screen.text("meanwhile");
    // The status has no room for it in a narrow window.
    let is_told = |shown: &str| shown.contains("2 in the background") || size.columns < 80;
    size.check(
        "background",
        &screen.wait_until("two tasks", |shown| shown.contains("› meanwhile") && is_told(shown)).await,
    );
    screen.stage.server.gate("second").open();
    screen.wait_for("The second is done.").await;
    screen.stage.server.gate("first").open();
    screen.wait_for("The first is done.").await;
    let is_done = |shown: &str| !shown.contains("● task ") && !crate::screen::is_working(shown);
    size.check("background_done", &screen.wait_until("the end of both", is_done).await);
}

async fn several_agents(size: Size) {
    let [making, made] = making("made");
    let turns = [turn().text("Hello."), turn().gate("trees").text("Nine trees."), making, made];
    let screen = size.start(turns).await;
    screen.line("hi");
    screen.wait_for("Hello.").await;
    screen.wait_idle().await;
    screen.line("count the trees &");
    screen.stage.server.wait_for_requests(2).await;
    screen.wait_for("task 1 runs in the background").await;
    screen.line("make it &");
    screen.wait_for_question("▌ mkdir made").await;
    size.check("several_agents", &screen.wait_for_whole("mkdir made").await);
    screen.keys(&["y"]);
    screen.wait_for("So be it.").await;
    assert!(screen.stage.home.work().join("made").is_dir());
    screen.stage.server.gate("trees").open();
    screen.wait_for("Nine trees.").await;
}

async fn resize_in_mid_stream(size: Size) {
    let words = numbered(120);
    let screen = size.start([streaming(&words, &[20, 50, 80])]).await;
    screen.line("stream");
    let (narrower, wider) = (size.columns - size.columns / 4, size.columns + size.columns / 4);
    for (at, columns, rows) in
        [(20, narrower, size.rows), (50, wider, size.rows + 5), (80, narrower, size.rows)]
    {
        screen.resize_at(at, columns, rows).await;
    }
    screen.wait_for("word120").await;
    screen.wait_idle().await;
    screen.check_each_once(&words);
    screen.check_each_once(&["› stream".to_owned()]);
}
