//! The group of a command in one hierarchy: a directory, and the files in it that are written and read.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::places::{GroupPlace, Kind};
use super::{Limits, LimitsHit};
use crate::processes;

/// The file that lists the processes of a group. Writing a process id to it moves that process into
/// the group.
const MEMBERS: &str = "cgroup.procs";

/// The file of version 2 that ends all processes of a group in one step, also those that are being started.
const KILL: &str = "cgroup.kill";

/// The controllers of version 2 that enforce [`Limits`].
const WANTED: [&str; 2] = ["memory", "pids"];

/// The group of a command in one hierarchy. Its directory is removed with it.
#[derive(Debug)]
pub(super) struct Part {
    kind: Kind,
    directory: PathBuf,
    /// The group to go back to.
    home: PathBuf,
    /// The limits that the group enforces.
    pub(super) limits: LimitsHit,
}

impl Part {
    /// Makes a group in this place. `None` if it would enforce nothing.
    pub(super) fn make(place: GroupPlace, name: &str, limits: Limits) -> Option<Self> {
        let GroupPlace { kind, directory: home } = place;
        if kind == Kind::Unified {
            hand_down_controllers(&home);
        }
        let directory = home.join(name);
        fs::create_dir(&directory).ok()?;
        Self::set_up(kind, directory, home, limits)
    }

    /// Sets the limits of an existing group.
    fn set_up(kind: Kind, directory: PathBuf, home: PathBuf, limits: Limits) -> Option<Self> {
        let set = |file: &str, value: &str| put(&directory.join(file), value).is_ok();
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
                let is_kept = set("memory.max", &memory);
                if is_kept {
                    set("memory.swap.max", "0");
                    set("memory.oom.group", "1");
                }
                LimitsHit { processes: set("pids.max", &processes), memory: is_kept }
            }
        };
        let is_of_use = kept != LimitsHit::default() || directory.join(KILL).exists();
        let part = Self { kind, directory, home, limits: kept };
        is_of_use.then_some(part)
    }

    /// Moves this process, with all its threads, into the group.
    pub(super) fn enter(&self) -> io::Result<()> {
        put(&self.directory.join(MEMBERS), "0")
    }

    /// Moves this process back to the group it came from.
    pub(super) fn leave(&self) -> io::Result<()> {
        put(&self.home.join(MEMBERS), "0")
    }

    /// Kills everything in the group, and lets nothing new in where the kernel can be told so.
    pub(super) fn kill(&self) {
        match self.kind {
            Kind::Unified if put(&self.directory.join(KILL), "1").is_ok() => return,
            Kind::Unified | Kind::Processes => {
                let _ = put(&self.directory.join("pids.max"), "0");
            }
            Kind::Memory => {}
        }
        let members = fs::read_to_string(self.directory.join(MEMBERS)).unwrap_or_default();
        for process in members.lines().filter_map(|pid| processes::read(pid.parse().ok()?)) {
            process.signal(Signal::KILL);
        }
    }

    /// The limits that the command ran into.
    pub(super) fn hit(&self) -> LimitsHit {
        let counted = |file: &str, name: &str| counter(&self.directory.join(file), name) > 0;
        LimitsHit {
            processes: counted("pids.events", "max"),
            memory: counted("memory.events", "oom_kill") || counted("memory.oom_control", "oom_kill"),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // A group that still has a process is removed by a later command.
        let _ = fs::remove_dir(&self.directory);
    }
}

/// Gives the groups below this one of version 2 the controllers that it has itself. The kernel refuses that
/// where the group has processes, which is everywhere but at the top; then the groups have the controllers
/// that others turned on.
fn hand_down_controllers(home: &Path) {
    let words = |file: &str| fs::read_to_string(home.join(file)).unwrap_or_default();
    let (has, gives) = (words("cgroup.controllers"), words("cgroup.subtree_control"));
    let is_in = |list: &str, wanted: &str| list.split_ascii_whitespace().any(|word| word == wanted);
    let missing = WANTED.iter().filter(|wanted| is_in(&has, wanted) && !is_in(&gives, wanted));
    let orders: Vec<String> = missing.map(|wanted| format!("+{wanted}")).collect();
    if !orders.is_empty() {
        let _ = put(&home.join("cgroup.subtree_control"), &orders.join(" "));
    }
}

/// Writes to an existing file, in one step. A group has the files that the kernel gave it, and no others.
fn put(path: &Path, value: &str) -> io::Result<()> {
    OpenOptions::new().write(true).truncate(true).open(path)?.write_all(value.as_bytes())
}

/// The number behind a name in a file of names and numbers; 0 if the name is missing.
fn counter(path: &Path, name: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    line.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    const LIMITS: Limits = Limits { processes: 77, memory_bytes: 123_456_789 };

    /// A directory with the files that a kernel would make in a group.
    struct Fake(tempfile::TempDir);

    impl Fake {
        fn with(files: &[&str]) -> Self {
            let fake = Self(tempfile::tempdir().unwrap());
            fs::create_dir(fake.path("group")).unwrap();
            fs::write(fake.path(MEMBERS), "").unwrap();
            for file in files {
                fs::write(fake.path("group").join(file), "").unwrap();
            }
            fake
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn part(&self, kind: Kind) -> Option<Part> {
            Part::set_up(kind, self.path("group"), self.0.path().to_owned(), LIMITS)
        }

        fn file(&self, name: &str) -> String {
            fs::read_to_string(self.path("group").join(name)).unwrap()
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.path("group").join(name), text).unwrap();
        }
    }

    const WHOLE: &[&str] = &[MEMBERS, KILL, "memory.max", "memory.swap.max", "memory.oom.group", "pids.max"];

    #[test]
    fn a_group_of_version_2_gets_its_limits() {
        let fake = Fake::with(WHOLE);
        let part = fake.part(Kind::Unified).unwrap();
        assert_eq!(part.limits, LimitsHit { processes: true, memory: true });
        assert_eq!(
            ["pids.max", "memory.max", "memory.swap.max", "memory.oom.group"].map(|name| fake.file(name)),
            ["77", "123456789", "0", "1"]
        );
    }

    #[test]
    fn without_controllers_a_group_of_version_2_limits_nothing_and_still_ends_everything() {
        let fake = Fake::with(&[MEMBERS, KILL]);
        let part = fake.part(Kind::Unified).unwrap();
        assert_eq!(part.limits, LimitsHit::default());
        part.kill();
        assert_eq!(fake.file(KILL), "1");
        assert!(!fake.path("group/pids.max").exists() && !fake.path("group/memory.max").exists());
    }

    #[test]
    fn a_group_that_can_do_nothing_is_not_kept() {
        let fake = Fake::with(&[]);
        assert!(fake.part(Kind::Unified).is_none());
        assert!(!fake.path("group").exists());
    }

    #[test]
    fn a_process_leaves_its_group_for_its_home() {
        let fake = Fake::with(WHOLE);
        let part = fake.part(Kind::Unified).unwrap();
        part.enter().unwrap();
        assert_eq!((fake.file(MEMBERS).as_str(), fs::read(fake.path(MEMBERS)).unwrap().len()), ("0", 0));
        part.leave().unwrap();
        assert_eq!(fs::read_to_string(fake.path(MEMBERS)).unwrap(), "0");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a process to be killed")]
    fn members_of_a_group_without_a_kill_file_are_killed_one_by_one() {
        for kind in [Kind::Unified, Kind::Processes, Kind::Memory] {
            let fake = Fake::with(&[MEMBERS, "pids.max", "memory.limit_in_bytes"]);
            let part = fake.part(kind).unwrap();
            let mut sleeper = std::process::Command::new("sleep").arg("600").spawn().unwrap();
            fake.write(MEMBERS, &format!("{}\nnonsense\n", sleeper.id()));
            part.kill();
            assert_eq!(sleeper.wait().unwrap().signal(), Some(9), "{kind:?}");
            let is_shut = fake.file("pids.max") == "0";
            assert_eq!(is_shut, kind != Kind::Memory, "{kind:?}");
        }
    }

    #[test]
    fn limits_hit_are_read_from_the_events_of_either_version() {
        let check = |files: &[(&str, &str)], processes: bool, memory: bool| {
            let fake = Fake::with(WHOLE);
            for (name, text) in files {
                fake.write(name, text);
            }
            let part = fake.part(Kind::Unified).unwrap();
            assert_eq!(part.hit(), LimitsHit { processes, memory }, "{files:?}");
        };
        check(&[], false, false);
        check(&[("pids.events", "max 3\n")], true, false);
        check(&[("pids.events", "max 0\n")], false, false);
        check(
            &[("memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\noom_group_kill 1\n")],
            false,
            true,
        );
        check(&[("memory.events", "max 9\noom 1\noom_kill 0\noom_group_kill 1\n")], false, false);
        check(&[("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")], false, true);
    }

    #[test]
    fn controllers_are_handed_down_where_they_are_there_and_missing_below() {
        let check = |has: &str, gives: &str, written: &str| {
            let home = tempfile::tempdir().unwrap();
            fs::write(home.path().join("cgroup.controllers"), has).unwrap();
            let gives_file = home.path().join("cgroup.subtree_control");
            fs::write(&gives_file, gives).unwrap();
            hand_down_controllers(home.path());
            assert_eq!(fs::read_to_string(&gives_file).unwrap(), written, "{has:?} {gives:?}");
        };
        check("cpuset cpu io memory pids\n", "", "+memory +pids");
        check("cpu memory pids\n", "cpu memory\n", "+pids");
        check("cpu io\n", "cpu", "cpu");
        check("memory pids", "memory pids", "memory pids");
    }

    #[test]
    fn counters_are_read_by_their_whole_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("events");
        fs::write(&file, "oom 7\noom_kill 2\nmax 0\n").unwrap();
        assert_eq!([counter(&file, "oom_kill"), counter(&file, "max"), counter(&file, "none")], [2, 0, 0]);
    }
}
