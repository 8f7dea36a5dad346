//! Kills the remaining processes of a managed process whose keeper was lost. They have the id in their
//! environment, which they inherit even if they change their parents and sessions.

use std::collections::BTreeSet;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::TAG;
use crate::processes::{self, Process};

/// The time limit of a sweep. Only a process that cannot be killed lasts longer.
const LIMIT: Duration = Duration::from_secs(5);

/// The time that killed processes get to die before the process table is read again.
const PAUSE: Duration = Duration::from_millis(20);

/// Kills all processes of the managed process. Returns whether none is left.
pub(super) fn sweep(id: &str) -> bool {
    let until = Instant::now() + LIMIT;
    loop {
        let left = tagged(id);
        if left.is_empty() {
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        for signal in [Signal::STOP, Signal::KILL] {
            for process in &left {
                process.signal(signal);
            }
        }
        thread::sleep(PAUSE);
    }
}

/// The living processes that have the id in their environment, and their descendants.
fn tagged(id: &str) -> Vec<Process> {
    let needle = format!("{TAG}={id}").into_bytes();
    let table = processes::all();
    let is_tagged = |process: &&Process| {
        let variables = fs::read(format!("/proc/{}/environ", process.pid)).unwrap_or_default();
        !process.is_zombie && variables.split(|byte| *byte == 0).any(|variable| variable == needle)
    };
    let mut found: BTreeSet<Process> = table.iter().filter(is_tagged).copied().collect();
    let roots: Vec<i32> = found.iter().map(|process| process.pid).collect();
    found.extend(roots.into_iter().flat_map(|root| processes::descendants(&table, root)));
    found.into_iter().collect()
}
