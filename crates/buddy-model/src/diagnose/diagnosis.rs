//! The result of the checks, also while they run.

use std::time::Duration;

use crate::Switches;
use crate::diagnose::check::{Check, Verdict};

/// The names of all checks, in the order in which they run.
pub const CHECKS: [&str; 12] = [
    "reachable",
    "auth",
    "model",
    "answers",
    "streams",
    "usage",
    "tool_call",
    "parallel_calls",
    "reasoning",
    "cache",
    "context",
    "image",
];

/// The result of a diagnosis.
#[derive(Debug, Default)]
pub struct Diagnosis {
    /// One for each of [`CHECKS`].
    pub checks: Vec<Check>,
    /// The effective context window in tokens.
    pub context_window: Option<u64>,
    /// The context window in tokens that the server reports.
    pub server_window: Option<u64>,
    /// The options that the server needs.
    pub switches: Switches,
    /// Fields that the server refused and that were left out on a retry.
    pub quirks: Vec<String>,
}

impl Diagnosis {
    /// The diagnosis of a model whose key is missing: nothing was sent.
    pub fn without_key(evidence: &str, next: &str) -> Self {
        let mut run = Self::default();
        run.checks.push(Check::skipped("reachable", "nothing is sent without the key"));
        run.checks.push(Check::fail("auth", evidence, next));
        run.skip_rest("there is no key");
        run
    }

    /// Whether the key is the problem.
    pub fn is_unauthorized(&self) -> bool {
        self.failed("auth")
    }

    pub(super) fn failed(&self, name: &str) -> bool {
        self.checks.iter().any(|check| check.name == name && check.verdict == Verdict::Fail)
    }

    /// Skips every check that has not run.
    pub(super) fn skip_rest(&mut self, reason: &str) {
        let left = self.left();
        self.checks.extend(left.into_iter().map(|name| Check::skipped(name, reason)));
    }

    /// The checks that have not run.
    fn left(&self) -> Vec<&'static str> {
        CHECKS.into_iter().filter(|name| self.checks.iter().all(|check| check.name != *name)).collect()
    }

    /// Fails the check that was running when the time was up, and skips those after it.
    pub(super) fn out_of_time(&mut self, limit: Duration) {
        if let Some(name) = self.left().first() {
            let evidence = format!("no answer, and the {} s for all checks are over", limit.as_secs_f64());
            self.checks.push(Check::fail(
                name,
                evidence,
                "see what the server is busy with, or give it more --timeout",
            ));
        }
        self.skip_rest("the time for all checks was over");
    }

    /// Replaces the check of the same name.
    pub(super) fn put(&mut self, check: Check) {
        self.checks.retain(|known| known.name != check.name);
        self.checks.push(check);
    }

    pub(super) fn sort(&mut self) {
        self.checks.sort_by_key(|check| CHECKS.iter().position(|name| *name == check.name));
    }
}
