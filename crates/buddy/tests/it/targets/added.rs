//! Directories that a run adds, which are directories of this machine.

use std::path::Path;

use buddy_testkit::home::apart_from_scratch;
use buddy_testkit::model::turn;
use serde_json::json;

use super::yard::Machine;
use crate::stage::{Stage, UNCHECKED, done};

#[tokio::test]
async fn a_directory_that_is_added_means_nothing_on_another_host() {
    let machine = Machine::new();
    // Outside the places for temporary files, which are open on every host.
    let beside = tempfile::tempdir_in(apart_from_scratch(Path::new(env!("CARGO_TARGET_TMPDIR")))).unwrap();
    let writing = |name: &str, target: &str| {
        let path = beside.path().join(name);
        turn().call("write_file", json!({"path": path, "content": "x", "target": target}))
    };
    let stage = Stage::apart([writing("here", "local"), writing("there", "ssh:machine"), done()]).await;
    let arguments =
        ["exec", "--trust", "go", "--permission-mode", "edits", "--local", "--ssh", &machine.flag()];
    let program = stage.buddy(arguments).args(UNCHECKED).arg("--add-dir").arg(beside.path());
    machine.known_to(program).run().await.expect_code(5);
    assert!(
        beside.path().join("here").exists() && !beside.path().join("there").exists(),
        "{:#?}",
        stage.results()
    );
}
