//! `buddy undo`, after real calls of a scripted model.

use buddy_testkit::model::turn;
use serde_json::{Value, json};

use crate::stage::Stage;

async fn edited() -> Stage {
    let call = json!({"path": "a.txt", "old": "one", "new": "two"});
    let stage = Stage::new([turn().call("edit_file", call), turn().text("Done.")]).await;
    std::fs::write(stage.home.work().join("a.txt"), "one\n").unwrap();
    stage
}

fn text(stage: &Stage) -> String {
    std::fs::read_to_string(stage.home.work().join("a.txt")).unwrap()
}

#[tokio::test]
async fn takes_back_what_a_call_changed_and_gives_it_again() {
    let stage = edited().await;
    stage.completed("edit").await;
    assert_eq!(text(&stage), "two\n");
    let listed = stage.buddy(["undo", "--list", "--json"]).run().await.expect_code(0);
    let entries: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!((&entries[0]["changes"], &entries[0]["header"]["label"]), (&json!(1), &json!("edit a.txt")));
    // Nobody can be asked here, so nothing happens without `--yes`.
    stage.buddy(["undo"]).run().await.expect_code(1);
    assert_eq!(text(&stage), "two\n");
    let undone = stage.buddy(["undo", "--yes", "--json"]).run().await.expect_code(0);
    assert_eq!(text(&stage), "one\n");
    let report: Value = serde_json::from_slice(&undone.stdout).unwrap();
    assert_eq!(report["done"], json!(true));
    stage.buddy(["undo", report["id"].as_str().unwrap(), "--yes"]).run().await.expect_code(0);
    assert_eq!(text(&stage), "two\n");
}

#[tokio::test]
async fn tells_of_what_somebody_changed_since() {
    let stage = edited().await;
    stage.completed("edit").await;
    std::fs::write(stage.home.work().join("a.txt"), "mine\n").unwrap();
    let refused = stage.buddy(["undo", "--yes"]).run().await.expect_code(1);
    assert!(refused.stderr.contains("conflict"), "{refused}");
    assert_eq!(text(&stage), "mine\n");
    stage.buddy(["undo", "--yes", "--force"]).run().await.expect_code(0);
    assert_eq!(text(&stage), "one\n");
    stage.buddy(["undo", "nonsense", "--yes"]).run().await.expect_code(1);
}

#[tokio::test]
async fn a_kill_between_keeping_and_changing_leaves_nothing_to_undo() {
    let stage = edited().await;
    let killed = stage.exec(["edit"]).env("BUDDY_KILL_AT", "undo.kept").run().await;
    assert_eq!(killed.signal, Some(9), "{killed}");
    assert_eq!(text(&stage), "one\n");
    let undone = stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert!(undone.stderr.contains("already as it was"), "{undone}");
    assert_eq!(text(&stage), "one\n");
}

#[tokio::test]
async fn an_undo_that_was_killed_is_run_again() {
    let stage = edited().await;
    stage.completed("edit").await;
    let killed = stage.buddy(["undo", "--yes"]).env("BUDDY_KILL_AT", "undo.step").run().await;
    assert_eq!(killed.signal, Some(9), "{killed}");
    stage.buddy(["undo", "--yes"]).run().await.expect_code(0);
    assert_eq!(text(&stage), "one\n");
}
