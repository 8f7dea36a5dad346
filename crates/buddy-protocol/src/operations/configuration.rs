//! The configuration as it holds, and changes of the user's file.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The configuration as it holds. Secrets are not in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationView {
    /// Every key, set or not.
    pub entries: Vec<ConfigurationEntry>,
    /// The gates that nobody set, and whether they are on for the model in use.
    pub gates: Vec<ConfigurationGate>,
    /// Settings of a project that have no effect.
    pub ignored: Vec<IgnoredSetting>,
    /// Warnings about the files.
    pub warnings: Vec<String>,
}

/// A key of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationEntry {
    /// The key, as people write it.
    pub key: String,
    /// Its value; null if it is not set.
    pub value: Value,
    /// Who set it.
    pub origin: String,
}

/// A gate that follows the family of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigurationGate {
    /// Its key.
    pub key: String,
    /// When it is on, in words.
    pub holds: String,
    /// The family of the model.
    pub family: String,
    /// Why the gate suits it or does not.
    pub why: String,
}

/// A setting of a project that has no effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IgnoredSetting {
    /// The key, as people write it.
    pub key: String,
    /// Where it is set.
    pub origin: String,
    /// Why it has no effect.
    pub reason: String,
}

/// The file that is changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigurationFile {
    /// Its path.
    pub path: String,
}

/// Sets a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetConfiguration {
    /// The key, such as `agent.model`.
    pub key: String,
    /// The value, as TOML or plain text.
    pub value: String,
}

/// Removes a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsetConfiguration {
    /// The key, such as `agent.model`.
    pub key: String,
}

/// The outcome of the removal of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsetOutcome {
    /// Whether the key was set in the file.
    pub was_set: bool,
    /// The path of the file.
    pub path: String,
}
