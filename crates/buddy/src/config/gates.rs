//! The gates of the loop that nobody set: whether they are on for the configured model, and why.

use buddy_model::{FamilyGates, FamilySwitch, ModelFamilies, ModelFamily};

use super::load::Loaded;
use super::settings::{Config, GatesSection};

/// A gate that follows the family of the model.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FamilyGate {
    /// Its key.
    pub(crate) key: &'static str,
    /// When it is on.
    pub(crate) is_on: GateState,
    /// The name of the family, and why the gate suits it or does not.
    pub(crate) family: String,
    pub(crate) why: String,
}

/// When a gate is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GateState {
    On,
    InExec,
    Off,
}

impl GateState {
    /// In words.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::InExec => "on in `exec` only",
            Self::Off => "off",
        }
    }
}

/// The gates that no file, variable or option sets.
pub(crate) fn family_gates(loaded: &Loaded) -> Vec<FamilyGate> {
    let family = family(&loaded.config);
    let FamilyGates { finish, stuck, retry, report, recite } = family.gates;
    let set: GatesSection = loaded.config.agent.gates;
    let state = |switch: &FamilySwitch, on: GateState| if switch.on { on } else { GateState::Off };
    let gates = [
        ("agent.gates.finish", set.finish, GateState::InExec, finish),
        ("agent.gates.stuck", set.stuck, GateState::On, stuck),
        ("agent.gates.retry", set.retry, GateState::On, retry),
        ("agent.gates.report", set.report, GateState::On, report),
        ("agent.gates.recite", set.recite, GateState::On, recite),
    ];
    let unset = gates.into_iter().filter(|(_, set, ..)| set.is_none());
    let gate = |(key, _, on, switch): (_, _, _, FamilySwitch)| FamilyGate {
        key,
        is_on: state(&switch, on),
        family: family.name.clone(),
        why: switch.why,
    };
    unset.map(gate).collect()
}

/// The family of the configured model.
fn family(config: &Config) -> ModelFamily {
    let name = config.agent.model.as_str();
    let model = match (config.models.get(name), name.split_once('/')) {
        (Some(profile), _) => profile.model_or(name),
        (None, Some((_, model))) => model,
        (None, None) => name,
    };
    ModelFamilies::built_in().map(|families| families.family(model)).unwrap_or_default()
}
