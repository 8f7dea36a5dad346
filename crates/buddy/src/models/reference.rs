//! The meaning of a model's name: a profile, `profile/model`, or a model of the active profile.

use std::collections::BTreeMap;

use buddy_protocol::{Failure, FailureKind};

use crate::config::{ENVIRONMENT_PROFILE, Profile};

/// How many letters may differ for a name to be taken for a slip.
const SLIPS: usize = 2;

/// A model of a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) profile: String,
    /// As the provider names it; none leaves it to the profile.
    pub(crate) model: Option<String>,
}

impl Reference {
    /// The name under which a session keeps it.
    pub(crate) fn name(&self) -> String {
        match &self.model {
            Some(model) => format!("{}/{model}", self.profile),
            None => self.profile.clone(),
        }
    }
}

/// The reference that names a profile, if the name does.
pub(crate) fn explicit(name: &str, profiles: &BTreeMap<String, Profile>) -> Option<Reference> {
    if profiles.contains_key(name) {
        return Some(Reference { profile: name.to_owned(), model: None });
    }
    let (profile, model) = name.split_once('/')?;
    let is_there = profiles.contains_key(profile) && !model.is_empty();
    is_there.then(|| Reference { profile: profile.to_owned(), model: Some(model.to_owned()) })
}

/// The meaning of a name while this profile is active.
pub(crate) fn resolve(
    name: &str,
    profiles: &BTreeMap<String, Profile>,
    active: Option<&str>,
) -> Result<Reference, Failure> {
    if let Some(reference) = explicit(name, profiles) {
        return Ok(reference);
    }
    let prefix = name.split('/').next().unwrap_or_default();
    if prefix == ENVIRONMENT_PROFILE {
        let hint = "set it again, or choose another model with -m";
        return Err(unknown(
            "this model is the one of BUDDY_BASE_URL, which is not set".to_owned(),
            hint.to_owned(),
        ));
    }
    if let Some(meant) = slip(prefix, profiles) {
        let elsewhere = active.map(|active| format!("; a model of that name is `{active}/{name}`"));
        let hint = format!("did you mean `{meant}`?{}", elsewhere.unwrap_or_default());
        return Err(unknown(format!("there is no profile `{prefix}`"), hint));
    }
    if let Some(active) = active {
        return Ok(Reference { profile: active.to_owned(), model: Some(name.to_owned()) });
    }
    let known: Vec<&str> = profiles.keys().map(String::as_str).collect();
    Err(unknown(format!("there is no profile `{name}`"), format!("the profiles are {}", known.join(", "))))
}

fn slip<'a>(name: &str, profiles: &'a BTreeMap<String, Profile>) -> Option<&'a str> {
    let scored = profiles.keys().map(|known| (strsim::osa_distance(name, known), known));
    let (distance, meant) = scored.min()?;
    // In a short name every letter counts: `glm-4` is a model, not a misspelt `glm`.
    (distance <= SLIPS && distance * 3 <= name.chars().count()).then_some(meant)
}

fn unknown(message: String, hint: String) -> Failure {
    Failure { http_status: None, kind: FailureKind::ModelMissing, message, hint: Some(hint) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str) -> Result<String, String> {
        let profiles = ["gpt-codex", "claude", "glm"].map(|name| (name.to_owned(), Profile::default()));
        let resolved = resolve(name, &profiles.into(), Some("gpt-codex"));
        resolved.map(|reference| reference.name()).map_err(|failure| failure.hint.unwrap_or_default())
    }

    #[test]
    fn profiles_models_of_profiles_and_bare_models() {
        assert_eq!(check("claude").unwrap(), "claude");
        assert_eq!(check("claude/claude-x").unwrap(), "claude/claude-x");
        assert_eq!(check("gpt-9").unwrap(), "gpt-codex/gpt-9");
        assert_eq!(check("vendor/model").unwrap(), "gpt-codex/vendor/model");
        assert_eq!(check("glm-4").unwrap(), "gpt-codex/glm-4");
    }

    #[test]
    fn slips_are_caught() {
        assert!(check("claud").unwrap_err().starts_with("did you mean `claude`?"));
        assert!(check("gpt-codx/x").unwrap_err().starts_with("did you mean `gpt-codex`?"));
        assert!(check("environment/x").is_err());
    }
}
