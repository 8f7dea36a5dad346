//! The terms that a session is started on. They only restrict: a session never gets more by them than its user has, and a
//! session below another one never gets more than that one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ApprovalPolicy, MicroUsd};

/// The maximum number of tools that terms name.
const MAX_TOOLS: usize = 1_000;
/// The maximum length of the name of a tool, in bytes.
const MAX_TOOL_NAME: usize = 128;
/// The maximum length of instructions, in bytes. They are part of every prompt.
const MAX_INSTRUCTIONS: usize = 64 * 1024;
/// The maximum number of labels.
const MAX_LABELS: usize = 32;
/// The maximum length of the name and of the value of a label, in bytes.
const MAX_LABEL: usize = 256;

/// The terms of a session. What is absent is not restricted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTerms {
    /// The names of the only tools that the session has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Instructions for the model, after the user's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The widest policy on calls that need an approval with which a run of the session begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals: Option<ApprovalPolicy>,
    /// Whether the session begins in plan mode.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plan_only: bool,
    /// The limit on what the session, with the sessions below it, may spend.
    #[serde(default, skip_serializing_if = "SpendingLimit::is_unset")]
    pub budget: SpendingLimit,
    /// Labels for programs that look for the session.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// A limit on spending. What is absent is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SpendingLimit {
    /// Money.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<MicroUsd>,
    /// Tokens, in and out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Model calls, those for summaries included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
}

impl SpendingLimit {
    /// Whether nothing is limited.
    pub fn is_unset(&self) -> bool {
        *self == Self::default()
    }

    /// The lower limit of both, for each thing.
    #[must_use]
    pub fn narrowed(self, other: Self) -> Self {
        Self {
            cost: lower(self.cost, other.cost),
            tokens: lower(self.tokens, other.tokens),
            calls: lower(self.calls, other.calls),
        }
    }
}

fn lower<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// The reason why a session cannot be started on some terms.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTerms {
    /// They are out of bounds.
    #[error("{0}")]
    OutOfBounds(String),
    /// They are wider than those of the session above.
    #[error("give a session more than the session above it has: {0}")]
    Wider(String),
}

impl SessionTerms {
    /// Whether nothing is restricted and nothing said.
    pub fn is_unset(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses terms that are out of bounds.
    pub fn check(&self) -> Result<(), BadTerms> {
        let out = |what: String| Err(BadTerms::OutOfBounds(what));
        let tools = self.tools.as_deref().unwrap_or_default();
        if tools.len() > MAX_TOOLS || tools.iter().any(|name| name.len() > MAX_TOOL_NAME) {
            return out(format!(
                "terms name at most {MAX_TOOLS} tools, each with at most {MAX_TOOL_NAME} bytes"
            ));
        }
        if self.instructions.as_ref().is_some_and(|text| text.len() > MAX_INSTRUCTIONS) {
            return out(format!("instructions have at most {MAX_INSTRUCTIONS} bytes"));
        }
        let is_long = |(name, value): (&String, &String)| name.len().max(value.len()) > MAX_LABEL;
        if self.labels.len() > MAX_LABELS || self.labels.iter().any(is_long) {
            return out(format!(
                "a session has at most {MAX_LABELS} labels of at most {MAX_LABEL} bytes each"
            ));
        }
        Ok(())
    }

    /// These terms for a session below one with other terms: what is absent is as it is there. An error if something is wider
    /// than there. Instructions and labels are a session's own.
    pub fn below(self, above: &Self) -> Result<Self, BadTerms> {
        let wider = |what: String| Err(BadTerms::Wider(what));
        let tools = match (self.tools, &above.tools) {
            (Some(wanted), Some(known)) => {
                if let Some(more) = wanted.iter().find(|name| !known.contains(name)) {
                    return wider(format!("the tool `{more}`"));
                }
                Some(wanted)
            }
            (wanted, known) => wanted.or_else(|| known.clone()),
        };
        let known = above.lasting_approvals();
        let approvals = match (self.approvals, known) {
            (Some(wanted), Some(known)) if !wanted.is_within(known) => {
                return wider("more calls without an approval".to_owned());
            }
            (wanted, known) => wanted.or(known),
        };
        if exceeds(self.budget, above.budget) {
            return wider("a larger budget".to_owned());
        }
        let budget = above.budget.narrowed(self.budget);
        // Plan mode above holds below without a word: nothing could be changed there either.
        Ok(Self { tools, approvals, budget, plan_only: self.plan_only || above.plan_only, ..self })
    }

    /// These terms with nothing wider than in others.
    #[must_use]
    pub fn narrowed(self, above: &Self) -> Self {
        let tools = match (self.tools, &above.tools) {
            (Some(wanted), Some(known)) => {
                Some(wanted.into_iter().filter(|name| known.contains(name)).collect())
            }
            (wanted, known) => wanted.or_else(|| known.clone()),
        };
        let approvals = match (self.approvals, above.lasting_approvals()) {
            (Some(wanted), Some(known)) => Some(wanted.narrower(known)),
            (wanted, known) => wanted.or(known),
        };
        let budget = above.budget.narrowed(self.budget);
        Self { tools, approvals, budget, plan_only: self.plan_only || above.plan_only, ..self }
    }

    /// The approvals that a session below can have. A window is the time that this session has, and its log does not say when it is
    /// over.
    fn lasting_approvals(&self) -> Option<ApprovalPolicy> {
        self.approvals.map(|known| match known {
            ApprovalPolicy::Window { .. } => ApprovalPolicy::Ask,
            lasting => lasting,
        })
    }
}

/// Whether something in a limit is more than in another.
fn exceeds(wanted: SpendingLimit, known: SpendingLimit) -> bool {
    let more =
        |wanted: Option<u64>, known: Option<u64>| matches!((wanted, known), (Some(w), Some(k)) if w > k);
    more(wanted.tokens, known.tokens)
        || more(wanted.calls, known.calls)
        || more(wanted.cost.map(|cost| cost.0), known.cost.map(|cost| cost.0))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{SessionStarted, ToolCall};

    fn terms(tools: &[&str], approvals: ApprovalPolicy, tokens: u64) -> SessionTerms {
        SessionTerms {
            tools: Some(tools.iter().map(|&name| name.to_owned()).collect()),
            approvals: Some(approvals),
            budget: SpendingLimit { tokens: Some(tokens), ..SpendingLimit::default() },
            ..SessionTerms::default()
        }
    }

    #[test]
    fn a_session_below_has_what_the_one_above_has_unless_it_wants_less() {
        let above = terms(&["grep", "read_file"], ApprovalPolicy::Edits, 100);
        assert_eq!(SessionTerms::default().below(&above), Ok(above.clone()));
        let less = terms(&["grep"], ApprovalPolicy::Ask, 50);
        assert_eq!(less.clone().below(&above), Ok(less));
        let planning = SessionTerms { plan_only: true, ..above };
        assert!(SessionTerms::default().below(&planning).unwrap().plan_only);
    }

    #[test]
    fn nothing_is_wider_below() {
        let above = terms(&["grep"], ApprovalPolicy::Edits, 100);
        for (wider, what) in [
            (terms(&["grep", "run_shell"], ApprovalPolicy::Ask, 50), "the tool `run_shell`"),
            (terms(&["grep"], ApprovalPolicy::Auto, 50), "more calls without an approval"),
            (terms(&["grep"], ApprovalPolicy::Window { seconds: 1 }, 50), "more calls without an approval"),
            (terms(&["grep"], ApprovalPolicy::Ask, 101), "a larger budget"),
        ] {
            assert_eq!(wider.below(&above), Err(BadTerms::Wider(what.to_owned())));
        }
    }

    #[test]
    fn a_window_is_not_handed_down() {
        let above = SessionTerms {
            approvals: Some(ApprovalPolicy::Window { seconds: 60 }),
            ..SessionTerms::default()
        };
        assert_eq!(SessionTerms::default().below(&above).unwrap().approvals, Some(ApprovalPolicy::Ask));
        for wanted in [ApprovalPolicy::Window { seconds: 1 }, ApprovalPolicy::Auto] {
            let wider = SessionTerms { approvals: Some(wanted), ..SessionTerms::default() };
            assert!(wider.below(&above).is_err(), "{wanted:?}: the window may be over");
        }
    }

    #[test]
    fn terms_have_bounds() {
        assert_eq!(terms(&["grep"], ApprovalPolicy::Ask, 1).check(), Ok(()));
        let long =
            SessionTerms { instructions: Some("x".repeat(MAX_INSTRUCTIONS + 1)), ..SessionTerms::default() };
        assert!(matches!(long.check(), Err(BadTerms::OutOfBounds(_))));
        let labels = (0..=MAX_LABELS).map(|at| (at.to_string(), String::new())).collect();
        assert!(SessionTerms { labels, ..SessionTerms::default() }.check().is_err());
    }

    #[test]
    fn a_log_from_before_terms_and_callers_is_read_and_written_as_it_was() {
        let owner = json!({"kind": "person", "name": "ann"});
        let started = json!({"owner": owner, "agent": "buddy", "cwd": "/w"});
        let read: SessionStarted = serde_json::from_value(started).unwrap();
        assert!(read.terms.is_unset());
        let again = serde_json::to_value(&read).unwrap();
        assert_eq!(again.get("terms"), None, "{again}");
        let call = json!({
            "call_id": "a", "name": "grep", "kind": "search", "title": "grep", "input": {}, "output": null
        });
        let read: ToolCall = serde_json::from_value(call).unwrap();
        assert_eq!(read.caller, None);
        assert_eq!(serde_json::to_value(&read).unwrap().get("caller"), None);
    }
}
