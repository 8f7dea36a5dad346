//! Taking back what was changed on another host.

use buddy_testkit::model::turn;
use serde_json::{Value, json};

use super::yard::{Machine, shell_on};
use crate::stage::Stage;

/// A session that edits, makes, moves and removes files over there.
async fn changed(machine: &Machine) -> Stage {
    let at = |name: &str| json!({"path": name, "target": "ssh:machine"});
    let with = |name: &str, more: &[(&str, &str)]| {
        let mut input = at(name);
        for (key, value) in more {
            input[*key] = json!(value);
        }
        input
    };
    let patch = "*** Begin Patch\n*** Update File: old\n*** Move to: new\n@@\n-text\n+other\n*** End Patch";
    let stage = Stage::new([
        turn().call("edit_file", with("a.txt", &[("old", "one"), ("new", "two")])),
        turn().call("write_file", with("deep/er/b.txt", &[("content", "made\n")])),
        turn().call("apply_patch", json!({"patch": patch, "target": "ssh:machine"})),
        turn().call("delete_path", at("gone.txt")),
        turn().call("delete_path", json!({"path": "tree", "recursive": true, "target": "ssh:machine"})),
        turn().call("run_shell", shell_on("ssh:machine", "touch by-command")),
        turn().text("Done."),
    ])
    .await;
    for (name, text) in [("a.txt", "one\n"), ("old", "text\n"), ("gone.txt", "kept\n")] {
        std::fs::write(machine.path(name), text).unwrap();
    }
    std::fs::create_dir(machine.path("tree")).unwrap();
    std::fs::write(machine.path("tree/leaf"), "x").unwrap();
    machine.known_to(stage.exec(["work", "--local", "--ssh", &machine.flag()])).run().await.expect_code(0);
    stage
}

fn text(machine: &Machine, name: &str) -> Option<String> {
    std::fs::read_to_string(machine.path(name)).ok()
}

#[tokio::test]
async fn what_file_tools_changed_over_there_is_put_back_through_the_host() {
    let machine = Machine::new();
    let stage = changed(&machine).await;
    let results = stage.results();
    let status: Vec<&str> =
        results.iter().map(|result| result["result"]["undo"].as_str().unwrap_or("-")).collect();
    let kept = "kept for undo";
    let command = "what a command changes on another host is not kept for undo";
    assert_eq!(status, [kept, kept, kept, kept, "not kept for undo", command], "{results:#?}");
    let listed = stage.buddy(["undo", "--list"]).run().await.expect_code(0).text();
    assert_eq!(listed.lines().filter(|line| line.contains("  ssh:machine  ")).count(), 6, "{listed}");
    assert_eq!(listed.lines().filter(|line| line.contains("  not kept  ")).count(), 2, "{listed}");
    // A command over there is named, and nothing is needed of the host for that.
    let command = stage.buddy(["undo", "--yes"]).env("PATH", "/nowhere").run().await.expect_code(1);
    command.expect_stderr("undo cannot restore this change: touch by-command");
    assert!(machine.path("by-command").exists() && !machine.path("gone.txt").exists());
    let listed = stage.buddy(["undo", "--list", "--json"]).run().await.expect_code(0);
    let entries: Value = serde_json::from_slice(&listed.stdout).unwrap();
    for entry in entries.as_array().unwrap().iter().skip(2) {
        let id = entry["header"]["id"].as_str().unwrap();
        machine.known_to(stage.buddy(["undo", id, "--yes"])).run().await.expect_code(0);
    }
    assert_eq!(text(&machine, "a.txt").as_deref(), Some("one\n"));
    assert_eq!((text(&machine, "old").as_deref(), text(&machine, "new")), (Some("text\n"), None));
    assert_eq!(text(&machine, "gone.txt").as_deref(), Some("kept\n"));
    assert!(!machine.path("deep").exists(), "directories that were made on the way are gone too");
    assert!(!machine.path("tree").exists(), "what was not kept stays as it is");
}

#[tokio::test]
async fn what_somebody_changed_there_since_is_a_conflict_and_an_undo_can_be_undone() {
    let machine = Machine::new();
    let stage = changed(&machine).await;
    let listed = stage.buddy(["undo", "--list", "--json"]).run().await.expect_code(0);
    let entries: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let edited = entries.as_array().unwrap().last().unwrap()["header"]["id"].as_str().unwrap().to_owned();
    std::fs::write(machine.path("a.txt"), "three\n").unwrap();
    let refused = machine.known_to(stage.buddy(["undo", &edited, "--yes"])).run().await.expect_code(1);
    refused.expect_stderr("conflict");
    assert_eq!(text(&machine, "a.txt").as_deref(), Some("three\n"));
    let forced = stage.buddy(["undo", &edited, "--yes", "--force", "--json"]);
    let forced = machine.known_to(forced).run().await.expect_code(0);
    assert_eq!(text(&machine, "a.txt").as_deref(), Some("one\n"));
    let report: Value = serde_json::from_slice(&forced.stdout).unwrap();
    let back = stage.buddy(["undo", report["id"].as_str().unwrap(), "--yes"]);
    machine.known_to(back).run().await.expect_code(0);
    assert_eq!(text(&machine, "a.txt").as_deref(), Some("three\n"));
    let away = stage.buddy(["undo", &edited, "--yes"]).env("PATH", "/nowhere").run().await.expect_code(1);
    away.expect_stderr("`ssh:machine` is needed to undo");
}
