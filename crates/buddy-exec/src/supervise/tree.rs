//! The descendants of the supervisor: signal them all, kill them all, reap the dead.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, wait};

use crate::processes::{self, Process};

/// How often the tree is read again while it is being frozen. A tree that still grows after that is killed as far as it
/// is known, and then frozen again.
const FREEZE_PASSES: usize = 20;

/// How long killing goes on. Only what cannot be killed lasts longer: another user's process, or one stuck in the kernel.
pub(super) const KILL_LIMIT: Duration = Duration::from_secs(5);

/// What one round of reaping found.
pub(super) struct Reaped {
    /// The status of the main process, if it was among the dead.
    pub(super) main: Option<WaitStatus>,
    /// Whether no child is left. As all orphans become children, then no descendant is left either.
    pub(super) none_left: bool,
}

/// The living descendants.
pub(super) fn living() -> Vec<Process> {
    processes::descendants(&processes::all(), getpid().as_raw_pid())
}

/// Asks all descendants to end. Stopped ones are continued, as they could not hear it otherwise.
pub(super) fn terminate() {
    for process in living() {
        process.signal(Signal::TERM);
        process.signal(Signal::CONT);
    }
}

/// Kills all descendants that are found, having frozen them first so that none can start another one meanwhile.
pub(super) fn kill_pass() {
    let mut frozen: BTreeSet<Process> = BTreeSet::new();
    for _ in 0..FREEZE_PASSES {
        let fresh: Vec<Process> = living().into_iter().filter(|process| !frozen.contains(process)).collect();
        if fresh.is_empty() {
            break;
        }
        for process in &fresh {
            process.signal(Signal::STOP);
        }
        frozen.extend(fresh);
    }
    for process in &frozen {
        process.signal(Signal::KILL);
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

/// The end of the time that killing may take.
pub(super) fn give_up_at() -> Instant {
    Instant::now() + KILL_LIMIT
}
