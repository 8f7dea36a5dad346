//! The bounds of each mode: what a call may touch on this machine.

use std::path::{Path, PathBuf};

use buddy_exec::{Bounds, Reach};
use buddy_policy::{Mode, Policy};

use crate::environment::Environment;

/// In the data directory, what agents must not see: it says who may do what, and what happened.
const OWN_DATA: &[&str] = &[
    "buddy.db",
    "buddy.db-wal",
    "buddy.db-shm",
    "config",
    "grants.json",
    "grants.lock",
    "processes",
    "run",
    "trusted.json",
    "undo",
];

/// In the home, what holds the person's keys.
const KEYS: &[&str] = &[".aws", ".config/gcloud", ".gnupg", ".kube", ".netrc", ".ssh"];

/// Sockets that give whoever reaches them the machine.
const SOCKETS: &[&str] = &["/run/docker.sock", "/run/podman", "/var/run/docker.sock"];

/// In a workspace, what makes other programs run something later.
const GUARDED: &[&str] = &[
    ".buddy",
    ".claude",
    ".codex",
    ".envrc",
    ".git/config",
    ".git/hooks",
    ".gitmodules",
    ".mcp.json",
    ".vscode/settings.json",
    ".vscode/tasks.json",
    "agent.toml",
    "buddy.toml",
];

/// What belongs to buddy itself.
pub(super) fn own(environment: &Environment) -> Vec<PathBuf> {
    let data = OWN_DATA.iter().map(|name| environment.data.join(name));
    let config = environment.config_home.iter().map(|home| home.join("buddy"));
    data.chain(config).collect()
}

/// Where files are written that nobody keeps, and those that agents share with people.
pub(super) fn scratch(environment: &Environment) -> Vec<PathBuf> {
    vec![PathBuf::from("/tmp"), environment.data.join("shared")]
}

/// What a call may touch under a policy.
pub(super) fn bounds(
    environment: &Environment,
    policy: &Policy,
    is_read_only: bool,
    network: bool,
) -> Bounds {
    if policy.mode == Mode::Production {
        return Bounds::open();
    }
    let is_still = is_read_only || policy.mode == Mode::Plan;
    let roots = policy.places.workspace.iter().chain(&policy.places.scratch).cloned();
    let write = if is_still { Reach::Nothing } else { Reach::Beneath(roots.collect()) };
    let in_home = |name: &str| environment.home.as_ref().map(|home: &PathBuf| home.join(name));
    let hidden = own(environment)
        .into_iter()
        .chain(KEYS.iter().filter_map(|name| in_home(name)))
        .chain(SOCKETS.iter().map(PathBuf::from));
    Bounds {
        write,
        hidden: hidden.collect(),
        guarded: GUARDED.iter().map(|name| Path::new(name).to_owned()).collect(),
        network: network && policy.mode != Mode::Plan,
        ..Bounds::open()
    }
}
