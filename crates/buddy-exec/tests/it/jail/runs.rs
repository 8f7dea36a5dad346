//! A jail changes nothing about how commands run, end and are ended.

use std::time::{Duration, Instant};

use buddy_exec::{Ended, Stdin, TargetError};

use rustix::process::{Pid, Signal, kill_process};

use super::cell::{ALL, Cell, Kind, WITH_MOUNTS};
use crate::stage::{alive, marker, until_alive, until_gone};

const SOON: Duration = Duration::from_secs(2);

#[tokio::test]
async fn codes_and_signals_come_through() {
    for kind in ALL {
        let cell = Cell::new(kind);
        for (script, code, signal) in [
            ("true", Some(0), None),
            ("exit 7", Some(7), None),
            ("exit 137", Some(137), None),
            ("exit 255", Some(255), None),
            ("kill -9 $$", None, Some(9)),
            ("kill -TERM $$", None, Some(15)),
            ("kill -SEGV $$", None, Some(11)),
        ] {
            let exit = cell.run(script).await;
            assert_eq!(
                (exit.code, exit.signal, exit.ended),
                (code, signal, Ended::Exited),
                "{kind:?}: {script}"
            );
            assert_eq!((exit.leftovers, exit.survivors), (0, 0), "{kind:?}: {script}");
            assert_eq!((exit.stdout.text(), exit.stderr.text()), (String::new(), String::new()), "{kind:?}");
        }
    }
}

#[tokio::test]
async fn streams_directory_and_input_are_as_asked() {
    for kind in ALL {
        let cell = Cell::new(kind);
        cell.file("below/file", "");
        let mut exec = cell.exec(cell.bounds(), "pwd; cat; echo err >&2; read line; echo $?");
        exec.cwd = "below".into();
        exec.stdin = Stdin::Bytes(b"given\n".to_vec());
        let exit = cell.stage.run(exec).await;
        let expected = format!("{}\ngiven\n1\n", cell.ws("below").display());
        assert_eq!((exit.stdout.text(), exit.stderr.text()), (expected, "err\n".into()), "{kind:?}");
        let exit = cell.run("cat; echo $?; : < /dev/tty").await;
        assert_eq!(exit.stdout.text(), "0\n", "{kind:?}");
        assert_ne!(exit.code, Some(0), "{kind:?}: there is a terminal");
    }
}

#[tokio::test]
async fn all_of_the_output_arrives() {
    const BYTES: u64 = 1_000_000_000;
    for kind in ALL {
        let cell = Cell::new(kind);
        let exit = cell.run(&format!("head -c {BYTES} /dev/zero; printf end")).await;
        let total = exit.stdout.total;
        assert_eq!((exit.code, total), (Some(0), BYTES + 3), "{kind:?}");
        assert!(exit.stdout.text().ends_with("end"));
    }
}

#[tokio::test]
async fn a_failed_start_has_the_same_error_as_without_a_jail() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let mut exec = cell.exec(cell.bounds(), "");
        exec.argv = vec!["no-such-program-anywhere".into()];
        match cell.stage.start(exec).await.unwrap_err() {
            TargetError::CommandNotStarted { program, source } => {
                assert_eq!(program, "no-such-program-anywhere");
                assert_eq!(source.kind(), std::io::ErrorKind::NotFound, "{kind:?}");
            }
            other => panic!("{kind:?}: {other:?}"),
        }
        let mut exec = cell.exec(cell.bounds(), "true");
        exec.cwd = "missing".into();
        let error = cell.stage.start(exec).await.unwrap_err();
        assert!(matches!(error, TargetError::CwdUnusable { .. }), "{kind:?}: {error:?}");
        let mut exec = cell.exec(cell.bounds(), "true");
        exec.argv.push("x".repeat(4_000_000));
        let error = cell.stage.start(exec).await.unwrap_err();
        assert!(matches!(error, TargetError::CommandNotStarted { .. }), "{kind:?}: {error:?}");
    }
}

#[tokio::test]
async fn the_timeout_ends_everything_inside() {
    for kind in ALL {
        let (cell, marker) = (Cell::new(kind), marker());
        let mut exec = cell.exec(cell.bounds(), &format!("setsid sleep {marker} & sleep {marker}"));
        exec.timeout = Some(Duration::from_millis(300));
        let exit = cell.stage.run(exec).await;
        assert_eq!((exit.ended, exit.signal, exit.survivors), (Ended::TimedOut, Some(15), 0), "{kind:?}");
        assert_eq!(alive(&marker), [""; 0], "{kind:?}");
    }
}

#[tokio::test]
async fn a_stop_lets_the_command_clean_up() {
    for kind in ALL {
        let cell = Cell::new(kind);
        let script = "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.05; done";
        let mut running = cell.stage.start_ready(cell.exec(cell.bounds(), script)).await;
        running.stop();
        let exit = running.wait().await.unwrap();
        assert_eq!((exit.ended, exit.code, exit.signal), (Ended::Stopped, Some(3), None), "{kind:?}");
        assert_eq!(exit.stdout.text(), "ready\nbye\n", "{kind:?}");
    }
}

/// Forks twice, leaves the session, closes everything and ignores every signal that can be ignored.
fn daemon(marker: &str) -> String {
    format!("setsid sh -c '(trap \"\" TERM HUP INT; exec sleep {marker} <&- >&- 2>&-) & exit 0' &")
}

#[tokio::test]
async fn a_command_that_ignores_signals_is_killed_after_the_grace() {
    for kind in ALL {
        let (cell, marker) = (Cell::new(kind), marker());
        let script = format!("trap '' TERM; {} echo ready; sleep {marker}; :", daemon(&marker));
        let mut running = cell.stage.start_ready(cell.exec(cell.bounds(), &script)).await;
        until_alive(&format!("sleep\0{marker}"), 2).await;
        let asked = Instant::now();
        running.stop();
        let exit = running.wait().await.unwrap();
        assert_eq!((exit.ended, exit.signal, exit.survivors), (Ended::Stopped, Some(9), 0), "{kind:?}");
        assert!(asked.elapsed() >= Duration::from_millis(290), "{kind:?}");
        assert_eq!(alive(&marker), [""; 0], "{kind:?}");
    }
}

#[tokio::test]
async fn leftovers_are_ended_and_counted() {
    for kind in ALL {
        let (cell, marker) = (Cell::new(kind), marker());
        let exit = cell.run(&format!("{} sleep 0.2; exit 4", daemon(&marker))).await;
        assert_eq!((exit.code, exit.ended, exit.leftovers), (Some(4), Ended::Exited, 1), "{kind:?}");
        assert_eq!(alive(&marker), [""; 0], "{kind:?}");
        let exit = cell.run("(sleep 0.02; echo late) & echo early").await;
        assert_eq!((exit.leftovers, exit.stdout.text().as_str()), (0, "early\nlate\n"), "{kind:?}");
    }
}

/// The processes of bubblewrap around the commands of a cell.
fn bubblewraps(cell: &Cell) -> Vec<Pid> {
    let workspace = cell.ws("").to_str().unwrap().trim_end_matches('/').to_owned();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_around = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.split('\0').next().is_some_and(|program| program.ends_with("bwrap")) && line.contains(&workspace)
    };
    pids.filter(is_around).filter_map(Pid::from_raw).collect()
}

/// On a busy machine the kernel takes long to end a jail. A stopped bubblewrap stands for that.
#[tokio::test]
async fn processes_of_the_jail_itself_are_no_leftovers() {
    for kind in WITH_MOUNTS {
        let cell = Cell::new(kind);
        let script = "echo ready; while [ ! -e go ]; do sleep 0.02; done; exit 3";
        let mut running = cell.stage.start_ready(cell.exec(cell.bounds(), script)).await;
        let around = bubblewraps(&cell);
        assert!(!around.is_empty(), "{kind:?}");
        for pid in &around {
            kill_process(*pid, Signal::STOP).unwrap();
        }
        cell.file("go", "");
        let go_on = async {
            tokio::time::sleep(Duration::from_millis(800)).await;
            // One that was killed is gone.
            for pid in &around {
                kill_process(*pid, Signal::CONT).unwrap_or_default();
            }
        };
        let (exit, ()) = tokio::join!(running.wait(), go_on);
        let exit = exit.unwrap();
        assert_eq!((exit.code, exit.leftovers, exit.survivors), (Some(3), 0, 0), "{kind:?}");
    }
}

#[tokio::test]
async fn commands_of_several_sessions_leave_nothing() {
    const SESSIONS: usize = 4;
    const ROUNDS: usize = 4;
    let cells: Vec<Cell> = (0..SESSIONS).map(|_| Cell::new(Kind::Full)).collect();
    for round in 0..ROUNDS {
        let runs = cells.iter().map(|cell| cell.run("sleep 0.1; echo 0"));
        for exit in futures::future::join_all(runs).await {
            assert_eq!((exit.leftovers, exit.stdout.text().as_str()), (0, "0\n"), "round {round}");
        }
    }
}

#[tokio::test]
async fn a_dropped_run_is_killed() {
    for kind in ALL {
        let (cell, marker) = (Cell::new(kind), marker());
        let script = format!("{} echo ready; sleep {marker}", daemon(&marker));
        let running = cell.stage.start_ready(cell.exec(cell.bounds(), &script)).await;
        until_alive(&format!("sleep\0{marker}"), 2).await;
        drop(running);
        until_gone(&marker, SOON).await;
    }
}
