//! What a target or the web could not do, told to the model.

use std::error::Error;

use buddy_exec::TargetError;
use buddy_protocol::ToolFailure;
use buddy_web::{FetchError, SearchError};

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
    ToolFailure::new(code, causes(error))
}

/// Why something was not fetched, as a failure with a stable code.
pub(crate) fn fetch_failure(error: &FetchError) -> ToolFailure {
    let (code, hint) = match error {
        FetchError::BadUrl { .. } => {
            ("invalid_input", Some("give a whole address that begins with https://"))
        }
        FetchError::NotPublic { .. } | FetchError::BadRedirect { .. } => (
            "refused",
            Some("the person can allow a host in `web.allowed_hosts`; do not look for a way around"),
        ),
        FetchError::Unresolved { .. } => ("not_found", None),
        FetchError::TimedOut { .. } => ("timed_out", None),
        _ => ("failed", None),
    };
    with_hint(ToolFailure::new(code, causes(error)), hint)
}

/// Why there is no list of results, as a failure with a stable code.
pub(crate) fn search_failure(error: &SearchError) -> ToolFailure {
    let (code, hint) = match error {
        SearchError::Fetch(error) => return fetch_failure(error),
        SearchError::Challenge => {
            ("challenged", Some("do not search again soon; fetch a page that you know"))
        }
        SearchError::NotUnderstood(_) => ("not_understood", Some("searching again will not help; say so")),
        _ => ("failed", None),
    };
    with_hint(ToolFailure::new(code, causes(error)), hint)
}

/// The end of a call that was to stop.
pub(crate) fn interrupted() -> ToolFailure {
    ToolFailure::new("interrupted", "the person stopped the call")
}

fn with_hint(failure: ToolFailure, hint: Option<&str>) -> ToolFailure {
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn causes(error: &dyn Error) -> String {
    let chain = std::iter::successors(Some(error), |&error| error.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
