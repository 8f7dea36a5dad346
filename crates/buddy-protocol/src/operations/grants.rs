//! Saved grants.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::UnixMillis;

/// A grant that holds beyond its session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedGrant {
    /// The permission in words, for people.
    pub allows: String,
    /// The target that it is for.
    pub target: String,
    /// The same in the words of the policy.
    pub grant: Value,
    /// The directory that it holds in, with all below it; `None` means everywhere.
    pub project: Option<String>,
    /// When it was given.
    pub granted: UnixMillis,
    /// When it ends.
    pub expires: UnixMillis,
    /// The same by the time since the machine was started.
    pub uptime: Option<GrantUptime>,
}

/// A moment since a start of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantUptime {
    /// The boot.
    pub boot: String,
    /// The time since then.
    pub millis: u64,
}

/// Saves a grant for commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaveGrant {
    /// The pattern of the commands, such as `cargo *`.
    pub pattern: String,
    /// Whether it holds in all directories and not only in the working directory.
    pub is_everywhere: bool,
    /// How long it holds, in milliseconds [default and maximum: 30 days].
    pub lasts_ms: Option<u64>,
}

/// Revokes grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevokeGrants {
    /// Those at these places in the list, counted from 1.
    Places(Vec<usize>),
    /// All.
    All,
}
