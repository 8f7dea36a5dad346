//! The group of one command: made before it starts, entered for as long as the start takes, removed after its end.
//!
//! A process cannot be put into a group before it runs without code between fork and exec. So the supervisor itself goes
//! in, starts the command, which inherits the group, and goes back out.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Signal, getpid};

use super::places::{Kind, Place, places};
use super::{Limits, LimitsHit};
use crate::processes;

/// What the names of groups begin with.
const PREFIX: &str = "buddy-";

/// The file that lists the processes of a group, and moves whoever is written to it.
const MEMBERS: &str = "cgroup.procs";

/// The group of one command, in each hierarchy where one could be made.
#[derive(Debug)]
pub(crate) struct Group {
    parts: Vec<Part>,
    /// Whether this process could not get out again, and so would end itself with the group.
    is_shared: bool,
}

#[derive(Debug)]
struct Part {
    kind: Kind,
    directory: PathBuf,
    /// The group to go back to.
    home: PathBuf,
    /// Which limits it keeps.
    limits: LimitsHit,
}

impl Group {
    /// Makes a group with these limits. None where no hierarchy takes one.
    pub(crate) fn make(limits: Limits) -> Option<Self> {
        let read = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
        let me = processes::read(getpid().as_raw_pid())?;
        let name = format!("{PREFIX}{}-{}", me.pid, me.started);
        let found = places(&read("cgroup"), &read("mountinfo"));
        let parts = found.into_iter().filter_map(|place| Part::make(place, &name, limits));
        let parts: Vec<Part> = parts.collect();
        (!parts.is_empty()).then_some(Self { parts, is_shared: false })
    }

    /// Runs `start` inside, so that whatever it starts is in the group.
    pub(crate) fn with<T>(&mut self, start: impl FnOnce() -> T) -> T {
        self.parts.retain(|part| enter(&part.directory).is_ok());
        let started = start();
        for part in &self.parts {
            self.is_shared |= enter(&part.home).is_err();
        }
        started
    }

    /// Kills everything in the group, and lets nothing new in where that can be said.
    pub(crate) fn kill(&self) {
        if self.is_shared {
            return;
        }
        for part in &self.parts {
            part.kill();
        }
    }

    /// Which limits were run into.
    pub(crate) fn hit(&self) -> LimitsHit {
        let mut hit = LimitsHit::default();
        for part in &self.parts {
            let counted = |file: &str, name: &str| counter(&part.directory.join(file), name) > 0;
            hit.processes |= counted("pids.events", "max");
            hit.memory |= counted("memory.events", "oom_kill") || counted("memory.oom_control", "oom_kill");
        }
        hit
    }

    /// Whether it limits memory.
    pub(crate) fn keeps_memory(&self) -> bool {
        self.parts.iter().any(|part| part.limits.memory)
    }

    /// What it does, in words for people; empty when it limits nothing.
    pub(crate) fn described(&self) -> String {
        let keeps_processes = self.parts.iter().any(|part| part.limits.processes);
        match (keeps_processes, self.keeps_memory()) {
            (true, true) => "processes and memory of a command are limited as a whole",
            (true, false) => "processes of a command are limited as a whole, its memory is not",
            (false, true) => "memory of a command is limited as a whole, its processes are not",
            (false, false) => "",
        }
        .to_owned()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for part in &self.parts {
            // One that still has a process is removed by a later command.
            let _ = fs::remove_dir(&part.directory);
        }
    }
}

impl Part {
    fn make(place: Place, name: &str, limits: Limits) -> Option<Self> {
        let Place { kind, directory: home } = place;
        remove_stale(&home);
        let directory = home.join(name);
        fs::create_dir(&directory).ok()?;
        let set = |file: &str, value: &str| fs::write(directory.join(file), value).is_ok();
        let (processes, memory) = (limits.processes.to_string(), limits.memory_bytes.to_string());
        let kept = match kind {
            Kind::Processes => LimitsHit { processes: set("pids.max", &processes), memory: false },
            Kind::Memory => {
                let is_kept = set("memory.limit_in_bytes", &memory);
                // Not every kernel counts swap.
                set("memory.memsw.limit_in_bytes", &memory);
                LimitsHit { processes: false, memory: is_kept }
            }
            Kind::Unified => {
                let is_kept = exists(&directory, "memory.max") && set("memory.max", &memory);
                if is_kept {
                    set("memory.swap.max", "0");
                    set("memory.oom.group", "1");
                }
                let processes = exists(&directory, "pids.max") && set("pids.max", &processes);
                LimitsHit { processes, memory: is_kept }
            }
        };
        let part = Self { kind, directory, home, limits: kept };
        let is_of_use = kept != LimitsHit::default() || exists(&part.directory, "cgroup.kill");
        if !is_of_use {
            let _ = fs::remove_dir(&part.directory);
        }
        is_of_use.then_some(part)
    }

    fn kill(&self) {
        match self.kind {
            Kind::Unified if fs::write(self.directory.join("cgroup.kill"), "1").is_ok() => {}
            Kind::Unified | Kind::Memory => self.kill_members(),
            Kind::Processes => {
                let _ = fs::write(self.directory.join("pids.max"), "0");
                self.kill_members();
            }
        }
    }

    fn kill_members(&self) {
        let members = fs::read_to_string(self.directory.join(MEMBERS)).unwrap_or_default();
        for process in members.lines().filter_map(|pid| processes::read(pid.parse().ok()?)) {
            process.signal(Signal::KILL);
        }
    }
}

fn exists(directory: &Path, file: &str) -> bool {
    directory.join(file).exists()
}

/// Moves this process, with all its threads, into a group.
fn enter(directory: &Path) -> io::Result<()> {
    fs::write(directory.join(MEMBERS), "0")
}

/// Removes the groups of supervisors that were killed. One with processes in it stays, as the kernel refuses.
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

/// The number behind a name in a file of names and numbers; 0 where there is none.
fn counter(path: &Path, name: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    line.unwrap_or(0)
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

    #[test]
    fn counters_are_read_by_their_whole_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("events");
        fs::write(&file, "oom 7\noom_kill 2\nmax 0\n").unwrap();
        assert_eq!([counter(&file, "oom_kill"), counter(&file, "max"), counter(&file, "none")], [2, 0, 0]);
    }
}
