//! Logging out.

use serde::{Deserialize, Serialize};

/// Deletes logins and keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogOut {
    /// The login or key of the profile in use.
    Active,
    /// Those of this profile or provider.
    Named(String),
    /// All.
    All,
}

/// The deleted parts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogOutReport {
    /// The deleted keys.
    pub keys: Vec<ForgottenKey>,
    /// The deleted logins.
    pub logins: Vec<ForgottenLogin>,
    /// Warnings about the configuration and the file of logins.
    pub warnings: Vec<String>,
}

/// A deleted key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgottenKey {
    /// The profile that it was for.
    pub profile: String,
}

/// A deleted login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgottenLogin {
    /// The provider.
    pub provider: String,
    /// The outcome of its tokens.
    pub tokens: TokenRevocation,
}

/// The outcome of the tokens of a deleted login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenRevocation {
    /// The provider revoked them.
    Done,
    /// The provider cannot revoke tokens, so they stay valid until they expire.
    NotOffered,
    /// The provider did not revoke them, for this reason.
    Failed(String),
}
