//! Names of sessions and panes: few characters, so that they mean the same to every shell and to tmux.

use crate::PaneError;

/// The longest name.
const MAX_CHARS: usize = 40;

/// The name of the default pane, and of its window.
pub(super) const SHARED: &str = "shared";

/// The name of the session of an agent.
pub fn session_name(agent: &str) -> String {
    let kept = agent.chars().map(|letter| if is_fit(letter) { letter } else { '-' });
    let name: String = "buddy-".chars().chain(kept).take(MAX_CHARS).collect();
    name
}

/// Whether a text can name a session.
pub fn is_session_name(name: &str) -> bool {
    checked(name).is_ok()
}

/// A name that was asked for, if it can be one.
pub(super) fn checked(name: &str) -> Result<&str, PaneError> {
    let is_good = !name.is_empty()
        && name.chars().count() <= MAX_CHARS
        && name.chars().all(is_fit)
        && !name.starts_with('-');
    if is_good { Ok(name) } else { Err(PaneError::BadName { name: name.to_owned() }) }
}

fn is_fit(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_any_agent_makes_a_session() {
        assert_eq!(session_name("buddy"), "buddy-buddy");
        assert_eq!(session_name("my agent: 2.0"), "buddy-my-agent--2-0");
        assert_eq!(session_name(&"é".repeat(99)).len(), MAX_CHARS);
    }

    #[test]
    fn names_that_mean_something_to_tmux_are_refused() {
        for bad in ["", "a b", "a:b", "a.b", "%1", "@1", "$1", "=a", "-t", "a\n", "é", &"a".repeat(41)] {
            assert!(checked(bad).is_err(), "{bad}");
        }
        assert_eq!(checked("build_2-x"), Ok("build_2-x"));
    }
}
