//! The users of a server and their roles: the port through which the hub learns what a user may do at all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::UserId;

/// The role of a user on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Owns the server.
    Owner,
    /// Administers it for the owner.
    Admin,
    /// Works on it.
    User,
}

/// Roles and memberships. Lookups are on the path of every request, so an implementation answers from memory.
pub trait Members: Send + Sync {
    /// The role of a user; `None` for a user that is unknown or locked out.
    fn role(&self, user: &UserId) -> Option<Role>;

    /// Whether a user may work in a workspace.
    fn is_member(&self, user: &UserId, workspace: &str) -> bool;
}

/// One machine without a server: an account that can open the store owns it.
#[derive(Debug, Clone, Copy)]
pub struct SingleUser;

impl Members for SingleUser {
    fn role(&self, _: &UserId) -> Option<Role> {
        Some(Role::Owner)
    }

    fn is_member(&self, _: &UserId, _: &str) -> bool {
        true
    }
}
