//! A follower that falls behind by more than the spool keeps: a part in the middle is missing, and that is said.

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

/// The shell that prints the spool.
fn follower(spool: &str) -> Pid {
    let is_follower = |line: &str| line.starts_with("/bin/sh\0-c\0") && line.contains(spool);
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let found = processes.filter_map(|process| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        is_follower(&String::from_utf8_lossy(&line)).then(|| process.file_name().to_str()?.parse().ok())?
    });
    Pid::from_raw(found.last().unwrap()).unwrap()
}

#[tokio::test]
async fn what_a_follower_that_fell_behind_has_missed_is_told_and_the_end_is_right() {
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
