//! Sweeps beside a command while it runs, and once more after its last process is gone.
//!
//! Files do not say which process made them. So a file that appears while no thread of the command has run is
//! taken for another program's. Only files that appear while one has run are moved.

use std::collections::BTreeMap;
use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::getpid;

use super::quarantine::SweepNote;
use super::watched::Watched;
use crate::processes;

/// The longest pause between searches, and the part of the time they may take: one in so many.
const PAUSE: Duration = Duration::from_secs(2);
const SHARE: u32 = 50;

/// The most notes that are reported for one command.
const MAX_TOLD: usize = 50;

/// The sweeping of one command.
#[derive(Debug)]
pub(crate) struct Sweeper {
    orders: Sender<SweepOrder>,
    thread: JoinHandle<Vec<SweepNote>>,
}

/// A listener for the notes of a sweep.
type MovedTeller = Box<dyn Fn(&[SweepNote]) + Send>;

/// An instruction to a sweeper.
enum SweepOrder {
    /// Search now, and return the notes that were not reported yet.
    Look(SyncSender<Vec<SweepNote>>),
    /// Call this listener whenever a file was moved.
    Follow(MovedTeller),
    /// Search for the last time.
    End,
}

/// Speaks to a sweeper while the command runs.
#[derive(Debug, Clone)]
pub(crate) struct SweepLine(Sender<SweepOrder>);

impl SweepLine {
    /// Calls this listener from now on as soon as a file was moved.
    pub(crate) fn follow(&self, teller: impl Fn(&[SweepNote]) + Send + 'static) {
        let _ = self.0.send(SweepOrder::Follow(Box::new(teller)));
    }

    /// The notes that were not reported yet. Empty once the command has ended: they are reported at its end.
    pub(crate) fn look(&self) -> Vec<SweepNote> {
        let (answer, answered) = mpsc::sync_channel(1);
        if self.0.send(SweepOrder::Look(answer)).is_err() {
            return Vec::new();
        }
        answered.recv().unwrap_or_default()
    }
}

impl Sweeper {
    /// Begins to sweep; `None` if there is nothing to watch or no thread can be started.
    pub(super) fn start(watched: Watched) -> Option<Self> {
        if watched.is_idle() {
            return None;
        }
        let (orders, ordered) = mpsc::channel();
        let thread = thread::Builder::new().spawn(move || run(watched, &ordered)).ok()?;
        Some(Self { orders, thread })
    }

    pub(crate) fn line(&self) -> SweepLine {
        SweepLine(self.orders.clone())
    }

    /// Sweeps for the last time. Returns the notes that were not reported yet.
    pub(crate) fn finish(self) -> Vec<SweepNote> {
        let _ = self.orders.send(SweepOrder::End);
        self.thread.join().unwrap_or_default()
    }
}

fn run(mut watched: Watched, ordered: &mpsc::Receiver<SweepOrder>) -> Vec<SweepNote> {
    let mut moved = Vec::new();
    let mut pause = PAUSE;
    let mut before = None;
    let mut follower: Option<MovedTeller> = None;
    loop {
        let order = ordered.recv_timeout(pause);
        let began = Instant::now();
        match order {
            Ok(SweepOrder::Look(answer)) => {
                gather(&mut moved, watched.sweep_all());
                // The caller may be gone; then the next one gets the notes.
                if let Err(error) = answer.send(std::mem::take(&mut moved)) {
                    moved = error.0;
                }
                before = None;
            }
            Err(RecvTimeoutError::Timeout) => {
                let now = activity();
                if before.is_some() && before == now {
                    watched.adopt();
                } else {
                    gather(&mut moved, watched.sweep());
                }
                before = now;
            }
            Ok(SweepOrder::Follow(teller)) => follower = Some(teller),
            Ok(SweepOrder::End) | Err(RecvTimeoutError::Disconnected) => break,
        }
        if let Some(teller) = follower.as_ref().filter(|_| !moved.is_empty()) {
            teller(&std::mem::take(&mut moved));
        }
        pause = PAUSE.max(began.elapsed() * SHARE);
    }
    gather(&mut moved, watched.sweep_all());
    moved
}

/// Adds notes up to the bound. Directories that were not searched are reported first.
fn gather(notes: &mut Vec<SweepNote>, found: Vec<SweepNote>) {
    notes.extend(found);
    notes.sort_by_key(|note| note.moved().is_some());
    notes.truncate(MAX_TOLD);
}

/// The number of times that each thread of the command has been given a processor. `None` if one is running now, or cannot
/// be inspected.
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
