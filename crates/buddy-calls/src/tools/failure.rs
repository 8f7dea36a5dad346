//! The failure of a target or the web, told to the model.

use std::error::Error;

use buddy_exec::{PaneError, TargetError};
use buddy_protocol::ToolFailure;
use buddy_web::{FetchError, SearchError};

/// No other command fares better, so the model should not try any.
const NOT_JAILED: &str = "no command can be run within its bounds on this machine until the user has mended this; \
                          `buddy doctor` tells them what is missing";

/// A question is the way to a secret, and only a call that names it is one.
const SEALED: &str = "do not look for a way around; if it is needed, name that file itself in a call of `read_file` or \
                      of a tool that edits files, which asks the user";
/// The session was given a directory and not a name.
const REPLACED: &str = "somebody put another directory or a link in its place; the user has to put the first one back or \
                        start a new session";

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
        TargetError::Sealed { .. } => "sealed",
        TargetError::Replaced { .. } => "replaced",
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
        TargetError::SupervisorLost | TargetError::ConnectionLost { .. } => "outcome_unknown",
        TargetError::Unreachable { .. } => "unreachable",
        TargetError::NotJailed { .. } => "not_jailed",
        _ => "failed",
    };
    if let TargetError::Pane(error) = error {
        return pane_failure(error);
    }
    let failure = ToolFailure::new(code, causes(error));
    match error {
        TargetError::NotJailed { .. } => failure.hint(NOT_JAILED),
        TargetError::NotEmpty { .. } => failure.hint("set `recursive` to remove it with all that is in it"),
        TargetError::Outside { .. } | TargetError::Hidden { .. } | TargetError::Guarded { .. } => {
            failure.hint("do not try to get around it; ask the user if it is needed")
        }
        TargetError::Link { .. } => failure.hint("name the file that the link leads to"),
        TargetError::Sealed { .. } => failure.hint(SEALED),
        TargetError::Replaced { .. } => failure.hint(REPLACED),
        _ => failure,
    }
}

/// The fault of a pane, as a failure with a stable code.
fn pane_failure(error: &PaneError) -> ToolFailure {
    let (code, hint) = match error {
        PaneError::Busy { .. } => (
            "pane_busy",
            Some("look with tmux_capture_pane, interrupt with the key C-c, wait, or name another pane"),
        ),
        PaneError::Foreign { .. } => ("not_ours", Some("leave it alone and use the shared pane")),
        PaneError::Missing { .. } => {
            ("not_found", Some("make it with tmux_create_pane or tmux_create_session"))
        }
        PaneError::BadName { .. } => ("invalid_input", None),
        PaneError::TooMany { .. } => ("too_many", Some("end one that is no longer needed")),
        PaneError::Protected { .. } => ("protected", None),
        PaneError::Bounded => ("bounded", Some("leave `session` and `pane` out")),
        PaneError::OtherBounds { .. } => {
            ("pane_busy", Some("it was started in another mode; the user can end it, or name another pane"))
        }
        PaneError::Taken => ("pane_taken", Some("wait until the user gives it back, or ask")),
        PaneError::Closed
        | PaneError::ServerLost
        | PaneError::OutOfReach { .. }
        | PaneError::Unsure { .. } => {
            ("outcome_unknown", Some("look at what the command did before running it again"))
        }
        PaneError::Vanished => ("pane_unusable", Some("run it again")),
        PaneError::NoHooks => ("pane_unusable", Some("look at the pane with tmux_capture_pane")),
        _ => ("failed", None),
    };
    with_hint(ToolFailure::new(code, error.to_string()), hint)
}

/// Why something was not fetched, as a failure with a stable code.
pub(crate) fn fetch_failure(error: &FetchError) -> ToolFailure {
    let (code, hint) = match error {
        FetchError::BadUrl { .. } => {
            ("invalid_input", Some("give a whole address that begins with https://"))
        }
        FetchError::NotPublic { .. } | FetchError::BadRedirect { .. } => (
            "refused",
            Some("the user can allow a host in `web.allowed_hosts`; do not look for a way around"),
        ),
        FetchError::LeadsElsewhere { .. } => {
            ("redirected", Some("fetch the address that it leads to, if that is what you want"))
        }
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
    ToolFailure::new("interrupted", "the user stopped the call")
}

fn with_hint(failure: ToolFailure, hint: Option<&str>) -> ToolFailure {
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// An error with what it came from.
pub(crate) fn causes(error: &dyn Error) -> String {
    let chain = std::iter::successors(Some(error), |&error| error.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
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
