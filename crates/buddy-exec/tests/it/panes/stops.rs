//! Interrupts and timeouts: the program in the foreground is really dead, and the pane can be used again.

use std::time::Duration;

use buddy_exec::{Ended, PaneSelector, Panes};

use super::stage::PaneStage;
use crate::stage::{PATIENCE, alive, marker, until_alive, until_gone};

/// Stops a command once it sleeps, and looks for its remaining processes.
async fn stop(shell: &str, text: &str) {
    let stage = PaneStage::new(shell);
    let marker = marker();
    let mut running = stage.start(&text.replace("MARKER", &marker)).await;
    until_alive(&marker, 1).await;
    running.stop();
    let exit = running.wait().await.unwrap();
    assert_eq!(exit.ended, Ended::Stopped, "{shell} {text}");
    until_gone(&marker, PATIENCE).await;
    stage.check("echo after", "after\n", 0).await;
}

#[tokio::test]
async fn an_interrupt_ends_a_program_in_every_shell() {
    for shell in ["/bin/bash", "/usr/bin/zsh", "/bin/dash", "/bin/busybox"] {
        stop(shell, "sleep MARKER").await;
        stop(shell, "while true; do sleep MARKER; done").await;
    }
}

#[tokio::test]
async fn a_program_that_hears_no_interrupt_is_killed() {
    stop("/bin/bash", "sh -c \"trap '' INT TERM; sleep MARKER; sleep MARKER; sleep MARKER\"").await;
    stop("/bin/bash", "stty -isig; sleep MARKER").await;
    stop("/bin/dash", "trap '' INT; sleep MARKER | cat").await;
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_any_more_while_it_is_typed_is_ended() {
    let stage = PaneStage::new("/bin/bash");
    // A shell that says when it has read a command, and begins it a little later.
    stage.check("mkfifo silent; ulimit() { : > read; builtin read -t 1 <>silent; }", "", 0).await;
    for is_left in [false, true] {
        let marker = marker();
        let command = stage.command(&format!("sleep {marker}"));
        let is_read = async {
            while !stage.path("read").exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let selector = PaneSelector::default();
        let begun = async {
            if is_left {
                stage.target.dispatch(&selector, command).await.map(drop)
            } else {
                stage.try_start(command).await.map(drop)
            }
        };
        tokio::select! {
            begun = begun => panic!("it began before it was given up: {begun:?}"),
            () = is_read => {}
        }
        stage.check("rm read; echo after", "after\n", 0).await;
        assert_eq!(alive(&marker), Vec::<String>::new(), "left: {is_left}");
        std::fs::remove_file(stage.path("read")).ok();
    }
}

#[tokio::test]
async fn a_loop_of_the_shell_itself_is_ended() {
    let stage = PaneStage::new("/bin/bash");
    let mut running = stage.start("echo ready; while :; do :; done").await;
    running.next().await.unwrap();
    running.stop();
    assert_eq!(running.wait().await.unwrap().ended, Ended::Stopped);
    stage.check("echo after", "after\n", 0).await;
}

#[tokio::test]
async fn a_shell_that_cannot_be_interrupted_is_replaced() {
    let stage = PaneStage::new("/bin/bash");
    let mut command = stage.command("trap '' INT; while :; do :; done");
    command.timeout = Some(Duration::from_millis(200));
    let mut run = stage.try_start(command).await.unwrap();
    let exit = run.running.wait().await.unwrap();
    assert_eq!((exit.ended, exit.code), (Ended::TimedOut, None));
    assert!(run.notes.await.unwrap().join(" ").contains("a new one was started"));
    stage.check("echo after", "after\n", 0).await;
}

#[tokio::test]
async fn a_command_that_waits_for_input_runs_into_its_limit_and_keeps_its_output() {
    for text in ["echo asked; cat", "echo asked; read answer"] {
        let stage = PaneStage::new("/bin/bash");
        let mut command = stage.command(text);
        command.timeout = Some(Duration::from_millis(300));
        let exit = stage.try_start(command).await.unwrap().running.wait().await.unwrap();
        assert_eq!(exit.ended, Ended::TimedOut, "{text}");
        assert!(exit.stdout.text().starts_with("asked\n"), "{}", exit.stdout.text());
        stage.check("echo after", "after\n", 0).await;
    }
}

#[tokio::test]
async fn a_run_that_nobody_holds_any_more_is_killed() {
    let stage = PaneStage::new("/bin/bash");
    let marker = marker();
    let running = stage.start(&format!("sleep {marker}")).await;
    until_alive(&marker, 1).await;
    drop(running);
    until_gone(&marker, PATIENCE).await;
    stage.check("echo after", "after\n", 0).await;
}

#[tokio::test]
async fn background_jobs_stay_as_in_any_terminal() {
    let stage = PaneStage::new("/bin/bash");
    let marker = marker();
    let (exit, _) = stage.run(&format!("sleep {marker} & echo started")).await;
    assert!(exit.stdout.text().contains("started"));
    // The shell says so before the child has become the program.
    let is_there = async {
        while alive(&marker).is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, is_there).await.unwrap();
    stage.run("kill %1").await;
    until_gone(&marker, PATIENCE).await;
}
