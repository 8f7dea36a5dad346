//! The bounds of each mode: what a call may touch on a host.

use std::path::PathBuf;

use buddy_exec::{Bounds, Reach};
use buddy_policy::{Mode, Places, Policy};

use crate::environment::Environment;
use crate::host::Host;

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
    "trusted",
    "trusted.json",
    "trusted.lock",
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

/// Where things are on a host.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    pub(super) home: Option<PathBuf>,
    /// What belongs to buddy itself.
    pub(super) own: Vec<PathBuf>,
    /// Where files are written that nobody keeps, and those that agents share with people.
    pub(super) scratch: Vec<PathBuf>,
}

impl Ground {
    /// That of this machine, or of another host, where buddy may be used too.
    pub(super) fn of(environment: &Environment, host: &Host) -> Self {
        let home = host.home.clone();
        let (data, config) = match (&host.remote, &home) {
            (None, _) => (Some(environment.data.clone()), environment.config_home.clone()),
            (Some(_), home) => {
                let below = |name: &str| home.as_ref().map(|home| home.join(name));
                (below(".buddy"), below(".config"))
            }
        };
        let own = data.iter().flat_map(|data| OWN_DATA.iter().map(|name| data.join(name)));
        let own = own.chain(config.iter().map(|config| config.join("buddy"))).collect();
        let shared = data.iter().filter(|_| host.remote.is_none()).map(|data| data.join("shared"));
        Self { home, own, scratch: [PathBuf::from("/tmp")].into_iter().chain(shared).collect() }
    }
}

/// What a call may touch under a policy.
pub(super) fn bounds(ground: &Ground, policy: &Policy, is_read_only: bool, network: bool) -> Bounds {
    if policy.mode == Mode::Production {
        return Bounds::open();
    }
    let is_still = is_read_only || policy.mode == Mode::Plan;
    let roots = policy.places.workspace.iter().chain(&policy.places.scratch).cloned();
    let write = if is_still { Reach::Nothing } else { Reach::Beneath(roots.collect()) };
    let in_home = |name: &str| ground.home.as_ref().map(|home| home.join(name));
    let hidden = ground
        .own
        .iter()
        .cloned()
        .chain(KEYS.iter().filter_map(|name| in_home(name)))
        .chain(SOCKETS.iter().map(PathBuf::from));
    // Named in the workspace and in the session's directory, which may lie in one that can be written without being trusted
    // itself. Places for temporary files are shared with programs that have nothing to do with it.
    let Places { workspace, untrusted, scratch, .. } = &policy.places;
    let is_writable = |path: &&PathBuf| workspace.iter().chain(scratch).any(|root| path.starts_with(root));
    let guarded = workspace.iter().chain(untrusted.iter().filter(is_writable));
    Bounds {
        write,
        hidden: hidden.collect(),
        guarded: guarded_in(guarded),
        network: network && policy.mode != Mode::Plan,
        ..Bounds::open()
    }
}

/// What is guarded in these directories.
pub(super) fn guarded_in<'a>(directories: impl IntoIterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    directories.into_iter().flat_map(|root| GUARDED.iter().map(|name| root.join(name))).collect()
}
