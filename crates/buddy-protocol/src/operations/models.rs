//! The model profiles.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The model profiles, with what the user should know about them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelList {
    /// The profiles.
    pub models: Vec<ModelRow>,
    /// Warnings about the configuration, the guards and the keys.
    pub warnings: Vec<String>,
}

/// A profile in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRow {
    /// The name of the profile.
    pub name: String,
    /// Whether it is in use.
    pub active: bool,
    /// The API of its server.
    pub api: String,
    /// The address of its server.
    pub host: String,
    /// The model, as its provider names it.
    pub model: String,
    /// Where its key comes from.
    pub key_source: String,
    /// Whether there is a key, in words.
    pub key: String,
    /// How many tokens fit into a call.
    pub context_window: Option<u64>,
    /// Who says so.
    pub context_source: Option<WindowSource>,
}

/// Who says how large a context window is. The first that says something is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowSource {
    /// `context_limit` of the profile.
    Config,
    /// The server, asked in this run.
    Server,
    /// The lessons of `buddy doctor provider`.
    Doctor,
    /// The catalogue.
    Catalogue,
}

impl fmt::Display for WindowSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Config => "config",
            Self::Server => "server",
            Self::Doctor => "doctor",
            Self::Catalogue => "catalogue",
        })
    }
}
