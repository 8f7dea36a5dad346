//! One check and its result.

use std::fmt;

use serde::Serialize;

/// The verdict of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It works.
    Ok,
    /// It works, with limitations.
    Warn,
    /// It does not work.
    Fail,
    /// It was not run; the evidence says why.
    Skipped,
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Skipped => "skipped",
        })
    }
}

/// A check with its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The name of the check; stable, for scripts.
    pub name: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// The evidence for the verdict, or the reason for skipping it; one line.
    pub evidence: String,
    /// The next step for the user.
    pub next: Option<String>,
}

impl Check {
    /// A check that passed.
    pub fn ok(name: &'static str, evidence: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Ok, evidence: one_line(&evidence.into()), next: None }
    }

    /// A check that found limitations.
    pub fn warn(name: &'static str, evidence: impl Into<String>, next: impl Into<String>) -> Self {
        let next = Some(next.into());
        Self { name, verdict: Verdict::Warn, evidence: one_line(&evidence.into()), next }
    }

    /// A check that failed.
    pub fn fail(name: &'static str, evidence: impl Into<String>, next: impl Into<String>) -> Self {
        let next = Some(next.into());
        Self { name, verdict: Verdict::Fail, evidence: one_line(&evidence.into()), next }
    }

    /// A check that was skipped, for this reason.
    pub fn skipped(name: &'static str, reason: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Skipped, evidence: one_line(&reason.into()), next: None }
    }
}

/// The maximum length of the evidence: servers quote whole requests in their errors.
const MAX_EVIDENCE_CHARS: usize = 200;

/// Evidence may quote a server: keep it to one line, without anything that a terminal would obey.
fn one_line(text: &str) -> String {
    let words: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= MAX_EVIDENCE_CHARS {
        return words;
    }
    words.chars().take(MAX_EVIDENCE_CHARS).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_one_short_line_that_no_terminal_obeys() {
        let check = Check::ok("x", format!("a\n\u{1b}[2J b{}", "é".repeat(500)));
        assert!(check.evidence.starts_with("a [2J b"), "{}", check.evidence);
        assert_eq!(check.evidence.chars().count(), MAX_EVIDENCE_CHARS + 1);
    }
}
