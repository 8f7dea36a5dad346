//! `buddy exec` on a terminal: the calls are shown as in a conversation, and nobody is asked.

use buddy_testkit::model::turn;

use super::Screen;
use super::size::{Size, at_each_size};
use crate::stage::{Stage, run};

at_each_size!(denied);

async fn stage() -> Stage {
    let read = turn().call("read_file", serde_json::json!({"path": "notes.md"}));
    let stage = Stage::new(vec![read, run("mkdir made"), turn().text("I could not make it.")]).await;
    std::fs::write(stage.home.work().join("notes.md"), "one\ntwo\n").unwrap();
    stage
}

async fn denied(size: Size) {
    let arguments = ["exec", "--trust", "--approve", "none", "make it"];
    let screen = Screen::bare(stage().await, &arguments, size.columns, size.rows, &[]);
    screen.wait_dead().await;
    let shown = screen.everything();
    let shown: Vec<&str> = shown.lines().filter(|line| !line.starts_with("Pane is dead")).collect();
    let shown = shown.join("\n");
    size.check("exec_denied", shown.trim_end());
    assert!(!screen.stage.home.work().join("made").exists());
    let flow = super::flowing(&shown);
    let (_, pattern) = flow.split_once("--allow \"").unwrap();
    let pattern = pattern.split('"').next().unwrap().to_owned();
    let again = self::stage().await;
    again
        .buddy(["exec", "--trust", "--approve", "none", "--allow", &pattern, "make it"])
        .run()
        .await
        .expect_code(0);
    assert!(again.home.work().join("made").exists(), "the offered pattern allows it");
}

#[tokio::test]
async fn a_pipe_gets_plain_lines() {
    let stage = stage().await;
    let finished =
        stage.buddy(["exec", "--trust", "--approve", "none", "make it"]).run().await.expect_code(5);
    assert!(finished.stderr.contains("session ses_") && !finished.stderr.contains('\u{1b}'), "{finished}");
    assert_eq!(finished.text(), "I could not make it.\n");
}
