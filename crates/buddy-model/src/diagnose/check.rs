//! One thing that was looked at, and what came of it.

use std::fmt;

use serde::Serialize;

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// It works, with less than there could be.
    Warn,
    /// It does not work.
    Fail,
    /// It was not looked at; the evidence says why.
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
    /// What was looked at; stable, for scripts.
    pub name: &'static str,
    /// How it went.
    pub verdict: Verdict,
    /// By what that is known, or why it was skipped; one line.
    pub evidence: String,
    /// What to do about it.
    pub next: Option<String>,
}

impl Check {
    /// All is well.
    pub fn ok(name: &'static str, evidence: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Ok, evidence: one_line(&evidence.into()), next: None }
    }

    /// Less than there could be.
    pub fn warn(name: &'static str, evidence: impl Into<String>, next: impl Into<String>) -> Self {
        let next = Some(next.into());
        Self { name, verdict: Verdict::Warn, evidence: one_line(&evidence.into()), next }
    }

    /// It does not work.
    pub fn fail(name: &'static str, evidence: impl Into<String>, next: impl Into<String>) -> Self {
        let next = Some(next.into());
        Self { name, verdict: Verdict::Fail, evidence: one_line(&evidence.into()), next }
    }

    /// Not looked at, for this reason.
    pub fn skipped(name: &'static str, reason: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Skipped, evidence: one_line(&reason.into()), next: None }
    }
}

/// The longest evidence: servers quote whole requests in their complaints.
const MAX_EVIDENCE_CHARS: usize = 200;

/// Evidence may be a server's words: one line of them, without anything that a terminal would obey.
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
