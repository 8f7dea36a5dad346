//! The keys that there are, as the JSON Schema of the configuration has them.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::secret::HIDDEN;
use super::settings::Config;

/// How alike a name must be to be suggested: 1 is the same.
const ALIKE: f64 = 0.75;

static TREE: LazyLock<Value> = LazyLock::new(|| {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Config>().to_value()
});

/// The JSON Schema of `buddy.toml`.
pub(crate) fn schema() -> &'static Value {
    &TREE
}

/// The kinds of path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum KnownKey {
    /// A value.
    Value,
    /// A table with further keys.
    Table,
    /// Nothing that buddy knows; perhaps this was meant.
    Unknown { meant: Option<String> },
}

/// The kind of this path.
pub(crate) fn know(path: &[String]) -> KnownKey {
    let mut node = schema();
    for (depth, name) in path.iter().enumerate() {
        match child(node, name) {
            Some(below) => node = below,
            None if is_table(node) => {
                let before = path.get(..depth).unwrap_or_default();
                let section = if path.len() == 1 { only_section(node, name) } else { None };
                let section = section.map(|section| joined(&[section], name));
                let meant = section.or_else(|| meant(node, name).map(|meant| joined(before, &meant)));
                return KnownKey::Unknown { meant };
            }
            None => return KnownKey::Unknown { meant: None },
        }
    }
    if is_table(node) { KnownKey::Table } else { KnownKey::Value }
}

/// The keys directly below a table that always exist.
#[cfg(test)]
pub(crate) fn below(path: &[&str]) -> Vec<String> {
    let node = path.iter().try_fold(schema(), |node, name| child(node, name));
    let properties = node.and_then(|node| node["properties"].as_object());
    properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default()
}

/// The entry of a key in the schema.
#[cfg(test)]
pub(crate) fn description(path: &[&str]) -> String {
    let node = path.iter().try_fold(schema(), |node, name| child(node, name)).unwrap();
    node["description"].as_str().unwrap().to_owned()
}

/// Whether values of this path are never shown.
pub(crate) fn is_secret(path: &[String]) -> bool {
    let [section, _, key] = path else { return false };
    matches!((section.as_str(), key.as_str()), ("models", "api_key" | "headers") | ("login", "client_secret"))
}

/// The value as it may be shown.
pub(crate) fn mask_secret(path: &[String], value: &Value) -> Value {
    match value {
        Value::Object(fields) if is_secret(path) => {
            fields.keys().map(|name| (name.clone(), Value::from(HIDDEN))).collect()
        }
        _ if is_secret(path) => HIDDEN.into(),
        // A query of an address can hold a key.
        Value::String(text) if path.last().is_some_and(|key| key == "api_base_url") => {
            text.split_once('?').map_or_else(|| value.clone(), |(base, _)| format!("{base}?{HIDDEN}").into())
        }
        _ => value.clone(),
    }
}

/// A path as people write it.
pub(crate) fn written(path: &[String]) -> String {
    let parts = path.iter().map(|name| toml_edit::Key::new(name.clone()).display_repr().into_owned());
    parts.collect::<Vec<_>>().join(".")
}

fn joined(before: &[String], name: &str) -> String {
    let mut path = before.to_vec();
    path.push(name.to_owned());
    written(&path)
}

fn is_table(node: &Value) -> bool {
    node["properties"].is_object() || node["additionalProperties"]["properties"].is_object()
}

fn child<'a>(node: &'a Value, name: &str) -> Option<&'a Value> {
    let named = node["properties"].get(name);
    let any = &node["additionalProperties"];
    named.or_else(|| any["properties"].is_object().then_some(any))
}

/// The one section that has a key of this name, which stands above every section.
fn only_section(root: &Value, name: &str) -> Option<String> {
    let sections = root["properties"].as_object()?.iter();
    let mut having = sections.filter(|(_, section)| section["properties"].get(name).is_some());
    match (having.next(), having.next()) {
        (Some((section, _)), None) => Some(section.clone()),
        _ => None,
    }
}

fn meant(node: &Value, name: &str) -> Option<String> {
    let known = node["properties"].as_object()?.keys();
    closest(name, known.map(String::as_str))
}

/// The name that was probably meant.
pub(crate) fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let scored = known.map(|known| (strsim::jaro_winkler(name, known), known));
    let best = scored.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (best.0 >= ALIKE).then(|| best.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str) -> KnownKey {
        know(&path.split('.').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn tables_values_and_neither() {
        assert_eq!(check("agent"), KnownKey::Table);
        assert_eq!(check("models"), KnownKey::Table);
        assert_eq!(check("models.anything"), KnownKey::Table);
        assert_eq!(check("models.anything.headers"), KnownKey::Value);
        assert_eq!(check("models.anything.extra"), KnownKey::Value);
        assert_eq!(check("agent.model"), KnownKey::Value);
        assert_eq!(check("agent.model.x"), KnownKey::Unknown { meant: None });
    }

    #[test]
    fn what_was_meant_is_suggested() {
        let meant = |path| match check(path) {
            KnownKey::Unknown { meant } => meant,
            known => panic!("{path} is {known:?}"),
        };
        assert_eq!(meant("agnet.model").as_deref(), Some("agent"));
        assert_eq!(meant("agent.modle").as_deref(), Some("agent.model"));
        assert_eq!(meant("models.my-gpt.api_keyenv").as_deref(), Some("models.my-gpt.api_key_env"));
        assert_eq!(meant("zzz"), None);
        // The header of its section is still a comment.
        assert_eq!(meant("model").as_deref(), Some("agent.model"));
        assert_eq!(meant("max_cost_per_day").as_deref(), Some("budget.max_cost_per_day"));
    }

    #[test]
    fn secrets_are_not_shown() {
        let path = |key: &str| ["models", "m", key].map(str::to_owned);
        assert_eq!(mask_secret(&path("api_key"), &"sk-1".into()), "***");
        let headers = serde_json::json!({"x-key": "sk-1"});
        assert_eq!(mask_secret(&path("headers"), &headers), serde_json::json!({"x-key": "***"}));
        assert_eq!(mask_secret(&path("api_base_url"), &"https://h/v1?key=sk-1".into()), "https://h/v1?***");
    }
}
