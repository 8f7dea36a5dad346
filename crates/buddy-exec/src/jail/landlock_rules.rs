//! Restricts a thread by Landlock, and checks that this holds.

use std::path::PathBuf;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope, path_beneath_rules,
};

use super::probe::{landlock_abi, on_a_thread};
use super::raw_path::RawPath;
use super::refusal::{LANDLOCK, Refusal, refused};
use super::words::Rules;

/// Restricts this thread to the rules with everything that the kernel's version of Landlock knows.
pub(super) fn landlock(rules: &Rules, network: bool, least: ABI) -> Result<(), Refusal> {
    let abi = landlock_abi();
    if abi < least {
        let reason = match abi {
            ABI::Unsupported => "the kernel does not have it, or it is turned off".to_owned(),
            _ => format!("version {abi} is too old to do without bubblewrap; version {least} is needed"),
        };
        return Err(Refusal::new(LANDLOCK, reason));
    }
    let status = restrict(rules, network, abi).map_err(refused(LANDLOCK, "apply the rules"))?;
    match status {
        RulesetStatus::FullyEnforced => Ok(()),
        _ => Err(Refusal::new(LANDLOCK, format!("the rules are not fully enforced ({status:?})"))),
    }
}

fn restrict(rules: &Rules, network: bool, abi: ABI) -> Result<RulesetStatus, landlock::RulesetError> {
    let all = AccessFs::from_all(abi);
    let write = all & !(AccessFs::IoctlDev | AccessFs::MakeChar | AccessFs::MakeBlock);
    let device = all
        & (AccessFs::ReadFile
            | AccessFs::ReadDir
            | AccessFs::WriteFile
            | AccessFs::Truncate
            | AccessFs::IoctlDev);
    let mut ruleset =
        Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(all)?;
    if !network && abi >= ABI::V4 {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        ruleset = ruleset.scope(Scope::from_all(abi))?;
    }
    let paths = |paths: &[RawPath], access: BitFlags<AccessFs>| {
        path_beneath_rules(paths.iter().map(RawPath::to_path).collect::<Vec<PathBuf>>(), access)
    };
    let status = ruleset
        .create()?
        .add_rules(paths(&rules.read, AccessFs::from_read(abi)))?
        .add_rules(paths(&rules.list, AccessFs::ReadDir.into()))?
        .add_rules(paths(&rules.write, write))?
        .add_rules(paths(&rules.devices, device))?
        .restrict_self()?;
    Ok(status.ruleset)
}

/// Restricts a thread to nothing, and checks whether it can still read.
pub(super) fn landlock_holds() -> Result<bool, Refusal> {
    let tried = on_a_thread(|| {
        landlock(&Rules::default(), false, ABI::V1)?;
        Ok(std::fs::read_dir("/").is_err())
    });
    tried.unwrap_or(Ok(false))
}
