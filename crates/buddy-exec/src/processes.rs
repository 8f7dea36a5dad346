//! The process table: descendants, and signals that reach only the intended processes.
//!
//! A process is named by its id and its start time, and is signalled through a descriptor that was opened
//! before the start time was read again. So an id that was reused in between is never hit. Children of this
//! process must be reaped by the thread that signals them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, pidfd_send_signal};

/// A process as the kernel describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) session: i32,
    /// In clock ticks since boot.
    pub(crate) started: u64,
    /// It has ended and waits to be reaped by its parent.
    pub(crate) is_zombie: bool,
}

impl Process {
    /// Sends a signal if this is still the same process. Returns whether it was sent.
    pub(crate) fn signal(&self, signal: Signal) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else { return false };
        if self.parent == getpid().as_raw_pid() {
            // A child keeps its id until it is reaped, which the same thread does that signals; so this can be quick.
            return kill_process(pid, signal).is_ok();
        }
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(descriptor) => self.is_still_there() && pidfd_send_signal(&descriptor, signal).is_ok(),
            // Before Linux 5.3, and under filters that forbid it, the check alone has to do.
            Err(Errno::NOSYS | Errno::PERM) => self.is_still_there() && kill_process(pid, signal).is_ok(),
            Err(_) => false,
        }
    }

    fn is_still_there(&self) -> bool {
        read(self.pid).is_some_and(|now| now.started == self.started)
    }
}

/// All processes at (about) this moment.
pub(crate) fn all() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(read).collect()
}

/// The id that was given out last. Linux gives them out in rising order and then starts again from the bottom.
pub(crate) fn newest_pid() -> Option<i32> {
    fs::read_to_string("/proc/loadavg").ok()?.split_ascii_whitespace().last()?.parse().ok()
}

/// The processes with an id in `pids`, each read when it is asked for. Far cheaper than [`all`] when the range is small.
pub(crate) fn among(pids: RangeInclusive<i32>) -> impl Iterator<Item = Process> {
    pids.filter_map(read)
}

/// The living processes of `table` that descend from `root`, parents before their children.
pub(crate) fn descendants(table: &[Process], root: i32) -> Vec<Process> {
    family(table, BTreeSet::from([root]))
}

/// The living processes of `table` that are in the session of `leader` or descend from it, without `leader` itself.
///
/// A process that left the session *and* lost its parents to the init process is not found.
pub(crate) fn session_family(table: &[Process], leader: i32) -> Vec<Process> {
    let members = table.iter().filter(|process| process.session == leader && process.pid != leader);
    let mut found: BTreeSet<Process> = members.copied().filter(|process| !process.is_zombie).collect();
    let roots = found.iter().map(|process| process.pid).chain([leader]).collect();
    found.extend(family(table, roots));
    found.into_iter().collect()
}

fn family(table: &[Process], roots: BTreeSet<i32>) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<&Process>> = BTreeMap::new();
    for process in table {
        children.entry(process.parent).or_default().push(process);
    }
    let mut seen = roots.clone();
    let mut queue: Vec<i32> = roots.into_iter().collect();
    let mut found = Vec::new();
    while let Some(parent) = queue.pop() {
        for process in children.get(&parent).into_iter().flatten() {
            // A table read while processes come and go may contain a cycle.
            if seen.insert(process.pid) {
                queue.push(process.pid);
                found.push(**process);
            }
        }
    }
    found.retain(|process| !process.is_zombie);
    found
}

/// The process with this id.
pub(crate) fn read(pid: i32) -> Option<Process> {
    parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The id that a process has in its own namespace.
pub(crate) fn inner_pid(pid: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("NSpid:"))?.split_ascii_whitespace().last()?.parse().ok()
}

/// Reads a line of `/proc/<pid>/stat`. The name in parentheses may contain anything, parentheses and spaces included, so
/// the fields are counted from the last closing one.
fn parse(stat: &[u8]) -> Option<Process> {
    let stat = String::from_utf8_lossy(stat);
    let (pid, _) = stat.split_once(' ')?;
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // `rest` begins with field 3 of proc(5).
    let field = |number: usize| fields.get(number - 3).copied();
    Some(Process {
        pid: pid.parse().ok()?,
        parent: field(4)?.parse().ok()?,
        session: field(6)?.parse().ok()?,
        started: field(22)?.parse().ok()?,
        is_zombie: matches!(field(3)?, "Z" | "X"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32, session: i32) -> Process {
        Process { pid, parent, session, started: 1, is_zombie: false }
    }

    fn pids(mut processes: Vec<Process>) -> Vec<i32> {
        processes.sort();
        processes.iter().map(|process| process.pid).collect()
    }

    #[test]
    fn a_name_with_parentheses_and_spaces_shifts_nothing() {
        let line = b"42 (a) R 1 (b c) S 7 42 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 50 1844674";
        let expected = Process { pid: 42, parent: 7, session: 40, started: 987_654, is_zombie: false };
        assert_eq!(parse(line), Some(expected));
        assert_eq!(parse(b"42 (cut"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn descendants_are_found_through_the_dead_and_in_spite_of_cycles() {
        let zombie = Process { is_zombie: true, ..process(11, 10, 10) };
        let table = [process(10, 1, 10), zombie, process(12, 11, 9), process(20, 1, 10), process(30, 31, 1)];
        assert_eq!(pids(descendants(&table, 10)), [12]);
        assert_eq!(pids(descendants(&[process(30, 31, 1), process(31, 30, 1)], 30)), [31]);
    }

    #[test]
    fn a_session_includes_orphans_and_their_children() {
        let table = [process(10, 5, 10), process(11, 1, 10), process(12, 11, 12), process(13, 1, 13)];
        assert_eq!(pids(session_family(&table, 10)), [11, 12]);
    }

    #[test]
    fn a_new_process_is_among_the_newest() {
        let me = i32::try_from(std::process::id()).unwrap();
        assert!(newest_pid().is_some());
        assert_eq!(pids(among(me..=me).collect()), [me]);
    }

    #[test]
    fn another_start_time_is_another_process() {
        let me = read(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(me.signal(Signal::CONT));
        assert!(!Process { started: me.started + 1, ..me }.signal(Signal::CONT));
    }
}
