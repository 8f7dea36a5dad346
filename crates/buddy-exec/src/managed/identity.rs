//! The identity of a process: its id, its start time, and the boot.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};

use crate::processes;

/// A process that cannot be taken for another one, even if its id is reused or the machine is restarted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its id.
    pub pid: i32,
    /// Its start time, in clock ticks since boot.
    pub start_time: u64,
    /// The boot that it runs in.
    pub boot_id: String,
}

impl Identity {
    /// The identity of the process that has this id now.
    pub(super) fn of(pid: i32) -> Option<Self> {
        let process = processes::read(pid)?;
        Some(Self { pid, start_time: process.started, boot_id: boot_id() })
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        let found = processes::read(self.pid);
        self.boot_id == boot_id()
            && found.is_some_and(|process| process.started == self.start_time && !process.is_zombie)
    }

    /// A descriptor of it, through which no other process can be signalled; `None` when it has
    /// ended.
    pub(super) fn open(&self) -> Option<OwnedFd> {
        let pid = (self.pid > 0).then(|| Pid::from_raw(self.pid)).flatten()?;
        let descriptor = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // Only now: the id cannot be reused behind a descriptor.
        self.is_alive().then_some(descriptor)
    }
}

/// The boot that this machine is in; empty if the kernel does not tell, so that start times alone have to do.
fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn me() -> Identity {
        Identity::of(i32::try_from(std::process::id()).unwrap()).unwrap()
    }

    #[test]
    fn only_the_same_process_of_the_same_boot_is_meant() {
        assert!(me().is_alive() && me().open().is_some());
        let later = Identity { start_time: me().start_time + 1, ..me() };
        let rebooted = Identity { boot_id: "another".into(), ..me() };
        for other in [later, rebooted, Identity { pid: -1, ..me() }, Identity { pid: 0, ..me() }] {
            assert!(!other.is_alive() && other.open().is_none(), "{other:?}");
        }
    }
}
