//! The bounds of each mode: what a call may touch on a host. What is protected comes from policy's one table.

use std::path::PathBuf;

use buddy_agent::{AllowedBy, CallRights};
use buddy_exec::{Bounds, Reach};
use buddy_policy::{Mode, Needs, Places, Policy, guarded_names, home_secrets, secret_names, secret_places};
use buddy_protocol::NameSet;

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
    "history",
    "processes",
    "quarantine",
    "run",
    "trusted",
    "trusted.json",
    "trusted.lock",
    "undo",
];

/// Sockets that give whoever reaches them the machine.
const SOCKETS: &[&str] = &["/run/docker.sock", "/run/podman", "/var/run/docker.sock"];

/// Where things are on a host.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    pub(super) home: Option<PathBuf>,
    /// What belongs to buddy itself.
    pub(super) own: Vec<PathBuf>,
    /// Where files are written that nobody keeps, and those that agents share with people.
    pub(super) scratch: Vec<PathBuf>,
    is_remote: bool,
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
        let is_remote = host.remote.is_some();
        let shared = data.iter().filter(|_| !is_remote).map(|data| data.join("shared"));
        let scratch = [PathBuf::from("/tmp")].into_iter().chain(shared).collect();
        Self { home, own, scratch, is_remote }
    }

    /// Places with secrets that are there now. On another host names alone seal them, since a look at each would take long.
    fn secrets(&self) -> Vec<PathBuf> {
        if self.is_remote {
            return Vec::new();
        }
        let in_home = self.home.iter().flat_map(|home| home_secrets().map(|name| home.join(name)));
        let all = in_home.chain(secret_places().map(PathBuf::from));
        all.filter(|path| path.symlink_metadata().is_ok()).collect()
    }
}

/// What a call may touch under a policy.
pub(super) fn bounds(ground: &Ground, policy: &Policy, call: &CallRights<'_>, network: bool) -> Bounds {
    let needs = call.needs;
    let is_thought_about = call.by == AllowedBy::Person || (needs.runs && needs.is_ruled);
    let is_production = policy.mode == Mode::Production;
    if is_production && is_thought_about && needs.gains_rights {
        // No kernel lets a jailed command take the rights of another account.
        return Bounds::open();
    }
    let Places { workspace, untrusted, scratch, .. } = &policy.places;
    let is_open_command = is_thought_about && needs.runs;
    let mut hidden = ground.own.clone();
    if !(is_production && is_open_command) {
        hidden.extend(ground.secrets());
    }
    if !is_production {
        hidden.extend(SOCKETS.iter().map(PathBuf::from));
    }
    let is_still = call.is_read_only || policy.mode == Mode::Plan;
    let roots = || workspace.iter().chain(scratch).cloned();
    let write = match (is_production, is_still) {
        (true, _) => Reach::Anywhere,
        (false, true) => Reach::Nothing,
        (false, false) => Reach::Beneath(roots().collect()),
    };
    Bounds {
        write,
        opened: opened(needs, call.by, is_production, &hidden),
        hidden,
        guarded_names: if is_production { NameSet::default() } else { guarded_names().clone() },
        sealed_names: if is_open_command { NameSet::default() } else { secret_names().clone() },
        anchors: roots().chain(untrusted.iter().cloned()).collect(),
        network: is_production || (network && policy.mode != Mode::Plan),
        ..Bounds::open()
    }
}

/// What is free for this call: what a lasting rule opens, and what the person was asked about. Commands get nothing that is hidden
/// from them in development, where they are confined whatever was approved.
fn opened(needs: &Needs, by: AllowedBy, is_production: bool, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let asked = needs.asked.iter().filter(|_| by == AllowedBy::Person);
    let is_free =
        |path: &&PathBuf| !needs.runs || is_production || !hidden.iter().any(|place| path.starts_with(place));
    needs.ruled.iter().chain(asked).filter(is_free).cloned().collect()
}

#[cfg(test)]
mod tests;
