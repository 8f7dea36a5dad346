//! What the kernel offers to keep commands apart, read from `/proc` and `/sys` below a root.

use std::path::Path;

use buddy_model::diagnose::Check;

/// The layers of isolation that this machine has.
pub(super) fn layers(root: &Path) -> Vec<Check> {
    vec![landlock(root), seccomp(root), user_namespaces(root), cgroup(root)]
}

fn landlock(root: &Path) -> Check {
    let next =
        "a jail without it relies on bubblewrap or a container; enable it with `lsm=landlock,…` at boot";
    match read(root, "sys/kernel/security/lsm") {
        Some(modules) if modules.split(',').any(|module| module == "landlock") => {
            Check::ok("landlock", "the kernel has it turned on; its version is not asked")
        }
        Some(modules) => Check::warn("landlock", format!("not among the security modules: {modules}"), next),
        None => Check::warn("landlock", "unknown: the list of security modules cannot be read", next),
    }
}

fn seccomp(root: &Path) -> Check {
    let actions = read(root, "proc/sys/kernel/seccomp/actions_avail");
    let status = read(root, "proc/self/status").unwrap_or_default();
    match actions {
        Some(actions) => Check::ok("seccomp", format!("filters are there: {actions}")),
        None if status.contains("Seccomp:") => Check::ok("seccomp", "the kernel knows it"),
        None => {
            Check::warn("seccomp", "the kernel has no filters", "system calls of commands cannot be limited")
        }
    }
}

fn user_namespaces(root: &Path) -> Check {
    let next = "bubblewrap and rootless containers need them; ask the administrator of this machine";
    let is_off = |path: &str, off: &str| read(root, path).is_some_and(|value| value == off);
    match read(root, "proc/sys/user/max_user_namespaces").map(|most| most.parse::<u64>()) {
        None | Some(Err(_)) => Check::warn("user_namespaces", "the kernel has none", next),
        Some(Ok(0)) => Check::warn("user_namespaces", "turned off: the most is 0", next),
        Some(Ok(_)) if is_off("proc/sys/kernel/unprivileged_userns_clone", "0") => {
            Check::warn("user_namespaces", "only for root (unprivileged_userns_clone is 0)", next)
        }
        Some(Ok(_)) if is_off("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") => {
            Check::warn("user_namespaces", "AppArmor restricts them to programs with a profile", next)
        }
        Some(Ok(most)) => Check::ok("user_namespaces", format!("up to {most}")),
    }
}

fn cgroup(root: &Path) -> Check {
    match read(root, "sys/fs/cgroup/cgroup.controllers") {
        Some(controllers) => Check::ok("cgroup", format!("version 2: {controllers}")),
        None if root.join("sys/fs/cgroup/memory").is_dir() => {
            Check::warn("cgroup", "version 1", "limits on memory and processes of commands need version 2")
        }
        None => {
            Check::warn("cgroup", "none is mounted", "memory and processes of commands cannot be limited")
        }
    }
}

/// A small file without the space around its text; none when it is not there or not for us.
fn read(root: &Path, path: &str) -> Option<String> {
    std::fs::read_to_string(root.join(path)).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdicts of a machine with these files.
    fn verdicts(files: &[(&str, &str)]) -> String {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let checks = layers(root.path());
        checks.iter().map(|check| check.verdict.to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_new_kernel_has_them_all() {
        let files = [
            ("sys/kernel/security/lsm", "lockdown,capability,landlock,yama\n"),
            ("proc/sys/kernel/seccomp/actions_avail", "kill trap errno allow\n"),
            ("proc/sys/user/max_user_namespaces", "15000\n"),
            ("sys/fs/cgroup/cgroup.controllers", "cpu memory pids\n"),
        ];
        assert_eq!(verdicts(&files), "ok ok ok ok");
    }

    #[test]
    fn what_is_missing_or_turned_off_is_a_warning() {
        assert_eq!(verdicts(&[]), "warn warn warn warn");
        let files = [
            ("sys/kernel/security/lsm", "capability"),
            ("proc/self/status", "Name: x\nSeccomp:\t0\n"),
            ("proc/sys/user/max_user_namespaces", "15000"),
            ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
            ("sys/fs/cgroup/memory/tasks", ""),
        ];
        assert_eq!(verdicts(&files), "warn ok warn warn");
    }
}
