//! The policy of a session on calls that need an approval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A session's policy on calls that need an approval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ApprovalPolicy {
    /// Ask the user.
    Ask,
    /// Approve them.
    All,
    /// Deny them.
    None,
    /// Approve them for a limited time, except dangerous calls and those that buddy does not understand; then
    /// ask again.
    Window {
        /// The duration.
        seconds: u64,
    },
    /// Approve changes that the file tools make in the workspace, unless the changed file decides what runs
    /// later. Ask for everything else.
    Edits,
    /// Approve calls that run in the jail, stay in the workspace and can be undone. Ask for everything else.
    #[default]
    Auto,
}

impl ApprovalPolicy {
    /// The names of all policies but a window, which has a time for a name.
    pub const NAMES: [&str; 5] = ["ask", "none", "all", "edits", "auto"];

    /// The name, as people write it on the command line, in files and in a conversation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::All => "all",
            Self::None => "none",
            Self::Window { .. } => "window",
            Self::Edits => "edits",
            Self::Auto => "auto",
        }
    }

    /// The policy of a name. A time is read by the caller, who knows how people write it there.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Ask, Self::None, Self::All, Self::Edits, Self::Auto];
        all.into_iter().find(|policy| policy.name() == name)
    }

    /// Whether it approves nothing by itself that another one does not approve too.
    pub fn is_within(self, other: Self) -> bool {
        match (self, other) {
            (Self::Window { seconds }, Self::Window { seconds: most }) => seconds <= most,
            _ => self.width() <= other.width(),
        }
    }

    /// The narrower of two.
    #[must_use]
    pub fn narrower(self, other: Self) -> Self {
        if self.is_within(other) { self } else { other }
    }

    fn width(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Ask => 1,
            Self::Edits => 2,
            Self::Auto => 3,
            Self::Window { .. } => 4,
            Self::All => 5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_found_by_its_name_and_a_window_has_none() {
        for name in ApprovalPolicy::NAMES {
            assert_eq!(ApprovalPolicy::from_name(name).map(ApprovalPolicy::name), Some(name));
        }
        for name in ["window", "Auto", "10m", ""] {
            assert_eq!(ApprovalPolicy::from_name(name), None, "{name}");
        }
    }
}
