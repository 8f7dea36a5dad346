//! What a target could not do, told to the model.

use std::error::Error;

use buddy_exec::TargetError;
use buddy_protocol::ToolFailure;

/// No other command fares better, so the model should not try any.
const NOT_JAILED: &str = "no command can be run within its bounds on this machine until the person has mended this; \
                          `buddy doctor` tells them what is missing";

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
    let failure = ToolFailure::new(code, causes.join(": "));
    match error {
        TargetError::NotJailed { .. } => failure.hint(NOT_JAILED),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jail_that_cannot_be_made_names_its_layer_and_the_way_out() {
        let error = TargetError::NotJailed { layer: "landlock".into(), reason: "turned off".into() };
        let failure = target_failure(&error);
        assert_eq!(failure.code, "not_jailed");
        assert!(failure.message.contains("landlock: turned off"), "{}", failure.message);
        assert!(failure.hint.is_some_and(|hint| hint.contains("buddy doctor")));
    }
}
