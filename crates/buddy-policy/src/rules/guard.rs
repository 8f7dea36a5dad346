//! Guards of a user: `guards.json`, a list of patterns with an action for each.

use serde::Deserialize;

use super::pattern::{CommandPattern, PatternError};
use super::rule::{Action, Rule};
use super::set::Rules;

/// The most guards that are read.
const MAX_GUARDS: usize = 1_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GuardEntry {
    pattern: String,
    reason: Option<String>,
    action: Action,
}

/// The reason why guards cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    /// The text is not a list of guards.
    #[error("guards are a list of objects with `pattern`, `reason` and `action` (`ask` or `deny`)")]
    Shape(#[source] serde_json::Error),
    /// The pattern of one guard is not valid.
    #[error("guard {index} of the list")]
    Pattern {
        /// Its index, from 0.
        index: usize,
        /// The problem with it.
        #[source]
        error: PatternError,
    },
    /// Guards only tighten.
    #[error("guard {index} of the list allows, and guards only `ask` or `deny`")]
    Allows {
        /// Its index, from 0.
        index: usize,
    },
    /// There are more than anyone reviews.
    #[error("there are more than {MAX_GUARDS} guards")]
    TooMany,
}

/// Reads `guards.json`. All guards are used or none.
pub fn guards_from_json(text: &str) -> Result<Rules, GuardError> {
    let guards: Vec<GuardEntry> = serde_json::from_str(text).map_err(GuardError::Shape)?;
    if guards.len() > MAX_GUARDS {
        return Err(GuardError::TooMany);
    }
    let mut rules = Rules::default();
    for (index, guard) in guards.into_iter().enumerate() {
        let pattern =
            CommandPattern::parse(&guard.pattern).map_err(|error| GuardError::Pattern { index, error })?;
        let rule = Rule::command(pattern);
        let rule = match guard.reason {
            Some(reason) => rule.because(reason),
            None => rule,
        };
        match guard.action {
            Action::Ask => rules.ask.push(rule),
            Action::Deny => rules.deny.push(rule),
            Action::Allow => return Err(GuardError::Allows { index }),
        }
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guards_become_rules() {
        let text = r#"[{"pattern": "terraform destroy *", "reason": "production", "action": "deny"},
                       {"pattern": "npm publish *", "action": "ask"}]"#;
        let rules = guards_from_json(text).unwrap();
        assert_eq!((rules.allow.len(), rules.ask.len(), rules.deny.len()), (0, 1, 1));
    }

    #[test]
    fn a_bad_guard_is_named_by_its_place() {
        let text = r#"[{"pattern": "a", "action": "ask"}, {"pattern": "a | b", "action": "ask"}]"#;
        assert!(matches!(guards_from_json(text), Err(GuardError::Pattern { index: 1, .. })));
        let allows = r#"[{"pattern": "a", "action": "allow"}]"#;
        assert!(matches!(guards_from_json(allows), Err(GuardError::Allows { index: 0 })));
        assert!(matches!(guards_from_json("{}"), Err(GuardError::Shape(_))));
        let unknown = r#"[{"pattern": "a", "action": "ask", "regex": true}]"#;
        assert!(matches!(guards_from_json(unknown), Err(GuardError::Shape(_))));
    }
}
