//! The settings from environment variables. `AGENT_…` is the older name of each `BUDDY_…`.

use serde_json::Value;

use super::layers::{LayerSetting, SettingOrigin};
use super::profile::Api;
use crate::environment::Environment;

/// The profile that `BUDDY_BASE_URL` makes. Files cannot define it.
pub(crate) const ENVIRONMENT_PROFILE: &str = "environment";

/// The model that the user chose in a file, and what its server speaks.
pub(crate) struct ChosenModel {
    pub(crate) model: String,
    pub(crate) api: Api,
}

/// The settings of the environment. `BUDDY_BASE_URL` alone is another address for the model that was chosen.
pub(crate) fn settings(environment: &Environment, chosen: Option<ChosenModel>) -> Vec<LayerSetting> {
    let mut settings = Vec::new();
    let mut set = |path: &[&str], value: Value, variable: &str| {
        settings.push(LayerSetting {
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            value,
            origin: SettingOrigin::Variable(variable.to_owned()),
        });
    };
    let base_url = environment.setting("BASE_URL");
    if let Some((variable, url)) = &base_url {
        set(&["models", ENVIRONMENT_PROFILE, "api_base_url"], url.as_str().into(), variable);
        set(&["agent", "model"], ENVIRONMENT_PROFILE.into(), variable);
    }
    let is_alone = base_url.is_some() && environment.setting("MODEL").is_none();
    if let (Some((variable, _)), Some(chosen), true) = (&base_url, chosen, is_alone) {
        set(&["models", ENVIRONMENT_PROFILE, "model"], chosen.model.into(), variable);
        if environment.setting("API").is_none() {
            set(&["models", ENVIRONMENT_PROFILE, "api"], chosen.api.name().into(), variable);
        }
    }
    if let Some((variable, model)) = environment.setting("MODEL") {
        match base_url {
            Some(_) => set(&["models", ENVIRONMENT_PROFILE, "model"], model.into(), &variable),
            None => set(&["agent", "model"], model.into(), &variable),
        }
    }
    if let (Some((variable, api)), true) =
        (environment.setting("API"), environment.setting("BASE_URL").is_some())
    {
        set(&["models", ENVIRONMENT_PROFILE, "api"], api.into(), &variable);
    }
    if let Some((variable, wait)) = environment.setting("MODEL_IDLE_TIMEOUT") {
        set(&["network", "idle_timeout"], wait.into(), &variable);
    }
    if let Some((variable, policy)) = environment.setting("APPROVE") {
        set(&["approvals", "policy"], policy.into(), &variable);
    }
    if let Some((variable, wish)) = environment.setting("ENV") {
        set(&["agent", "environment"], wish.into(), &variable);
    }
    if let Some((variable, wish)) = environment.setting("SCREEN_READER") {
        set(&["display", "screen_reader"], (!matches!(wish.as_str(), "0" | "false" | "")).into(), &variable);
    }
    if environment.get("NO_COLOR").is_some() {
        set(&["display", "color"], false.into(), "NO_COLOR");
    }
    settings
}
