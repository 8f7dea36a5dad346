//! The death of the process that asked for a command.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use buddy_exec::{Exec, TerminalSize};

use crate::stage::{Stage, marker, sh, until_alive, until_gone};

/// Names the marker to the second process, and makes it play the parent.
const ROLE: &str = "BUDDY_EXEC_TEST_PARENT";

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test plays both processes and kills one")]
async fn a_killed_parent_takes_the_whole_tree_with_it() {
    if let Ok(marker) = std::env::var(ROLE) {
        return play_parent(&marker).await;
    }
    let marker = marker();
    let test = "parent::a_killed_parent_takes_the_whole_tree_with_it";
    let mut parent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(ROLE, &marker)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(parent.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.into_iter().any(|line| line.contains("the command runs")));
    until_alive(&format!("sleep\0{marker}"), 6).await;
    parent.kill().unwrap();
    parent.wait().unwrap();
    until_gone(&marker, Duration::from_secs(2)).await;
}

/// Several commands, so that a descriptor that leaks from one into the other would keep it alive.
#[expect(clippy::print_stdout, reason = "the other process reads it")]
async fn play_parent(marker: &str) {
    let stage = Stage::new();
    let daemon = format!("setsid sh -c '(trap \"\" TERM HUP; exec sleep {marker} >&- 2>&-) &'");
    let script = sh(&format!("{daemon}; echo ready; sleep {marker}"));
    let _first = stage.start_ready(script.clone()).await;
    let _second = stage.start_ready(script.clone()).await;
    // The hang-up of its terminal must not reach the supervisor before the tree is dead.
    let _third = stage.start_ready(Exec { pty: Some(TerminalSize::default()), ..script }).await;
    println!("the command runs");
    std::future::pending::<()>().await;
}
