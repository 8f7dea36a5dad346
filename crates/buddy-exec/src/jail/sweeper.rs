//! Sweeps beside a command while it runs, and once more when nothing of it is left.
//!
//! Files do not say who made them. So what appears while no thread of the command has run is taken for somebody else's, and only
//! what appears while one has is moved.

use std::collections::BTreeMap;
use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::getpid;

use super::quarantine::Moved;
use super::watched::Watched;
use crate::processes;

/// How often it is looked at least, and how much of the time looking may take: one part of so many.
const PAUSE: Duration = Duration::from_secs(2);
const SHARE: u32 = 50;

/// The most that is told of one command.
const MAX_TOLD: usize = 50;

/// The sweeping of one command.
#[derive(Debug)]
pub(crate) struct Sweeper {
    end: Sender<()>,
    thread: JoinHandle<Vec<Moved>>,
}

impl Sweeper {
    /// Begins to sweep; none where there is nothing to watch or no thread to be had.
    pub(super) fn start(watched: Watched) -> Option<Self> {
        if watched.is_idle() {
            return None;
        }
        let (end, ended) = mpsc::channel();
        let thread = thread::Builder::new().spawn(move || run(watched, &ended)).ok()?;
        Some(Self { end, thread })
    }

    /// Sweeps for the last time. Says what was moved since the start.
    pub(crate) fn finish(self) -> Vec<Moved> {
        drop(self.end);
        self.thread.join().unwrap_or_default()
    }
}

fn run(mut watched: Watched, ended: &mpsc::Receiver<()>) -> Vec<Moved> {
    let mut moved = Vec::new();
    let mut pause = PAUSE;
    let mut before = None;
    while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        let began = Instant::now();
        let now = activity();
        if before.is_some() && before == now {
            watched.adopt();
        } else {
            moved.extend(watched.sweep());
        }
        before = now;
        pause = PAUSE.max(began.elapsed() * SHARE);
    }
    moved.extend(watched.sweep());
    moved.truncate(MAX_TOLD);
    moved
}

/// How often each thread of the command has been given a processor. None when one is running now, or cannot be looked at.
fn activity() -> Option<BTreeMap<(i32, i32), u64>> {
    let mut switches = BTreeMap::new();
    for process in processes::descendants(&processes::all(), getpid().as_raw_pid()) {
        let tasks = fs::read_dir(format!("/proc/{}/task", process.pid)).ok()?;
        for task in tasks {
            let task = task.ok()?;
            let number: i32 = task.file_name().to_str()?.parse().ok()?;
            let status = fs::read_to_string(task.path().join("status")).ok()?;
            let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
            if !field("State:")?.starts_with('S') {
                return None;
            }
            let count = |name: &str| field(name).and_then(|count| count.parse::<u64>().ok());
            let all = count("voluntary_ctxt_switches:")? + count("nonvoluntary_ctxt_switches:")?;
            switches.insert((process.pid, number), all);
        }
    }
    Some(switches)
}
