//! A follower that falls behind by more than the spool keeps: a part in the middle is missing, and a notice
//! says so.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::stage::PaneStage;
use crate::stage::PATIENCE;

/// The spool of the only pane.
fn spool(stage: &PaneStage) -> PathBuf {
    let entries = fs::read_dir(stage.path("run")).unwrap().flatten().map(|entry| entry.path());
    let mut spools = entries.filter(|path| path.to_string_lossy().contains(".spool."));
    let spool = spools.next().unwrap();
    assert_eq!(spools.next(), None, "there is one");
    spool
}

/// The shell that prints the spool. Its guard has the same words, and is its child.
fn follower(spool: &str) -> Pid {
    let all = followers(spool);
    let is_first = |pid: &&Pid| {
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
        let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        parent.and_then(Pid::from_raw).is_some_and(|parent| !all.contains(&parent))
    };
    *all.iter().find(is_first).unwrap()
}

fn followers(spool: &str) -> Vec<Pid> {
    let is_follower = |line: &str| line.starts_with("/bin/sh\0-c\0") && line.contains(spool);
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let found = processes.filter_map(|process| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        is_follower(&String::from_utf8_lossy(&line)).then(|| process.file_name().to_str()?.parse().ok())?
    });
    found.filter_map(Pid::from_raw).collect()
}

#[expect(clippy::disallowed_methods, reason = "what starts a follower is to be killed")]
fn start_follower(spool: &std::path::Path) -> std::process::Child {
    let script = include_str!("../../../src/tmux/scripts/follow.sh");
    let mut command = std::process::Command::new("/bin/sh");
    // The outer shell stays: it has a task afterwards.
    command
        .args(["-c", "/bin/sh -c \"$0\" \"$@\"; exit 0", script, "buddy"])
        .arg(spool)
        .args(["0", "0", "mark", "1"]);
    command.stdout(std::process::Stdio::null()).spawn().unwrap()
}

#[test]
fn a_follower_of_a_silent_pane_goes_when_nobody_follows_or_there_is_nothing_to_follow() {
    for is_killed in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let spool = folder.path().join("spool");
        fs::create_dir(&spool).unwrap();
        fs::write(spool.join("0"), "").unwrap();
        fs::write(spool.join("at"), "0\n").unwrap();
        fs::write(spool.join("waiting"), "").unwrap();
        let mut parent = start_follower(&spool);
        let name = format!("buddy\0{}", spool.display());
        let until = Instant::now() + PATIENCE;
        while !spool.join("bell.mark").exists() || followers(&name).is_empty() {
            assert!(Instant::now() < until, "it never began");
            std::thread::sleep(Duration::from_millis(10));
        }
        if is_killed {
            parent.kill().unwrap();
        } else {
            fs::remove_dir_all(&spool).unwrap();
        }
        parent.wait().unwrap();
        while !followers(&name).is_empty() {
            assert!(Instant::now() < until, "it stays, killed: {is_killed}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[tokio::test]
async fn a_late_follower_reports_its_gap_and_gets_the_end_right() {
    let stage = PaneStage::new("/bin/bash");
    let text =
        "echo first; while [ ! -e stop ]; do [ -e go ] && seq 100000 || sleep 0.1; done; echo last; (exit 6)";
    let mut command = stage.command(text);
    command.timeout = Some(PATIENCE * 4);
    let mut run = stage.try_start(command).await.unwrap();
    run.running.next().await.unwrap();
    let spool = spool(&stage);
    let follower = follower(spool.to_str().unwrap());
    kill_process(follower, Signal::STOP).unwrap();
    fs::write(stage.path("go"), "").unwrap();
    let newest = || fs::read_to_string(spool.join("at")).ok()?.trim().parse::<u32>().ok();
    let end = Instant::now() + PATIENCE * 3;
    while newest().is_none_or(|newest| newest < 10) {
        assert!(Instant::now() < end, "the output did not go on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    fs::write(stage.path("stop"), "").unwrap();
    let kept: u64 = fs::read_dir(&spool).unwrap().flatten().map(|file| file.metadata().unwrap().len()).sum();
    assert!(kept <= 9 * 8 * 1024 * 1024, "{kept} bytes are kept");
    kill_process(follower, Signal::CONT).unwrap();
    let exit = run.running.wait().await.unwrap();
    assert_eq!(exit.code, Some(6));
    assert!(exit.stdout.text().starts_with("first\n"), "{:.100}", exit.stdout.text());
    assert!(exit.stdout.text().ends_with("100000\nlast\n"));
    let notes = run.notes.await.unwrap().join(" ");
    assert!(notes.contains("missing in the middle"), "{notes}");
    stage.check("echo after", "after\n", 0).await;
}
