//! What a target could not do, told to the model.

use buddy_exec::TargetError;
use buddy_protocol::ToolFailure;

/// A target's error as a failure with a stable code.
pub(crate) fn target_failure(error: &TargetError) -> ToolFailure {
    ToolFailure::new(error.code(), error.to_string())
}
