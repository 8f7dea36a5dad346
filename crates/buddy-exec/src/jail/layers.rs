//! The layers of the jail that this machine has, found out by using them.

use std::path::Path;

use landlock::ABI;
use serde::Serialize;

use super::bubblewrap::{self, NAMESPACES};
use super::confine::LEAST_BARE_ABI;
use super::landlock_rules::landlock_holds;
use super::probe;
use super::refusal::{BUBBLEWRAP, CGROUP, LANDLOCK, SECCOMP, USER_NAMESPACES};
use crate::cgroup;

/// A layer of the jail on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// Its name, the same as in [`crate::TargetError::NotJailed`].
    pub name: &'static str,
    /// Whether it can be relied on.
    pub state: LayerState,
    /// The result of the test, or why the layer does not work, and what that means.
    pub detail: String,
}

/// Whether a layer can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerState {
    /// It was tried, and it holds.
    Works,
    /// It is missing. The jail works without it where it can, and is weaker.
    Absent,
    /// It exists and does not work; commands that need a jail are refused.
    Fails,
}

/// The path of the program that makes namespaces, apart from bubblewrap.
const UNSHARE: &str = "/usr/bin/unshare";

/// Tries every layer.
pub fn layers() -> Vec<Layer> {
    vec![bubblewrap(), landlock(), seccomp(), user_namespaces(), cgroup()]
}

fn layer(name: &'static str, state: LayerState, detail: impl Into<String>) -> Layer {
    Layer { name, state, detail: detail.into() }
}

fn bubblewrap() -> Layer {
    let program = match bubblewrap::find() {
        Ok(Some(program)) => program,
        Ok(None) => {
            let weaker = "not installed; commands can see your processes, change modes and times of files outside the \
                          workspace, and create nothing beside a protected name";
            return layer(BUBBLEWRAP, LayerState::Absent, weaker);
        }
        Err(refusal) => return layer(BUBBLEWRAP, LayerState::Fails, refusal.reason),
    };
    let program = program.to_string_lossy();
    let mut words = NAMESPACES.to_vec();
    words.extend([
        "--unshare-net",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--",
        "/bin/true",
    ]);
    match probe::run(&program, &words) {
        Ok(()) => layer(BUBBLEWRAP, LayerState::Works, format!("{program} works")),
        Err(error) => layer(BUBBLEWRAP, LayerState::Fails, error),
    }
}

fn landlock() -> Layer {
    let abi = probe::landlock_abi();
    if abi == ABI::Unsupported {
        let detail = "the kernel does not have it, or it is turned off; add `landlock` to `lsm=` at boot";
        return layer(LANDLOCK, LayerState::Absent, detail);
    }
    match landlock_holds() {
        Ok(true) if abi < LEAST_BARE_ABI => {
            let detail = format!("version {abi}, which needs bubblewrap beside it");
            layer(LANDLOCK, LayerState::Works, detail)
        }
        Ok(true) => layer(LANDLOCK, LayerState::Works, format!("version {abi}")),
        Ok(false) => layer(LANDLOCK, LayerState::Fails, format!("version {abi} restricts nothing")),
        Err(refusal) => layer(LANDLOCK, LayerState::Fails, refusal.reason),
    }
}

fn seccomp() -> Layer {
    match probe::seccomp_holds() {
        Ok(true) => layer(SECCOMP, LayerState::Works, "filters system calls"),
        Ok(false) => layer(SECCOMP, LayerState::Fails, "a filter was taken and has no effect"),
        Err(refusal) => layer(SECCOMP, LayerState::Fails, refusal.reason),
    }
}

fn user_namespaces() -> Layer {
    if !Path::new(UNSHARE).is_file() {
        return layer(USER_NAMESPACES, LayerState::Absent, format!("not tried: there is no {UNSHARE}"));
    }
    match probe::run(UNSHARE, &["--user", "--", "/bin/true"]) {
        Ok(()) => layer(USER_NAMESPACES, LayerState::Works, "this account can create them"),
        Err(error) => {
            let detail = format!("{error}; bubblewrap needs them unless it runs as root");
            layer(USER_NAMESPACES, LayerState::Absent, detail)
        }
    }
}

fn cgroup() -> Layer {
    let has = |path: &str| Path::new("/sys/fs/cgroup").join(path).exists();
    let version = match (has("cgroup.controllers"), has("memory/tasks"), has("unified/cgroup.controllers")) {
        (true, ..) => "version 2",
        (false, true, true) => "version 1, with version 2 beside it",
        (false, true, false) => "version 1",
        (false, false, _) => return layer(CGROUP, LayerState::Absent, "not mounted"),
    };
    match cgroup::tried().as_str() {
        "" => {
            let detail = format!("{version}, but this account cannot set limits with it");
            layer(CGROUP, LayerState::Absent, detail)
        }
        kept => layer(CGROUP, LayerState::Works, format!("{version}: {kept}")),
    }
}
