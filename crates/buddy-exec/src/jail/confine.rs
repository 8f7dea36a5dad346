//! The restrictions that the process inside applies to itself before the command starts. None can be undone,
//! and all are inherited.

use std::os::fd::OwnedFd;
use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
    path_beneath_rules,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};

use super::broker;
use super::landlock_rules::landlock;
use super::probe::landlock_abi;
use super::refusal::{LANDLOCK, PROCESS, Refusal, refused};
use super::seccomp::{self, Sockets};
use super::words::{Place, Plan};

/// Without namespaces Landlock has to cover truncation and signals too, which this version does (Linux 6.12).
pub(super) const LEAST_BARE_ABI: ABI = ABI::V6;

/// Applies every layer, or says which one could not be.
pub(super) fn confine(plan: &Plan, supervisor: Option<OwnedFd>) -> Result<(), Refusal> {
    if plan.place == Place::Light {
        return confine_lightly();
    }
    drop_capabilities()?;
    set_no_new_privs(true).map_err(refused(PROCESS, "give up new privileges"))?;
    let least = if plan.place == Place::Bare { LEAST_BARE_ABI } else { ABI::V1 };
    // In namespaces of its own a command without a network has one that leads nowhere: its tests may talk to its servers.
    let has_sockets = plan.network || plan.place == Place::Namespaces;
    landlock(&plan.rules, has_sockets, least)?;
    let supervisor = supervisor.filter(|_| plan.place == Place::Namespaces);
    // In a network of the machine's there would be no telling whose a local socket is.
    let sockets = match (has_sockets, broker::hand_over(supervisor, !plan.network)?) {
        (_, true) => Sockets::Local,
        (true, false) => Sockets::Network,
        (false, false) => Sockets::None,
    };
    seccomp::apply(plan.place, sockets)
}

/// Gives up the rights that could take the covers off or look past them, and to make programs that run as their owner. Nothing else. Landlock does the
/// same for accounts that own processes outside: a restricted process neither mounts nor looks into one that
/// is not restricted. Where the kernel does not have it, being in another user namespace does for all but
/// root.
fn confine_lightly() -> Result<(), Refusal> {
    let kept = CapabilitySet::all() & !(CapabilitySet::SYS_ADMIN | CapabilitySet::SYS_PTRACE);
    for capability in (CapabilitySet::SYS_ADMIN | CapabilitySet::SYS_PTRACE).iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    let _ = clear_ambient_capability_set();
    let now = rustix::thread::capabilities(None).map_err(refused(PROCESS, "look at the capabilities"))?;
    let (effective, permitted) = (now.effective & kept, now.permitted & kept);
    let inheritable = now.inheritable & kept;
    set_capabilities(None, CapabilitySets { effective, permitted, inheritable })
        .map_err(refused(PROCESS, "give up capabilities"))?;
    set_no_new_privs(true).map_err(refused(PROCESS, "give up new privileges"))?;
    seccomp::keep_modes()?;
    let abi = landlock_abi();
    if abi == ABI::Unsupported {
        return Ok(());
    }
    restrict_nothing().map_err(refused(LANDLOCK, "apply the rules"))
}

/// A restriction that allows every file: only being restricted counts. Local sockets without a name in the file system, such as
/// that of a display, cannot be covered; from version 6 on those of processes outside cannot be reached.
fn restrict_nothing() -> Result<(), landlock::RulesetError> {
    // The least that can be handled. Links and renames between directories need a right of their own from version 2 on.
    let access = AccessFs::from_all(ABI::V2);
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(access)?
        .scope(Scope::AbstractUnixSocket)?
        .create()?
        .add_rules(path_beneath_rules([PathBuf::from("/")], access))?
        .restrict_self()?;
    Ok(())
}

/// Root without capabilities is an account like others. The bounding set keeps them from coming back; only a
/// process with the right to shrink it could gain from it.
fn drop_capabilities() -> Result<(), Refusal> {
    for capability in CapabilitySet::all().iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
        .map_err(refused(PROCESS, "give up capabilities"))
}
