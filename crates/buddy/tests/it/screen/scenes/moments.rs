//! Further moments of a conversation: the empty start, files and models to choose from, tasks, a path outside, and the end.

use buddy_testkit::model::turn;
use serde_json::json;

use crate::screen::Screen;
use crate::screen::size::{Size, at_each_size};
use crate::stage::{Stage, run};

at_each_size!(empty_start, mention, models, tasks, outside_path, goodbye);

async fn empty_start(size: Size) {
    let screen = size.start([]).await;
    size.check("empty_start", &screen.screen());
}

async fn mention(size: Size) {
    let stage = Stage::new(vec![]).await;
    for file in
        ["src/parser.rs", "src/parser/number.rs", "tests/parser.rs", "docs/parsing.md", "src/lexer.rs"]
    {
        let path = stage.home.work().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x\n").unwrap();
    }
    let screen = Screen::on(stage, &["--trust"], size.columns, size.rows).await;
    screen.text("does @par");
    size.check("mention", &screen.wait_for_whole("❯ ").await);
    screen.keys(&["Tab"]);
    screen.wait_gone("❯ ").await;
}

async fn models(size: Size) {
    let screen = size.start([]).await;
    screen.line("/model");
    let shown = screen.wait_for_whole("› Type to search").await;
    let url = screen.stage.server.url();
    let port = url.rsplit(':').next().unwrap();
    size.check("pick_model", &shown.replace(port, &"0".repeat(port.len())));
}

async fn tasks(size: Size) {
    let turns = [turn().text("Hello."), turn().gate("trees").text("Nine trees.")];
    let screen = size.start(turns).await;
    screen.line("hi");
    screen.wait_for("Hello.").await;
    screen.wait_idle().await;
    screen.line("count the trees &");
    screen.wait_for("task 1 runs in the background").await;
    screen.stage.server.wait_for_requests(2).await;
    screen.line("/ps");
    let is_listed = |shown: &str| {
        let status = shown.lines().last().is_some_and(|row| row.contains("1 in the background"));
        status && shown.contains("› /ps") && shown.matches("count the trees").count() > 1
    };
    size.check("tasks", &screen.wait_until("the list", is_listed).await);
    screen.stage.server.gate("trees").open();
    screen.wait_for("Nine trees.").await;
}

/// A command that writes outside the workspace, in a directory that an answer can open.
async fn outside_path(size: Size) {
    let stage = Stage::apart(vec![run("mkdir ../beside/made"), turn().text("So be it.")]).await;
    std::fs::create_dir(stage.home.path().join("beside")).unwrap();
    let screen = Screen::on(stage, &["--trust", "--approve", "auto"], size.columns, size.rows).await;
    screen.line("make it");
    size.check("outside_path", &screen.wait_for_question("▌ mkdir ../beside/made").await);
    screen.keys(&["d"]);
    screen.wait_for("So be it.").await;
}

async fn goodbye(size: Size) {
    let edit = json!({"path": "notes.txt", "old": "one", "new": "two"});
    let turns = [turn().call("edit_file", edit), turn().text("It is changed.")];
    let stage = Stage::new(turns.to_vec()).await;
    std::fs::write(stage.home.work().join("notes.txt"), "one\n").unwrap();
    let screen = Screen::on(stage, &["--trust", "--approve", "edits"], size.columns, size.rows).await;
    screen.line("change the notes");
    screen.wait_for("It is changed.").await;
    screen.wait_idle().await;
    screen.line("/rename the notes");
    screen.wait_for("title: the notes").await;
    screen.wait_idle().await;
    screen.leave().await;
    let all = screen.everything();
    let (_, shown) = all.split_once("It is changed.").unwrap();
    // How much of the time buddy worked is told if it was most of it, as on a busy machine.
    let timeless = |row| if str::starts_with(row, "  time") { "  time      0s" } else { row };
    let rows: Vec<&str> =
        shown.lines().filter(|row| !row.starts_with("Pane is dead")).map(timeless).collect();
    size.check("goodbye", rows.join("\n").trim_end());
}
