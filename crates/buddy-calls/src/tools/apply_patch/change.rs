//! The change that a patch makes to one file.

use buddy_protocol::ToolFailure;

use super::hunks::Hunk;

/// A change to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// The file, as the patch names it.
    pub(super) path: String,
    pub(super) edit: Edit,
}

/// The change of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Edit {
    /// It is made.
    Add { content: String },
    /// It is removed.
    Delete,
    /// Its text changes, and perhaps its name.
    Update { to: Option<String>, hunks: Hunks },
}

/// How the text of a file changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hunks {
    /// Found by their lines.
    ByContent(Vec<Hunk>),
    /// A unified diff of this file alone.
    Unified(String),
}

/// A patch that cannot be read.
pub(super) fn bad(message: String) -> ToolFailure {
    ToolFailure::new("bad_patch", message).hint(
        "give a unified diff with `---`, `+++` and `@@` lines, or a patch that begins with `*** Begin Patch`",
    )
}
