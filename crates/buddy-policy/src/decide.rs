//! The decision: an intent held against the rules.

use std::path::Path;

use buddy_protocol::Risk;
use serde::{Deserialize, Serialize};

use crate::{Action, Intent, Tier};

/// What a session allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// What becomes of calls that a person would have to approve.
    pub approvals: Approvals,
}

/// A session's policy on calls that a person would have to approve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approvals {
    /// Ask a person.
    #[default]
    Ask,
    /// Take them as approved.
    All,
    /// Take them as denied: nobody is there to ask.
    None,
}

/// Whether a call may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// A person decides.
    Ask,
    /// It does not run.
    Deny,
}

/// A verdict and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Whether it may go on.
    pub verdict: Verdict,
    /// How dangerous it is held to be.
    pub risk: Risk,
    /// Why, one sentence each, for people.
    pub reasons: Vec<String>,
}

/// Judges an intent.
///
/// Reads run by themselves; everything that writes or runs a command needs approval. What the model claims about its
/// call raises the risk that is shown and cannot lower it.
pub fn decide(intent: &Intent, rules: Rules) -> Decision {
    let mut risk = Risk::Low;
    let mut reasons = Vec::new();
    for action in &intent.actions {
        if let Some((action_risk, reason)) = judge(action) {
            risk = risk.max(action_risk);
            reasons.push(reason);
        }
    }
    if reasons.is_empty() && intent.tier != Tier::Auto {
        reasons.push("calls of this tool need approval".to_owned());
    }
    if let Some(claims) = intent.claims {
        risk = risk.max(claims.risk);
        if claims.privesc {
            risk = Risk::High;
            reasons.push("it needs more rights than the agent has".to_owned());
        }
    }
    let verdict = match (reasons.is_empty(), rules.approvals) {
        (true, _) | (false, Approvals::All) => Verdict::Allow,
        (false, Approvals::Ask) => Verdict::Ask,
        (false, Approvals::None) => Verdict::Deny,
    };
    Decision { verdict, risk, reasons }
}

fn judge(action: &Action) -> Option<(Risk, String)> {
    match action {
        Action::Read(_) | Action::Fetch(_) => None,
        Action::Write(path) => Some((Risk::Medium, format!("it writes `{}`", shown(path)))),
        Action::Delete(path) => Some((Risk::High, format!("it removes `{}`", shown(path)))),
        Action::Run { .. } => Some((Risk::Medium, "it runs a command".to_owned())),
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().chars().flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Claims;

    fn check(intent: &Intent, approvals: Approvals, verdict: Verdict, risk: Risk) {
        let decision = decide(intent, Rules { approvals });
        assert_eq!((decision.verdict, decision.risk), (verdict, risk), "{intent:?}");
        assert_eq!(decision.reasons.is_empty(), verdict == Verdict::Allow && approvals != Approvals::All);
    }

    fn run(claims: Option<Claims>) -> Intent {
        Intent { claims, ..Intent::of(Action::Run { command: "rm -rf /".to_owned(), cwd: "/".into() }) }
    }

    #[test]
    fn reads_and_calls_that_touch_nothing_run_by_themselves() {
        check(&Intent::nothing(), Approvals::None, Verdict::Allow, Risk::Low);
        check(&Intent::of(Action::Read("/etc/hosts".into())), Approvals::Ask, Verdict::Allow, Risk::Low);
    }

    #[test]
    fn writes_and_commands_follow_the_session_policy() {
        let write = Intent::of(Action::Write("/w/a".into()));
        check(&write, Approvals::Ask, Verdict::Ask, Risk::Medium);
        check(&write, Approvals::None, Verdict::Deny, Risk::Medium);
        check(&run(None), Approvals::Ask, Verdict::Ask, Risk::Medium);
        check(&run(None), Approvals::All, Verdict::Allow, Risk::Medium);
    }

    #[test]
    fn claims_raise_the_gate_and_never_lower_it() {
        let harmless = Claims { risk: Risk::Low, mutation: false, privesc: false };
        check(&run(Some(harmless)), Approvals::Ask, Verdict::Ask, Risk::Medium);
        check(&run(Some(Claims { risk: Risk::High, ..harmless })), Approvals::Ask, Verdict::Ask, Risk::High);
        let read = Intent { claims: Some(Claims { privesc: true, ..harmless }), ..Intent::nothing() };
        check(&read, Approvals::Ask, Verdict::Ask, Risk::High);
    }
}
