//! The gates of the loop that nobody set: whether they are on for the configured model, and why.

use buddy_model::{FamilyGates, ModelFamilies, ModelFamily};

use super::load::Loaded;
use super::settings::{Config, GatesSection};

/// A gate that follows the family of the model.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FamilyGate {
    /// Its key.
    pub(crate) key: &'static str,
    /// When it is on.
    pub(crate) is_on: GateState,
    /// The name of the family.
    pub(crate) family: String,
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
    let FamilyGates { finish, stuck, retry, report } = family.gates;
    let set: GatesSection = loaded.config.agent.gates;
    let state = |is_on: bool, on: GateState| if is_on { on } else { GateState::Off };
    let gates = [
        ("agent.gates.finish", set.finish, state(finish, GateState::InExec)),
        ("agent.gates.stuck", set.stuck, state(stuck, GateState::On)),
        ("agent.gates.retry", set.retry, state(retry, GateState::On)),
        ("agent.gates.report", set.report, state(report, GateState::On)),
    ];
    let unset = gates.into_iter().filter(|(_, set, _)| set.is_none());
    unset.map(|(key, _, is_on)| FamilyGate { key, is_on, family: family.name.clone() }).collect()
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
