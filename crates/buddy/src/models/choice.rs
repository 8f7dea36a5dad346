//! Which model is used when nobody chose one.
//!
//! The user's choice is taken, whether it works or not. Else the built-in default is taken if its key is there; else
//! a vendor's key in the environment, else a login or a kept key, else a server on this machine. The network is asked only in the last case.

use buddy_model::Endpoint;
use buddy_protocol::Failure;

use super::connect::endpoint;
use super::key::{KEPT_KEY, KeyState, ModelKeys};
use super::local::LocalServer;
use super::reference::{Reference, explicit, resolve};
use crate::config::{Api, AuthKind, Config, ENVIRONMENT_PROFILE, Loaded, Profile, SettingOrigin, builtin};
use crate::environment::Environment;

/// Where the model comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChoiceKind {
    /// A profile that the user chose, or the default one, which has a key.
    Profile(String),
    /// `BUDDY_BASE_URL`.
    Environment,
    /// A vendor whose key is in this variable.
    Vendor(&'static str),
    /// A server that answers on this machine.
    Local(LocalServer),
    /// Nothing was found.
    Demo,
}

/// A choice, made.
#[derive(Debug)]
pub(crate) struct StartChoice {
    /// Where the model comes from.
    pub(crate) kind: ChoiceKind,
    /// The model to use when a session names none.
    pub(crate) active: Option<Reference>,
    /// A profile that takes the place of the configured one of its name.
    pub(crate) profile: Option<(String, Profile)>,
    /// Why, when the user did not choose.
    pub(crate) why: Option<String>,
}

/// A vendor's variables.
struct Vendor {
    key: &'static str,
    base_url: &'static str,
    profile: &'static str,
}

const VENDORS: [Vendor; 3] = [
    Vendor { key: "OPENAI_API_KEY", base_url: "OPENAI_BASE_URL", profile: "gpt-codex" },
    Vendor { key: "ANTHROPIC_API_KEY", base_url: "ANTHROPIC_BASE_URL", profile: "claude" },
    Vendor { key: "OPENROUTER_API_KEY", base_url: "OPENROUTER_BASE_URL", profile: "deepseek" },
];

/// Chooses. `wish` is the model that the command line names; `probe` looks for servers on this machine.
pub(crate) async fn choose(
    environment: &Environment,
    loaded: &Loaded,
    keys: &ModelKeys,
    wish: Option<&str>,
    probe: impl AsyncFnOnce() -> Vec<LocalServer>,
) -> Result<StartChoice, Failure> {
    let Config { models, agent, .. } = &loaded.config;
    let is_set = loaded.effective.origin(&["agent", "model"]) != SettingOrigin::Default;
    let named = explicit(&agent.model, models).filter(|_| is_set);
    if let Some(active) = named.clone().or_else(|| explicit(wish?, models)) {
        let kind = match active.profile.as_str() {
            ENVIRONMENT_PROFILE => ChoiceKind::Environment,
            name => ChoiceKind::Profile(name.to_owned()),
        };
        // A profile that only the command line names is not the one for bare names of models later on, but nothing
        // else was chosen either.
        return Ok(StartChoice { kind, active: Some(active), profile: None, why: None });
    }
    let default = Config::default().agent.model;
    // A bare model that somebody set goes with whatever is found.
    let model = is_set.then(|| resolve(&agent.model, models, Some(&default))).transpose()?;
    let model = model.and_then(|reference| reference.model);
    let found = default_profile(environment, loaded, keys, &default)
        .or_else(|| vendor(environment))
        .or_else(|| logged_in(loaded, keys));
    let found = match found {
        Some(found) => found,
        None => probe().await.into_iter().next().map_or_else(nothing, local),
    };
    Ok(with_model(found, model))
}

/// The default profile, if it has a key. `OPENAI_BASE_URL` would be ignored by it, so then it is not taken.
fn default_profile(
    environment: &Environment,
    loaded: &Loaded,
    keys: &ModelKeys,
    name: &str,
) -> Option<StartChoice> {
    let profile = loaded.config.models.get(name)?;
    let address = endpoint(name, profile).ok()?.to_string();
    let (state, source) = keys.state(name, profile, &address);
    let is_moved =
        VENDORS.iter().any(|vendor| source == vendor.key && environment.get(vendor.base_url).is_some());
    if is_moved || state == KeyState::Missing {
        return None;
    }
    Some(StartChoice {
        kind: ChoiceKind::Profile(name.to_owned()),
        active: Some(Reference { profile: name.to_owned(), model: None }),
        profile: None,
        why: Some(format!("from {source}")),
    })
}

fn vendor(environment: &Environment) -> Option<StartChoice> {
    let vendor = VENDORS.iter().find(|vendor| environment.get(vendor.key).is_some())?;
    let mut profile = builtin(vendor.profile)?;
    if let Some(base_url) = environment.get(vendor.base_url) {
        let address = |url: &str| Endpoint::parse(url).ok().map(|endpoint| endpoint.to_string());
        let is_elsewhere = address(base_url) != profile.api_base_url.as_deref().and_then(address);
        if is_elsewhere && profile.api == Api::Responses {
            // A server that calls itself compatible is so on this wire.
            profile.api = Api::Completions;
        }
        profile.api_base_url = Some(base_url.to_owned());
    }
    Some(StartChoice {
        kind: ChoiceKind::Vendor(vendor.key),
        active: Some(Reference { profile: vendor.profile.to_owned(), model: None }),
        profile: Some((vendor.profile.to_owned(), profile)),
        why: Some(format!("from {}", vendor.key)),
    })
}

/// A profile that `buddy login` connected: one with a login, else one with a kept key.
fn logged_in(loaded: &Loaded, keys: &ModelKeys) -> Option<StartChoice> {
    let is_connected = |kind: AuthKind| {
        let mut profiles = loaded.config.models.iter().filter(move |(_, profile)| profile.auth == kind);
        profiles.find_map(|(name, profile)| {
            let (state, source) = keys.state(name, profile, &endpoint(name, profile).ok()?.to_string());
            let is_kept = state == KeyState::Set && (kind == AuthKind::Login || source == KEPT_KEY);
            is_kept.then_some(name)
        })
    };
    let name = is_connected(AuthKind::Login).or_else(|| is_connected(AuthKind::ApiKey))?;
    Some(StartChoice {
        kind: ChoiceKind::Profile(name.clone()),
        active: Some(Reference { profile: name.clone(), model: None }),
        profile: None,
        why: Some("from `buddy login`".to_owned()),
    })
}

fn local(server: LocalServer) -> StartChoice {
    let mut profile = builtin(server.profile).unwrap_or_default();
    profile.api_base_url = Some(server.base_url.clone());
    profile.model = server.model.clone().or(profile.model);
    StartChoice {
        active: Some(Reference { profile: server.profile.to_owned(), model: None }),
        profile: Some((server.profile.to_owned(), profile)),
        why: Some(format!("{} answers at {}", server.profile, server.base_url)),
        kind: ChoiceKind::Local(server),
    }
}

fn nothing() -> StartChoice {
    StartChoice { kind: ChoiceKind::Demo, active: None, profile: None, why: None }
}

fn with_model(mut found: StartChoice, model: Option<String>) -> StartChoice {
    if let (Some(active), Some(model)) = (&mut found.active, model) {
        active.model = Some(model);
    }
    found
}

#[cfg(test)]
mod tests;
