//! Limits on a command as a whole: they end the command and nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use buddy_exec::{Bounds, Ended, Exec, Limits, LimitsHit, Reach, SupervisorCommand};

use crate::stage::{Stage, alive, marker, sh};

const MEGABYTE: u64 = 1024 * 1024;

pub(crate) fn limits(processes: u64, megabytes: u64) -> Limits {
    Limits { processes, memory_bytes: megabytes * MEGABYTE }
}

/// Tries to have 400 processes at the same time, and prints how many it got.
pub(crate) fn forker(marker: &str) -> String {
    format!(
        "python3 -c '
import subprocess
started = 0
for _ in range(400):
    try:
        subprocess.Popen([\"sleep\", \"{marker}\"])
        started += 1
    except OSError:
        break
print(started)'"
    )
}

async fn check_forker(bounds: impl FnOnce(&Stage) -> Bounds) {
    let marker = marker();
    let stage = Stage::new().with_limits(limits(64, 4096));
    let exec = Exec { bounds: bounds(&stage), ..sh(&forker(&marker)) };
    let exit = stage.run(exec).await;
    let started: u32 = exit.stdout.text().trim().parse().unwrap();
    assert!((30..64).contains(&started), "{started}: {}", exit.stderr.text());
    assert_eq!(exit.hit, LimitsHit { processes: true, memory: false });
    assert_eq!(alive(&marker), [""; 0]);
    // The next command of the same target is not affected.
    let next = stage.run(sh("echo fine")).await;
    assert_eq!((next.stdout.text().as_str(), next.hit), ("fine\n", LimitsHit::default()));
}

#[tokio::test]
async fn a_command_that_forks_without_end_has_an_end() {
    check_forker(|_| Bounds::open()).await;
}

#[tokio::test]
async fn so_has_one_in_a_jail() {
    check_forker(|stage| Bounds { write: Reach::Beneath(vec![stage.path("")]), ..Bounds::open() }).await;
}

#[tokio::test]
async fn a_command_that_takes_all_memory_is_killed() {
    let stage = Stage::new().with_limits(limits(100, 100));
    let exit = stage.run(sh("exec python3 -c 'x = b\"x\" * (600 << 20); print(len(x))'")).await;
    assert_eq!((exit.signal, exit.stdout.text().as_str()), (Some(9), ""));
    assert_eq!(exit.hit, LimitsHit { processes: false, memory: true });
    let modest = stage.run(sh("exec python3 -c 'x = b\"x\" * (20 << 20); print(len(x))'")).await;
    assert_eq!((modest.code, modest.hit), (Some(0), LimitsHit::default()));
}

/// The groups of this machine that belong to the supervisor of a command, which is the command's parent.
fn groups_of(supervisor: &str) -> Vec<PathBuf> {
    fn look(folder: &Path, name: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with(name) {
                found.push(entry.path());
            }
            look(&entry.path(), name, found);
        }
    }
    let mut found = Vec::new();
    look(Path::new("/sys/fs/cgroup"), &format!("buddy-{supervisor}-"), &mut found);
    found
}

/// A supervisor for which there is no hierarchy but that of version 2.
fn with_version_2_alone() -> Stage {
    let script = "grep -w -e pids -e memory /proc/self/mounts | while read -r kind place rest; do \
                  [ \"$kind\" = cgroup ] && umount \"$place\"; done; exec \"$@\"";
    let words = ["--mount", "/bin/sh", "-c", script, "sh", env!("CARGO_BIN_EXE_buddy-supervise")];
    let args = words.map(str::to_owned).to_vec();
    let supervisor = SupervisorCommand { program: "/usr/bin/unshare".into(), args };
    Stage::with(supervisor, Duration::from_millis(300))
}

#[tokio::test]
async fn with_version_2_alone_a_command_has_a_group_that_ends_with_it() {
    let stage = with_version_2_alone();
    let marker = marker();
    // Each generation starts the next and ends, outside of every session that it was started in.
    let runner = "trap '' TERM HUP; setsid sh ./run $1 &\n";
    fs::write(stage.path("run"), runner).unwrap();
    let script = format!("echo $PPID; sh ./run {marker}; sleep {marker}");
    let mut running = stage.start(sh(&script)).await.unwrap();
    let supervisor = String::from_utf8_lossy(&running.next().await.unwrap().bytes).trim().to_owned();
    let groups = groups_of(&supervisor);
    let [group] = groups.as_slice() else { panic!("one group is expected: {groups:?}") };
    assert!(group.join("cgroup.kill").exists(), "{group:?}");
    assert!(!fs::read_to_string(group.join("cgroup.procs")).unwrap().is_empty());
    running.stop();
    let exit = running.wait().await.unwrap();
    assert_eq!((exit.ended, exit.survivors), (Ended::Stopped, 0));
    assert_eq!(alive(&marker), [""; 0]);
    assert_eq!(groups_of(&supervisor), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn a_group_is_gone_with_its_command_and_also_when_its_supervisor_was_killed() {
    let stage = Stage::new();
    let mut running = stage.start(sh("echo $PPID; while [ ! -e go ]; do sleep 0.02; done")).await.unwrap();
    let supervisor = String::from_utf8_lossy(&running.next().await.unwrap().bytes).trim().to_owned();
    let groups = groups_of(&supervisor);
    assert!(!groups.is_empty());
    let members: String =
        groups.iter().map(|group| fs::read_to_string(group.join("cgroup.procs")).unwrap()).collect();
    assert!(!members.lines().any(|pid| pid == supervisor), "{members}");
    fs::write(stage.path("go"), "").unwrap();
    running.wait().await.unwrap();
    assert_eq!(groups_of(&supervisor), [] as [PathBuf; 0]);

    let mut killed = stage.start(sh("echo $PPID; sleep 0.3; kill -9 $PPID")).await.unwrap();
    let supervisor = String::from_utf8_lossy(&killed.next().await.unwrap().bytes).trim().to_owned();
    killed.wait().await.unwrap_err();
    // The next command removes the groups that were left.
    stage.run(sh("true")).await;
    assert_eq!(groups_of(&supervisor), [] as [PathBuf; 0]);
}

/// Every process starts two more, without end. It runs only where its number of processes is certainly
/// limited.
#[tokio::test]
async fn a_fork_bomb_goes_off_in_its_group_and_others_run_meanwhile() {
    assert!(is_limited(), "without a limit this would take the whole machine");
    let stage = Stage::new().with_limits(limits(64, 512));
    let marker = marker();
    let script =
        format!("echo ready; bomb() {{ bomb {marker} | bomb {marker} & }}; (bomb) & exec sleep {marker}");
    let mut bomb = stage.start_ready(Exec { timeout: Some(Duration::from_mins(1)), ..sh(&script) }).await;
    for number in 0..20 {
        let other = stage.run(sh(&format!("echo {number}"))).await;
        assert_eq!((other.code, other.stdout.text()), (Some(0), format!("{number}\n")));
    }
    bomb.stop();
    let exit = bomb.wait().await.unwrap();
    assert_eq!((exit.ended, exit.survivors, exit.hit.processes), (Ended::Stopped, 0, true));
    assert_eq!(alive(&marker), [""; 0]);
}

fn is_limited() -> bool {
    let layers = buddy_exec::layers();
    layers.iter().any(|layer| layer.name == "cgroup" && layer.detail.contains("processes and memory"))
}

#[test]
fn doctor_is_told_that_it_works() {
    let layers = buddy_exec::layers();
    let group = layers.iter().find(|layer| layer.name == "cgroup").unwrap();
    assert!(group.detail.contains("limits the processes and memory of a whole command"), "{group:?}");
}
