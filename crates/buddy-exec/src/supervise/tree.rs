//! The descendants of the supervisor: signal them all, kill them all, reap the dead.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, wait};

use crate::jail::Keeper;
use crate::processes::{self, Process};

/// The number of times that the newest processes are searched while the tree is being frozen. A tree that
/// still grows after that is killed as far as it is known, and then frozen again.
const FREEZE_ROUNDS: usize = 500;

/// The most ids that are looked up one by one; beyond that, reading the whole process table is
/// cheaper.
const MAX_WINDOW: i32 = 4000;

/// The time limit of killing. Only processes that cannot be killed last longer: another user's, or one stuck
/// in the kernel.
pub(super) const KILL_LIMIT: Duration = Duration::from_secs(5);

/// The result of one round of reaping.
pub(super) struct Reaped {
    /// The status of the main process, if it was among the dead.
    pub(super) main: Option<WaitStatus>,
    /// Whether no child is left. As all orphans become children, no descendant is left then either.
    pub(super) none_left: bool,
}

/// The living descendants.
fn living() -> Vec<Process> {
    processes::descendants(&processes::all(), getpid().as_raw_pid())
}

/// The living descendants that are the command's. Of a jail, its outermost process and the one inside that speaks are not.
pub(super) fn living_of(main: Pid, keeper: Keeper) -> Vec<Process> {
    let main = main.as_raw_pid();
    let mut living = living();
    living.retain(|process| match keeper {
        Keeper::Nobody => true,
        Keeper::Main => process.pid != main,
        Keeper::Child => process.pid != main && process.parent != main,
    });
    living
}

/// Asks all of the command's processes to end. Stopped ones are continued, as they could not hear it
/// otherwise.
pub(super) fn terminate(main: Pid, keeper: Keeper) {
    for process in living_of(main, keeper) {
        process.signal(Signal::TERM);
        process.signal(Signal::CONT);
    }
}

/// Kills all descendants that are found, having frozen them first so that none can start another one meanwhile.
pub(super) fn kill_pass() {
    let mut freeze =
        Freeze { frozen: BTreeSet::new(), family: BTreeSet::new(), newest: processes::newest_pid() };
    for process in living() {
        freeze.take(process);
    }
    for _ in 0..FREEZE_ROUNDS {
        if !freeze.take_newest() {
            break;
        }
    }
    for process in &freeze.frozen {
        process.signal(Signal::KILL);
    }
}

/// A tree being frozen.
///
/// Reading the whole table takes long enough for a process to start its successor and end, again and again, and never
/// be there when its signal comes. So after the first reading only the ids are looked up that were given out since: that
/// is faster than a process can fork.
struct Freeze {
    frozen: BTreeSet<Process>,
    /// The ids of all processes that were found, also of those that are dead by now: their children are still
    /// on the way.
    family: BTreeSet<i32>,
    newest: Option<i32>,
}

impl Freeze {
    fn take(&mut self, process: Process) {
        self.family.insert(process.pid);
        if !process.is_zombie && self.frozen.insert(process) {
            process.signal(Signal::STOP);
        }
    }

    /// Takes the new processes of the tree. Returns whether there were any, dead or alive.
    fn take_newest(&mut self) -> bool {
        let (before, newest) = (self.newest, processes::newest_pid());
        self.newest = newest;
        let size = self.family.len();
        match (before, newest) {
            (Some(before), Some(newest)) if (before..before.saturating_add(MAX_WINDOW)).contains(&newest) => {
                // In rising order: parents before their children, and the newest is signalled right after it was read.
                self.take_family(processes::among(before.saturating_add(1)..=newest));
            }
            _ => self.take_family(processes::all().into_iter()),
        }
        self.family.len() > size
    }

    fn take_family(&mut self, processes: impl Iterator<Item = Process>) {
        for process in processes {
            if self.is_parent(process.parent) {
                self.take(process);
            }
        }
    }

    fn is_parent(&self, pid: i32) -> bool {
        pid == getpid().as_raw_pid() || self.family.contains(&pid)
    }
}

/// Reaps all children that are dead, without waiting.
pub(super) fn reap(main: Pid) -> Reaped {
    let mut reaped = Reaped { main: None, none_left: false };
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == main => reaped.main = Some(status),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return reaped,
            Err(_) => {
                reaped.none_left = true;
                return reaped;
            }
        }
    }
}

/// The deadline of killing.
pub(super) fn give_up_at() -> Instant {
    Instant::now() + KILL_LIMIT
}
