//! Ending a managed process: by its keeper if that lives, and by a sweep for the processes of a lost one.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, pidfd_send_signal};

use super::sweep::sweep;
use super::{Identity, Record};

/// The time a keeper may take on top of the grace: killing has a limit of its own, and then the record is
/// written.
const KEEPER_LIMIT: Duration = Duration::from_secs(8);

/// The way to end a managed process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// Ask it first, and kill it after the grace.
    Gentle,
    /// Kill it at once.
    Now,
}

/// Ends a managed process with all its descendants. Returns whether no process is left.
pub(super) fn stop(record: &Record, grace: Duration, force: Force) -> bool {
    tell_keeper(&record.keeper, grace, force);
    // Processes that the keeper has ended are not found any more; those of a lost one are.
    sweep(&record.id)
}

/// Tells the keeper to end everything and waits for its own end. One that does not end is killed.
fn tell_keeper(keeper: &Identity, grace: Duration, force: Force) {
    let Some(descriptor) = keeper.open() else { return };
    let (signal, limit) = match force {
        Force::Gentle => (Signal::TERM, grace + KEEPER_LIMIT),
        Force::Now => (Signal::QUIT, KEEPER_LIMIT),
    };
    // A keeper that its own command has stopped must hear it too.
    let is_told = pidfd_send_signal(&descriptor, signal).is_ok();
    let _ = pidfd_send_signal(&descriptor, Signal::CONT);
    if !is_told || !ends_within(&descriptor, limit) {
        let _ = pidfd_send_signal(&descriptor, Signal::KILL);
        ends_within(&descriptor, KEEPER_LIMIT);
    }
}

fn ends_within(process: &impl AsFd, limit: Duration) -> bool {
    let until = Instant::now() + limit;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        let mut polled = [PollFd::new(process, PollFlags::IN)];
        match poll(&mut polled, Some(&timeout)) {
            Ok(0) => return false,
            Ok(_) => return true,
            Err(_) if left.is_zero() => return false,
            Err(_) => {}
        }
    }
}
