//! The values of the configuration, as they may be shown: without secrets.

use serde_json::Value;

use super::keys::mask_secret;
use super::load::Loaded;

/// Every key with its value.
pub(crate) fn shown_values(loaded: &Loaded) -> Vec<(Vec<String>, Value)> {
    let Ok(Value::Object(sections)) = serde_json::to_value(&loaded.config) else { return Vec::new() };
    let mut values = Vec::new();
    for (section, keys) in sections {
        let Value::Object(keys) = keys else { continue };
        for (key, value) in keys {
            match value {
                Value::Object(fields) if has_keys(&section, &key) => {
                    let below = fields
                        .into_iter()
                        .map(|(field, value)| (vec![section.clone(), key.clone(), field], value));
                    values.extend(below);
                }
                value => values.push((vec![section.clone(), key], value)),
            }
        }
    }
    values.into_iter().map(|(path, value)| (path.clone(), mask_secret(&path, &value))).collect()
}

/// Whether the value is a table of keys, and not itself a setting.
fn has_keys(section: &str, key: &str) -> bool {
    matches!((section, key), ("models" | "login" | "checks", _) | ("agent", "gates"))
}
