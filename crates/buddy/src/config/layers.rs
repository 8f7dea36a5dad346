//! Layers, merged key by key: the last one that says something wins, and it is known who that was.
//!
//! Two rules are stricter than that. A profile has one key source, so a layer that names one takes the place of all
//! sources below it. And a key belongs to the address that it was configured for: a layer that moves a profile to another
//! address takes none of the keys and headers below it along.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use buddy_model::Endpoint;
use serde_json::{Map, Value};

use super::document::ConfigError;
use super::keys::{is_secret, written};
use super::profile::KEY_SOURCES;
use super::settings::Config;

/// Who set a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SettingOrigin {
    /// Nobody: it is built in.
    Default,
    /// A line of a file.
    File { path: PathBuf, line: usize },
    /// An environment variable.
    Variable(String),
    /// An option of the command line.
    CommandLine,
}

impl fmt::Display for SettingOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::File { path, line } => write!(formatter, "{}:{line}", path.display()),
            Self::Variable(name) => write!(formatter, "environment {name}"),
            Self::CommandLine => formatter.write_str("command line"),
        }
    }
}

/// A value and who set it. Not `Debug`: it may be a secret.
#[derive(Clone)]
pub(crate) struct LayerSetting {
    pub(crate) path: Vec<String>,
    pub(crate) value: Value,
    pub(crate) origin: SettingOrigin,
}

/// The values in force, each with its source.
#[derive(Clone, Default)]
pub(crate) struct Effective {
    settings: BTreeMap<Vec<String>, (Value, SettingOrigin)>,
    /// Warnings about the merge, for the user.
    pub(crate) warnings: Vec<String>,
}

impl Effective {
    /// Puts a layer on top. All its values must have the right type.
    pub(crate) fn add(&mut self, layer: Vec<LayerSetting>) -> Result<(), ConfigError> {
        for setting in &layer {
            check(setting)?;
        }
        let mut profiles: Vec<&String> = layer.iter().filter_map(profile_of).collect();
        profiles.dedup();
        for profile in profiles {
            self.make_room(profile, &layer)?;
        }
        for LayerSetting { path, value, origin } in layer {
            self.settings.insert(path, (value, origin));
        }
        Ok(())
    }

    /// Takes away what this layer does not let a profile keep.
    fn make_room(&mut self, profile: &str, layer: &[LayerSetting]) -> Result<(), ConfigError> {
        let of = |key: &str| layer.iter().find(|setting| is_key(&setting.path, profile, key));
        let mut sources = KEY_SOURCES.iter().filter_map(|key| of(key));
        let source = sources.next();
        if let (Some(one), Some(other)) = (source, sources.next()) {
            let (one_key, other_key) = (written(&one.path), written(&other.path));
            let message =
                format!("`{other_key}` and `{one_key}` both say where to find the key; keep one of them");
            return Err(ConfigError::new(other.origin.to_string(), message));
        }
        let is_moved = of("api_base_url").is_some_and(|moved| self.is_moved(profile, moved));
        if source.is_some() || is_moved {
            let lost = self.remove(profile, &KEY_SOURCES);
            if source.is_none() && lost {
                self.warnings.push(format!(
                    "`models.{profile}` has a new address, and its key stays with the old one: set `api_key_env` or another source beside the address"
                ));
            }
        }
        if is_moved {
            self.remove(profile, &["headers"]);
        }
        Ok(())
    }

    fn is_moved(&self, profile: &str, moved: &LayerSetting) -> bool {
        let path = ["models", profile, "api_base_url"].map(str::to_owned);
        let old = self.settings.get(path.as_slice()).and_then(|(value, _)| origin_of(value));
        old.is_some() && old != origin_of(&moved.value)
    }

    fn remove(&mut self, profile: &str, keys: &[&str]) -> bool {
        let before = self.settings.len();
        self.settings.retain(|path, _| !keys.iter().any(|key| is_key(path, profile, key)));
        self.settings.len() < before
    }

    /// The values as the typed configuration.
    pub(crate) fn config(&self) -> Result<Config, ConfigError> {
        let mut root = Value::Object(Map::new());
        for (path, (value, _)) in &self.settings {
            place(&mut root, path, value.clone());
        }
        serde_json::from_value(root)
            .map_err(|_| ConfigError::new("configuration", "the parts do not fit together"))
    }

    /// Who set a key; the default when nobody did.
    pub(crate) fn origin(&self, path: &[&str]) -> SettingOrigin {
        let path: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
        self.settings.get(&path).map_or(SettingOrigin::Default, |(_, origin)| origin.clone())
    }

    /// The settings and who made them.
    #[cfg(test)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Vec<String>, &Value, &SettingOrigin)> {
        self.settings.iter().map(|(path, (value, origin))| (path, value, origin))
    }
}

/// Fails unless the value has the type of its key, which only the typed configuration knows.
pub(crate) fn check(setting: &LayerSetting) -> Result<(), ConfigError> {
    let mut root = Value::Object(Map::new());
    place(&mut root, &setting.path, setting.value.clone());
    serde_json::from_value::<Config>(root).map(drop).map_err(|error| {
        let key = written(&setting.path);
        // The cause quotes the value.
        let cause = if is_secret(&setting.path) {
            "not the right type".to_owned()
        } else {
            error.to_string().replacen("unknown variant", "unknown value", 1)
        };
        ConfigError::new(setting.origin.to_string(), format!("`{key}`: {cause}"))
    })
}

fn place(root: &mut Value, path: &[String], value: Value) {
    let mut node = root;
    for name in path {
        if !node.is_object() {
            *node = Value::Object(Map::new());
        }
        let Value::Object(fields) = node else { return };
        node = fields.entry(name.clone()).or_insert(Value::Null);
    }
    *node = value;
}

fn profile_of(setting: &LayerSetting) -> Option<&String> {
    match setting.path.as_slice() {
        [models, profile, _] if models == "models" => Some(profile),
        _ => None,
    }
}

fn is_key(path: &[String], profile: &str, key: &str) -> bool {
    matches!(path, [models, name, last] if models == "models" && name == profile && last == key)
}

/// Scheme, host and port. An address that is none differs from every other.
fn origin_of(value: &Value) -> Option<String> {
    Endpoint::parse(value.as_str()?).ok().map(|endpoint| endpoint.to_string())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use secrecy::ExposeSecret;

    use super::*;
    use crate::config::document;
    use crate::config::profile::KeySource;

    fn layer(text: &str, origin: &SettingOrigin) -> Vec<LayerSetting> {
        let lines = document::read(Path::new("t"), text).unwrap().lines;
        lines
            .into_iter()
            .map(|line| LayerSetting { path: line.path, value: line.value, origin: origin.clone() })
            .collect()
    }

    fn merged(texts: &[&str]) -> Result<Effective, String> {
        let origins = [
            SettingOrigin::File { path: "user".into(), line: 1 },
            SettingOrigin::File { path: "project".into(), line: 1 },
            SettingOrigin::Variable("V".to_owned()),
            SettingOrigin::CommandLine,
        ];
        let mut effective = Effective::default();
        for (text, origin) in texts.iter().zip(&origins) {
            effective.add(layer(text, origin)).map_err(|error| error.to_string())?;
        }
        Ok(effective)
    }

    #[test]
    fn each_key_has_its_own_winner() {
        let texts = [
            "agent.name = 'u'\nagent.max_iterations = 1\ntmux.max_panes = 9",
            "agent.name = 'p'",
            "agent.name = 'v'",
        ];
        for (count, name, origin) in [(1, "u", "user:1"), (2, "p", "project:1"), (3, "v", "environment V")] {
            let effective = merged(texts.get(..count).unwrap()).unwrap();
            let config = effective.config().unwrap();
            assert_eq!((config.agent.name.as_str(), config.agent.max_iterations), (name, Some(1)));
            assert_eq!(effective.origin(&["agent", "name"]).to_string(), origin);
            assert_eq!(effective.origin(&["agent", "max_iterations"]).to_string(), "user:1");
            assert_eq!(effective.origin(&["agent", "model"]), SettingOrigin::Default);
        }
    }

    #[test]
    fn wrong_types_name_place_and_key() {
        let error = merged(&["agent.max_iterations = 'many'"]).err().unwrap();
        assert!(error.starts_with("user:1: `agent.max_iterations`: invalid type: string"), "{error}");
        let error = merged(&["models.m.api = 'soap'"]).err().unwrap();
        assert!(error.contains("`models.m.api`") && error.contains("completions"), "{error}");
    }

    #[test]
    fn a_key_of_the_wrong_type_is_not_quoted() {
        let error = merged(&["models.m.api_key = 123456"]).err().unwrap();
        assert_eq!(error, "user:1: `models.m.api_key`: not the right type");
    }

    #[test]
    fn two_sources_of_a_key_in_one_layer_are_refused() {
        let error = merged(&["models.m.api_key_env = 'A'\nmodels.m.api_key_file = 'b'"]).err().unwrap();
        assert!(error.contains("`models.m.api_key_file` and `models.m.api_key_env`"), "{error}");
    }

    #[test]
    fn a_higher_source_takes_the_place_of_the_lower() {
        let effective = merged(&["models.m.api_key_env = 'A'", "models.m.api_key = 'k'"]).unwrap();
        let source = effective.config().unwrap().models["m"].key_source();
        assert!(matches!(source, Some(KeySource::Inline(key)) if key.0.expose_secret() == "k"));
    }

    #[test]
    fn a_key_does_not_move_to_another_address() {
        let user = "[models.m]\napi_base_url = 'https://good/v1'\napi_key = 'k'\nheaders = { a = 'b' }";
        for (address, has_key) in
            [("https://good/v2", true), ("https://evil/v1", false), ("http://good/v1", false)]
        {
            let project = format!("models.m.api_base_url = '{address}'");
            let effective = merged(&[user, &project]).unwrap();
            let profile = &effective.config().unwrap().models["m"];
            assert_eq!(profile.key_source().is_some(), has_key, "{address}");
            assert_eq!(profile.headers.is_empty(), !has_key, "{address}");
            assert_eq!(effective.warnings.is_empty(), has_key, "{address}");
        }
    }
}
