//! The user's guards file, whose changes take effect when the user approves them.

use serde::{Deserialize, Serialize};

use super::error::OperationError;

/// The guards of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardsView {
    /// The file that the user edits.
    pub file: String,
    /// The text that takes effect; `None` if only the built-in guards do.
    pub approved: Option<String>,
    /// The change that waits for approval.
    pub pending: Option<PendingGuards>,
}

/// A change of the guards that waits for approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingGuards {
    /// The text of the file; `None` if it is gone.
    pub text: Option<String>,
    /// The change as a unified diff.
    pub diff: String,
    /// Why the file cannot take effect.
    pub problem: Option<OperationError>,
}

/// Approves a change of the guards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApproveGuards {
    /// The change as it was shown: the text of the file, or `None` for its removal.
    pub seen: Option<String>,
}
