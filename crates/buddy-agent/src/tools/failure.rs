//! What a target could not do, told to the model.

use std::error::Error;

use buddy_exec::TargetError;
use buddy_protocol::ToolFailure;

/// A target's error as a failure with a stable code.
pub(crate) fn target_failure(error: &TargetError) -> ToolFailure {
    let code = match error {
        TargetError::NotFound { .. } => "not_found",
        TargetError::PermissionDenied { .. } => "permission_denied",
        TargetError::NotAFile { .. } => "not_a_file",
        TargetError::NotADirectory { .. } => "not_a_directory",
        TargetError::NoSpace { .. } => "no_space",
        TargetError::TooLarge { .. } => "too_large",
        TargetError::SupervisorLost => "outcome_unknown",
        _ => "failed",
    };
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message.push_str(&format!(": {error}"));
        cause = error.source();
    }
    ToolFailure::new(code, message)
}
