//! The store after a process died, the disk was full or the disk failed.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use buddy_protocol::SessionStore;
use tempfile::TempDir;

use crate::child::{Other, Task};
use crate::support::{assert_whole, open, session};

/// Asserts that every acknowledged event is there once, in order, and that the check finds no problems.
async fn assert_kept(directory: &Path, acknowledged: &BTreeMap<u64, u64>) {
    let store = open(directory);
    for (number, seq) in acknowledged {
        let head = store.find(&session(*number)).await.unwrap().unwrap().head;
        assert!(head >= *seq, "session {number} ends at {head}, {seq} was acknowledged");
        assert_whole(&store, *number, head).await;
    }
    let report = store.check().await.unwrap();
    assert!(report.is_clean(), "{report:?}");
    store.close().await.unwrap();
}

#[tokio::test]
async fn acknowledged_events_survive_kill_9() {
    const ROUNDS: u64 = 60;
    let directory = TempDir::new().unwrap();
    let mut acknowledged = BTreeMap::new();
    for round in 0..ROUNDS {
        let task = Task::Write { first: 1, sessions: 4, appends: u64::MAX };
        let mut other = Other::start(directory.path(), task);
        for _ in 0..round * 7 % 23 {
            let (number, seq) = other.acknowledged().unwrap();
            acknowledged.insert(number, seq);
        }
        // Kills at a different point of a transaction each time.
        std::thread::sleep(Duration::from_micros(round * 613 % 4000));
        other.kill();
        while let Some((number, seq)) = other.acknowledged() {
            acknowledged.insert(number, seq);
        }
        other.end();
        assert_kept(directory.path(), &acknowledged).await;
    }
    assert_eq!(acknowledged.len(), 4);
}

#[tokio::test]
async fn two_processes_write_at_once() {
    let directory = TempDir::new().unwrap();
    let start = |first| Other::start(directory.path(), Task::Write { first, sessions: 3, appends: 40 });
    let mut acknowledged = BTreeMap::new();
    for mut other in [start(1), start(11)] {
        while let Some((number, seq)) = other.acknowledged() {
            acknowledged.insert(number, seq);
        }
        assert!(other.end());
    }
    // Appends of one, two and three events in turn.
    assert_eq!(acknowledged.into_values().collect::<Vec<_>>(), [79; 6]);
    let kept = [1, 2, 3, 11, 12, 13].map(|number| (number, 79)).into();
    assert_kept(directory.path(), &kept).await;
}

#[tokio::test]
async fn a_failed_sync_stops_the_store_for_good() {
    let directory = TempDir::new().unwrap();
    open(directory.path()).close().await.unwrap();
    let inject = "inject=fdatasync,fsync:error=EIO:when=4+";
    let strace = ["strace", "-f", "-qqq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync", "-e", inject];
    assert!(
        works(&["strace", "-o", "/dev/null", "true"]),
        "this test needs strace; `cargo xtask test` installs it"
    );
    let mut other = Other::start_under(&strace, directory.path(), Task::Fail);
    let mut acknowledged = BTreeMap::new();
    let first = loop {
        let said = other.hear().unwrap();
        match said.strip_prefix("first ") {
            Some(error) => break error.to_owned(),
            None => acknowledged.insert(1, said.strip_prefix("1 ").unwrap().parse().unwrap()),
        };
    };
    let second = other.hear().unwrap();
    assert!(first.contains("takes nothing more"), "{first}");
    assert_eq!(second.strip_prefix("second "), Some(&*first));
    other.end();
    let report = open(directory.path());
    assert_eq!(report.report().integrity, buddy_store::Integrity::Checked);
    drop(report);
    assert_kept(directory.path(), &acknowledged).await;
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_is_recovered_from() {
    // A file system of three mebibytes that only the second process sees.
    let mount = ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=3m none \"$0\" && exec \"$@\""];
    let directory = TempDir::new().unwrap();
    let path = directory.path().display().to_string();
    let wrapper: Vec<&str> = mount.into_iter().chain([&*path]).collect();
    assert!(works(&[&wrapper[..], &["true"]].concat()), "this test needs root, to mount a small file system");
    let mut other = Other::start_under(&wrapper, directory.path(), Task::Fill);
    assert_eq!(other.hear().as_deref(), Some("recovered"));
    assert!(other.end());
}

/// Whether a program that a test needs works here.
fn works(words: &[&str]) -> bool {
    run(words).is_ok()
}

/// Runs a program. The error is what it said.
#[expect(clippy::disallowed_methods, reason = "disks and mounts are made by programs")]
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let output = std::process::Command::new(words[0]).args(&words[1..]).output();
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
