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
        TargetError::Outside { .. } => "outside",
        TargetError::Hidden { .. } => "off_limits",
        TargetError::Guarded { .. } => "protected",
        TargetError::Link { .. } => "is_link",
        TargetError::IsRoot { .. } => "is_root",
        TargetError::Mount { .. } => "is_mount",
        TargetError::NotEmpty { .. } => "not_empty",
        TargetError::Exists { .. } => "exists",
        TargetError::BadPath { .. } => "bad_path",
        TargetError::BadPattern { .. } => "bad_pattern",
        TargetError::TooMany { .. } => "too_many",
        TargetError::NotKept { .. } => "not_kept",
        TargetError::NoSpace { .. } => "no_space",
        TargetError::TooLarge { .. } => "too_large",
        TargetError::SupervisorLost => "outcome_unknown",
        _ => "failed",
    };
    let first: &dyn Error = error;
    let chain = std::iter::successors(Some(first), |&error| error.source());
    let causes: Vec<String> = chain.map(ToString::to_string).collect();
    let failure = ToolFailure::new(code, causes.join(": "));
    match error {
        TargetError::NotEmpty { .. } => failure.hint("set `recursive` to remove it with all that is in it"),
        TargetError::Outside { .. } | TargetError::Hidden { .. } | TargetError::Guarded { .. } => {
            failure.hint("do not try to get around it; ask the person if it is needed")
        }
        TargetError::Link { .. } => failure.hint("name the file that the link leads to"),
        _ => failure,
    }
}
