//! The groups that this process is in, as directories in which groups can be made. Pure.

use std::path::{Path, PathBuf};

/// A group that this process is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GroupPlace {
    pub(super) kind: Kind,
    pub(super) directory: PathBuf,
}

/// The hierarchy that a group belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The one hierarchy of version 2, with all the controllers it has.
    Unified,
    /// The hierarchy of version 1 that limits the number of processes.
    Processes,
    /// The hierarchy of version 1 that limits memory.
    Memory,
}

/// The groups of a process, from the texts of `/proc/<pid>/cgroup` and `/proc/<pid>/mountinfo`.
pub(super) fn places(groups: &str, mounts: &str) -> Vec<GroupPlace> {
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(number), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let has = |name: &str| controllers.split(',').any(|controller| controller == name);
        let kind = match (number, controllers) {
            ("0", "") => Kind::Unified,
            _ if has("pids") => Kind::Processes,
            _ if has("memory") => Kind::Memory,
            _ => continue,
        };
        if let Some(directory) = directory(kind, path, mounts) {
            found.push(GroupPlace { kind, directory });
        }
    }
    found
}

/// The directory of a group below the mount of its hierarchy. A mount may show only a part of the hierarchy.
fn directory(kind: Kind, path: &str, mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let (mut before, mut after) = (before.split(' ').skip(3), after.split(' '));
        let (root, point) = (before.next()?, before.next()?);
        let (file_system, options) = (after.next()?, after.nth(1)?);
        let has = |name: &str| options.split(',').any(|option| option == name);
        let is_it = match kind {
            Kind::Unified => file_system == "cgroup2",
            Kind::Processes => file_system == "cgroup" && has("pids"),
            Kind::Memory => file_system == "cgroup" && has("memory"),
        };
        let inside = Path::new(path).strip_prefix(root).ok().filter(|_| is_it)?;
        Some(Path::new(point).join(inside))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(groups: &str, mounts: &str, expected: &[(Kind, &str)]) {
        let expected: Vec<GroupPlace> = expected
            .iter()
            .map(|(kind, directory)| GroupPlace { kind: *kind, directory: directory.into() })
            .collect();
        assert_eq!(places(groups, mounts), expected);
    }

    #[test]
    fn version_2_alone() {
        check(
            "0::/user.slice/user-1000.slice/session-2.scope\n",
            "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
            &[(Kind::Unified, "/sys/fs/cgroup/user.slice/user-1000.slice/session-2.scope")],
        );
    }

    #[test]
    fn version_1_with_version_2_beside_it() {
        check(
            "8:pids:/\n4:cpu,memory:/a/b\n3:cpuset:/\n1:name=systemd:/\n0::/\n",
            "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
             39 31 0:36 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
             41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
            &[
                (Kind::Processes, "/sys/fs/cgroup/pids"),
                (Kind::Memory, "/sys/fs/cgroup/memory/a/b"),
                (Kind::Unified, "/sys/fs/cgroup/unified"),
            ],
        );
    }

    #[test]
    fn a_container_that_sees_a_part() {
        let mounts = "1 2 0:3 /docker/abc /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids\n";
        check("8:pids:/docker/abc/x\n", mounts, &[(Kind::Processes, "/sys/fs/cgroup/pids/x")]);
        check("8:pids:/elsewhere\n", mounts, &[]);
    }

    #[test]
    fn rubbish_has_no_places() {
        check("", "", &[]);
        check("0\n::\nx:y\n", "a b c\n - \n1 2 3 4 - cgroup2\n", &[]);
    }
}
