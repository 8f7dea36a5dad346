//! The group of one command: made before it starts, entered for as long as the start takes, removed after its end.
//!
//! A process cannot be put into a group before it runs without code between fork and exec. So the supervisor itself goes
//! in, starts the command, which inherits the group, and goes back out.

use std::fs;
use std::path::Path;

use rustix::process::getpid;

use super::part::Part;
use super::places::{GroupPlace, places};
use super::{Limits, LimitsHit};
use crate::processes;

/// The prefix of the names of groups.
const PREFIX: &str = "buddy-";

/// The group of one command, in each hierarchy where one could be made.
#[derive(Debug)]
pub(crate) struct Group {
    parts: Vec<Part>,
    /// Whether this process could not get out again, and so would end itself with the group.
    is_shared: bool,
}

impl Group {
    /// Makes a group with these limits. `None` if no hierarchy accepts one.
    pub(crate) fn make(limits: Limits) -> Option<Self> {
        let read = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
        let me = processes::read(getpid().as_raw_pid())?;
        let name = format!("{PREFIX}{}-{}", me.pid, me.started);
        let found = places(&read("cgroup"), &read("mountinfo"));
        Self::make_in(found, &name, limits)
    }

    fn make_in(places: Vec<GroupPlace>, name: &str, limits: Limits) -> Option<Self> {
        for place in &places {
            remove_stale(&place.directory);
        }
        let made = places.into_iter().filter_map(|place| Part::make(place, name, limits));
        let parts: Vec<Part> = made.collect();
        (!parts.is_empty()).then_some(Self { parts, is_shared: false })
    }

    /// Runs `start` inside, so that everything it starts is in the group.
    pub(crate) fn with<T>(&mut self, start: impl FnOnce() -> T) -> T {
        self.parts.retain(|part| part.enter().is_ok());
        let started = start();
        for part in &self.parts {
            self.is_shared |= part.leave().is_err();
        }
        started
    }

    /// Kills everything in the group, and lets nothing new in where the kernel can be told so.
    pub(crate) fn kill(&self) {
        if self.is_shared {
            return;
        }
        for part in &self.parts {
            part.kill();
        }
    }

    /// The limits that the command ran into.
    pub(crate) fn hit(&self) -> LimitsHit {
        let hits = self.parts.iter().map(Part::hit);
        hits.fold(LimitsHit::default(), |all, hit| LimitsHit {
            processes: all.processes || hit.processes,
            memory: all.memory || hit.memory,
        })
    }

    /// Whether the group limits memory.
    pub(crate) fn keeps_memory(&self) -> bool {
        self.parts.iter().any(|part| part.limits.memory)
    }

    /// The limits of the group, in words for people; empty when it limits nothing.
    pub(crate) fn described(&self) -> String {
        let keeps_processes = self.parts.iter().any(|part| part.limits.processes);
        match (keeps_processes, self.keeps_memory()) {
            (true, true) => "limits the processes and memory of a whole command",
            (true, false) => "limits the processes of a whole command, not its memory",
            (false, true) => "limits the memory of a whole command, not its processes",
            (false, false) => "",
        }
        .to_owned()
    }
}

/// Removes the groups of supervisors that were killed. The kernel refuses to remove one with processes in it,
/// so it stays.
fn remove_stale(home: &Path) {
    let Ok(entries) = fs::read_dir(home) else { return };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    for name in names.filter(|name| is_stale(name)) {
        let _ = fs::remove_dir(home.join(name));
    }
}

fn is_stale(name: &str) -> bool {
    let owner = name.strip_prefix(PREFIX).and_then(|owner| owner.split_once('-'));
    let Some((Ok(pid), Ok(started))) = owner.map(|(pid, started)| (pid.parse(), started.parse::<u64>()))
    else {
        return false;
    };
    processes::read(pid).is_none_or(|process| process.started != started)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_groups_of_dead_supervisors_are_stale() {
        let me = processes::read(getpid().as_raw_pid()).unwrap();
        assert!(!is_stale(&format!("buddy-{}-{}", me.pid, me.started)));
        assert!(is_stale(&format!("buddy-{}-{}", me.pid, me.started + 1)));
        for other in ["buddy-main", "buddy-1", "buddy-x-1", "other-1-1", ""] {
            assert!(!is_stale(other), "{other}");
        }
    }
}
