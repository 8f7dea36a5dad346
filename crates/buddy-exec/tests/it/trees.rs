//! Whole process trees: none of them outlives its command.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use buddy_exec::{Ended, TargetError};

use crate::stage::{PATIENCE, Stage, alive, argv, marker, sh, until_alive, until_gone};

/// A generous bound for "at once" on a loaded machine.
const SOON: Duration = Duration::from_secs(2);

#[tokio::test]
async fn the_timeout_comes_on_time() {
    let marker = marker();
    let mut exec = sh(&format!("sleep {marker} & sleep {marker}"));
    exec.timeout = Some(Duration::from_millis(300));
    let exit = Stage::new().run(exec).await;
    assert_eq!((exit.ended, exit.signal), (Ended::TimedOut, Some(15)));
    assert!((Duration::from_millis(300)..SOON).contains(&exit.duration), "{:?}", exit.duration);
    assert_eq!(alive(&marker), [""; 0]);
}

#[tokio::test]
async fn no_amount_of_output_delays_the_timeout() {
    let mut exec = argv(&["yes"]);
    exec.timeout = Some(Duration::from_millis(300));
    let exit = Stage::new().run(exec).await;
    assert_eq!(exit.ended, Ended::TimedOut);
    assert!(exit.duration < SOON, "{:?}", exit.duration);
}

#[tokio::test]
async fn no_number_of_ended_children_delays_the_timeout() {
    let mut exec = sh("while :; do (true &); done");
    exec.timeout = Some(Duration::from_millis(300));
    let exit = Stage::new().run(exec).await;
    assert_eq!(exit.ended, Ended::TimedOut);
    assert!(exit.duration < SOON, "{:?}", exit.duration);
}

#[tokio::test]
async fn a_stop_lets_the_command_clean_up() {
    let stage = Stage::with_grace(PATIENCE);
    let mut running =
        stage.start_ready(sh("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done")).await;
    running.stop();
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.ended, exit.code), (Ended::Stopped, Some(3)));
    assert_eq!(exit.stdout.text(), "ready\nbye\n");
}

#[tokio::test]
async fn the_grace_is_for_the_whole_tree() {
    let stage = Stage::with_grace(PATIENCE);
    let child = "trap 'sleep 0.5; touch cleaned; exit' TERM; echo ready; while :; do sleep 0.05; done";
    let mut running = stage.start_ready(sh(&format!("({child}) & wait"))).await;
    running.stop();
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.ended, exit.signal, exit.leftovers), (Ended::Stopped, Some(15), 0));
    assert!(stage.path("cleaned").exists());
}

#[tokio::test]
async fn a_command_that_ignores_the_request_is_killed_after_the_grace() {
    let marker = marker();
    let stage = Stage::new();
    let mut running = stage.start_ready(sh(&format!("trap '' TERM; echo ready; sleep {marker}; :"))).await;
    let asked = Instant::now();
    running.stop();
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.ended, exit.signal), (Ended::Stopped, Some(9)));
    assert!((Duration::from_millis(290)..SOON).contains(&asked.elapsed()), "{:?}", asked.elapsed());
    assert_eq!(alive(&marker), [""; 0]);
}

/// Forks twice, leaves the session, closes everything and ignores every signal that can be ignored.
fn daemon(marker: &str) -> String {
    format!("setsid sh -c '(trap \"\" TERM HUP INT; exec sleep {marker} <&- >&- 2>&-) & exit 0' &")
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the process that must not be touched is not the target's")]
async fn a_daemon_is_gone_after_a_stop_and_a_stranger_is_not() {
    let (marker, strange) = (marker(), marker());
    let mut stranger = Command::new("sleep").arg(&strange).stdout(Stdio::null()).spawn().unwrap();
    let script = format!("{} {} echo ready; sleep {marker}", daemon(&marker), daemon(&marker));
    let stage = Stage::new();
    let mut running = stage.start_ready(sh(&script)).await;
    until_alive(&format!("sleep\0{marker}"), 3).await;
    running.stop();
    assert_eq!(running.wait().await.unwrap().ended, Ended::Stopped);
    assert_eq!(alive(&marker), [""; 0]);
    assert_eq!(alive(&strange).len(), 1);
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[tokio::test]
async fn a_daemon_does_not_outlive_the_command_and_is_counted() {
    let marker = marker();
    let exit = Stage::new().run(sh(&format!("{} sleep 0.2", daemon(&marker)))).await;
    assert_eq!((exit.code, exit.ended, exit.leftovers), (Some(0), Ended::Exited, 1));
    assert_eq!(alive(&marker), [""; 0]);
}

#[tokio::test]
async fn a_process_that_holds_the_output_open_does_not_delay_the_exit() {
    let marker = marker();
    let began = Instant::now();
    let exit = Stage::new().run(sh(&format!("echo done; sleep {marker} & exit 4"))).await;
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    assert_eq!((exit.code, exit.leftovers, exit.stdout.text().as_str()), (Some(4), 1, "done\n"));
    assert_eq!(alive(&marker), [""; 0]);
}

#[tokio::test]
async fn short_background_work_may_finish() {
    let exit = Stage::new().run(sh("(sleep 0.15; echo late) & echo early")).await;
    assert_eq!((exit.leftovers, exit.stdout.text().as_str()), (0, "early\nlate\n"));
}

/// Each generation starts the next and ends, so no process of it lives longer than a moment.
#[tokio::test]
async fn processes_that_fork_away_from_signals_are_killed() {
    let stage = Stage::new();
    let marker = marker();
    std::fs::write(stage.path("run"), "trap '' TERM\nsh ./run $1 &\n").unwrap();
    let mut running = stage.start_ready(sh(&format!("sh ./run {marker}; echo ready; sleep {marker}"))).await;
    running.stop();
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.ended, exit.survivors), (Ended::Stopped, 0));
    assert_eq!(alive(&marker), [""; 0]);
}

#[tokio::test]
async fn a_dropped_run_is_killed() {
    let marker = marker();
    let stage = Stage::new();
    let running = stage.start_ready(sh(&format!("{} echo ready; sleep {marker}", daemon(&marker)))).await;
    until_alive(&format!("sleep\0{marker}"), 2).await;
    drop(running);
    until_gone(&marker, SOON).await;
}

#[tokio::test]
async fn a_dropped_start_is_killed() {
    let marker = marker();
    let stage = Stage::new();
    for delay in [0, 1, 5, 20] {
        let start = stage.start(sh(&format!("sleep {marker}")));
        let _ = tokio::time::timeout(Duration::from_millis(delay), start).await;
    }
    // A start in progress may still come to its end before it is killed.
    tokio::time::sleep(Duration::from_millis(200)).await;
    until_gone(&marker, SOON).await;
}

#[tokio::test]
async fn a_stopper_works_from_elsewhere_and_after_the_end() {
    let stage = Stage::new();
    let mut running = stage.start_ready(sh("echo ready; sleep 100")).await;
    let stopper = running.stopper();
    std::thread::spawn(move || stopper.stop()).join().unwrap();
    let stopper = running.stopper();
    assert_eq!(running.wait().await.unwrap().ended, Ended::Stopped);
    stopper.stop();
    stopper.kill();
}

#[tokio::test]
async fn a_stop_in_the_grace_of_the_timeout_changes_nothing() {
    let stage = Stage::new();
    let mut exec = sh("trap 'echo asked' TERM; echo ready; while :; do sleep 0.05; done");
    exec.timeout = Some(Duration::from_millis(100));
    let mut running = stage.start_ready(exec).await;
    while running.next().await.is_some_and(|chunk| chunk.bytes != "asked\n") {}
    running.stop();
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.ended, exit.signal), (Ended::TimedOut, Some(9)));
}

#[tokio::test]
async fn a_killed_supervisor_is_told_and_its_command_is_killed() {
    let marker = marker();
    let stage = Stage::new();
    let script = sh(&format!("trap '' TERM; sleep {marker} & kill -9 $PPID; sleep {marker}"));
    // The supervisor may be dead before it could say that the command runs.
    let lost = match stage.start(script).await {
        Ok(mut running) => running.wait().await.unwrap_err(),
        Err(error) => error,
    };
    assert!(matches!(lost, TargetError::SupervisorLost), "{lost:?}");
    until_gone(&marker, SOON).await;
}

#[tokio::test]
async fn a_stopped_supervisor_is_woken_for_the_timeout() {
    let marker = marker();
    let mut exec = sh(&format!("kill -STOP $PPID; sleep {marker}"));
    exec.timeout = Some(Duration::from_millis(300));
    let exit = Stage::new().run(exec).await;
    assert_eq!(exit.ended, Ended::TimedOut);
    assert!(exit.duration < Duration::from_secs(4), "{:?}", exit.duration);
    assert_eq!(alive(&marker), [""; 0]);
}
