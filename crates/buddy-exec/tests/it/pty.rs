//! Commands with a terminal of their own, in the open and in a jail.

use std::time::Duration;

use buddy_exec::{Bounds, Ended, Exec, Exit, Reach, Stdin, TargetError, TerminalSize};

use crate::jail::cell::{Cell, Kind};
use crate::stage::{Stage, alive, argv, marker, sh};

fn with_terminal(exec: Exec) -> Exec {
    Exec { pty: Some(TerminalSize { columns: 91, rows: 27 }), ..exec }
}

fn typed(text: &str) -> Stdin {
    Stdin::Bytes(text.as_bytes().to_vec())
}

/// Runs it in the open and in a jail; both must give the same result.
async fn check(exec: impl Fn() -> Exec, is_right: impl Fn(&Exit) -> bool) {
    for is_jailed in [false, true] {
        let stage = Stage::new();
        let mut exec = with_terminal(exec());
        if is_jailed {
            exec.bounds = Bounds { write: Reach::Beneath(vec![stage.path("")]), ..Bounds::open() };
        }
        let exit = stage.run(exec).await;
        assert!(is_right(&exit), "jailed: {is_jailed}: {exit:?}: {}", exit.stdout.text());
    }
}

#[tokio::test]
async fn every_stream_is_a_terminal_of_the_size_that_was_asked_for() {
    let script = "test -t 0 && test -t 1 && test -t 2 && stty size && echo through >/dev/tty";
    check(|| sh(script), |exit| exit.code == Some(0) && exit.stdout.text() == "27 91\r\nthrough\r\n").await;
}

#[tokio::test]
async fn no_signal_is_kept_from_a_command() {
    let words = ["/usr/bin/grep", "SigBlk", "/proc/self/status"];
    check(|| argv(&words), |exit| exit.stdout.text() == "SigBlk:\t0000000000000000\r\n").await;
}

#[tokio::test]
async fn both_streams_come_as_one() {
    check(
        || sh("echo out; echo err >&2"),
        |exit| exit.stdout.text() == "out\r\nerr\r\n" && exit.stderr.text().is_empty(),
    )
    .await;
}

#[tokio::test]
async fn reading_stdin_of_a_terminal_ends() {
    check(|| sh("cat; echo over"), |exit| exit.stdout.text() == "over\r\n").await;
    check(|| sh("cat </dev/tty; echo over"), |exit| exit.stdout.text() == "over\r\n").await;
}

#[tokio::test]
async fn typed_input_is_read_and_echoed() {
    for keys in ["blue\n", "blue"] {
        let exec = || Exec { stdin: typed(keys), ..sh("stty -echo; read colour; echo [$colour]") };
        check(exec, |exit| exit.stdout.text().ends_with("[blue]\r\n")).await;
    }
    let exec = with_terminal(Exec { stdin: typed(&"x".repeat(5000)), ..sh("true") });
    let error = Stage::new().start(exec).await.unwrap_err();
    assert!(matches!(error, TargetError::TooLarge { .. }), "{error:?}");
}

#[tokio::test]
async fn an_interactive_shell_has_job_control() {
    let keys = "set -m; sleep 0.01 & wait; fg 2>&1; echo $((6 * 7)); exit 3\n";
    let exec = || Exec { stdin: typed(keys), ..argv(&["/bin/bash", "--norc", "--noprofile", "-i"]) };
    check(exec, |exit| {
        let text = exit.stdout.text();
        exit.code == Some(3) && text.contains("\n42\r\n") && !text.contains("no job control")
    })
    .await;
}

#[tokio::test]
async fn a_program_that_waits_for_keys_runs_into_its_timeout() {
    let marker = marker();
    let script = format!(
        "trap '' TERM HUP INT; stty raw -echo; sleep {marker} & setsid sleep {marker} & head -c 100 >/dev/null"
    );
    check(
        || Exec { timeout: Some(Duration::from_millis(500)), ..sh(&script) },
        |exit| exit.ended == Ended::TimedOut && exit.survivors == 0,
    )
    .await;
    assert_eq!(alive(&marker), [""; 0]);
}

#[tokio::test]
async fn signals_to_its_own_group_do_not_reach_the_supervisor() {
    check(
        || sh("trap 'exit 5' TERM; kill 0; sleep 600"),
        |exit| (exit.code, exit.ended) == (Some(5), Ended::Exited),
    )
    .await;
    check(|| sh("kill -9 0"), |exit| exit.signal == Some(9)).await;
}

#[tokio::test]
async fn much_output_comes_whole() {
    check(
        || sh("seq 1 200000"),
        |exit| exit.stdout.text().ends_with("199999\r\n200000\r\n") && exit.stdout.total == 1_488_895,
    )
    .await;
}

/// `sudo` runs with rights that its caller may not signal, so it has to come to an end by itself.
#[tokio::test]
async fn a_password_prompt_reads_the_end_of_the_input() {
    let cell = Cell::new(Kind::Ordinary);
    let mark = cell.ws("sudo-was-here");
    let mark = mark.to_str().unwrap();
    let exec = Exec {
        timeout: Some(Duration::from_secs(1)),
        ..with_terminal(argv(&["/usr/bin/sudo", "-k", "touch", mark]))
    };
    let exit = cell.stage.run(exec).await;
    assert!(exit.stdout.text().contains("assword"), "{}", exit.stdout.text());
    assert_ne!(exit.code, Some(0));
    assert_eq!((exit.survivors, alive(mark)), (0, Vec::new()));
    assert!(!cell.ws("sudo-was-here").exists());
}
