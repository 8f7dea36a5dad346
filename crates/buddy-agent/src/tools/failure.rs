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
        TargetError::NotJailed { .. } => "not_jailed",
        _ => "failed",
    };
    let first: &dyn Error = error;
    let chain = std::iter::successors(Some(first), |&error| error.source());
    let causes: Vec<String> = chain.map(ToString::to_string).collect();
    ToolFailure::new(code, causes.join(": "))
}
