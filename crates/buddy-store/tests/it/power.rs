//! Power cuts: the store on a small disk that is copied while it is written to.
//!
//! The disk is an image with ext4 on a loop device. The copy has everything that reached the device and nothing that only the
//! kernel's cache had, and mounting it replays its journal, as after a power cut. The next round goes on with the copy.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;

use crate::child::{Other, Task};
use crate::crash::run;
use crate::support::soak_rounds;

/// The size of the disk: the store of all rounds fits, and it is copied in a few milliseconds.
const DISK_BYTES: u64 = 24 << 20;

/// The rounds that the ordinary tests have time for.
const ROUNDS: u64 = 4;

/// The sessions that are written to at once.
const SESSIONS: u64 = 4;

/// The number of copies before a disk counts as one that never stands still.
const COPIES: usize = 50;

/// Mounts an image where only the given command line sees it.
const MOUNT: &str = "mount -o loop \"$0\" \"$1\" && shift && exec \"$@\"";

struct Disk {
    directory: TempDir,
}

impl Disk {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let disk = Self { directory };
        fs::File::create(disk.image()).unwrap().set_len(DISK_BYTES).unwrap();
        fs::create_dir(disk.mounted()).unwrap();
        let image = disk.image().display().to_string();
        run(&["mkfs.ext4", "-q", &image]).unwrap_or_else(|said| panic!("this test needs e2fsprogs: {said}"));
        disk
    }

    fn image(&self) -> PathBuf {
        self.directory.path().join("disk")
    }

    fn mounted(&self) -> PathBuf {
        self.directory.path().join("mounted")
    }

    /// Starts a process that sees the disk.
    fn start(&self, task: Task) -> Other {
        let [image, mounted] = [self.image(), self.mounted()].map(|path| path.display().to_string());
        let wrapper = ["unshare", "-m", "sh", "-c", MOUNT, &image, &mounted];
        Other::start_under(&wrapper, &self.mounted().join("home"), task)
    }

    /// The content of the device at one moment: two copies that are the same have no change between them.
    fn content(&self) -> Vec<u8> {
        let mut last = fs::read(self.image()).unwrap();
        for _ in 0..COPIES {
            let next = fs::read(self.image()).unwrap();
            if next == last {
                return next;
            }
            last = next;
        }
        panic!("the disk does not stand still");
    }

    /// Puts another disk in its place. The old one may still be in use.
    fn replace(&self, content: &[u8]) {
        let draft = self.directory.path().join("draft");
        fs::write(&draft, content).unwrap();
        fs::rename(&draft, self.image()).unwrap();
    }
}

/// Asserts that the disk has every acknowledged event, whole and in order, and that the check finds no problems.
fn assert_kept(disk: &Disk, acknowledged: &BTreeMap<u64, u64>, round: u64) {
    let mut other = disk.start(Task::Inspect { sessions: SESSIONS });
    let mut heads = BTreeMap::new();
    while let Some((number, head)) = other.acknowledged() {
        heads.insert(number, head);
    }
    assert!(other.end(), "round {round}: the store is damaged");
    for (number, seq) in acknowledged {
        assert!(
            heads[number] >= *seq,
            "round {round}: session {number} lost events: {heads:?}, {acknowledged:?}"
        );
    }
}

#[test]
fn acknowledged_events_survive_power_cuts() {
    let rounds = soak_rounds().unwrap_or(ROUNDS);
    let disk = Disk::new();
    let mut acknowledged = BTreeMap::new();
    for round in 0..rounds {
        let mut other = disk.start(Task::Write { first: 1, sessions: SESSIONS, appends: u64::MAX });
        for _ in 0..5 + round * 11 % 37 {
            let (number, seq) = other.acknowledged().expect("the disk can be mounted, which needs root");
            acknowledged.insert(number, seq);
        }
        // Stops at a different point of a transaction each time.
        std::thread::sleep(Duration::from_micros(round * 1_709 % 9_000));
        other.freeze();
        let content = disk.content();
        other.kill();
        while let Some((number, seq)) = other.acknowledged() {
            acknowledged.insert(number, seq);
        }
        other.end();
        disk.replace(&content);
        assert_kept(&disk, &acknowledged, round);
    }
    assert_eq!(acknowledged.len() as u64, SESSIONS);
}
