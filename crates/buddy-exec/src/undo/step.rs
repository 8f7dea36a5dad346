//! One step of an undo.

use buddy_protocol::PathText;
use serde::Serialize;

use super::state::State;

/// The change of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The path, without links.
    pub path: PathText,
    /// The state now.
    pub now: State,
    /// The state before the call.
    pub to: State,
    /// The reason why restoring it would lose a change that the call did not make.
    pub conflict: Option<String>,
}
