//! A diagnosis: what is examined, within which time, and what comes of it.

use std::time::Duration;

use tokio::time::timeout;

use crate::diagnose::check::{Check, Verdict};
use crate::diagnose::examination::Examination;
use crate::{ModelError, Route, Switches};

/// The names of all checks, in the order in which they are made.
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

/// How long all checks of one model may take together. Ten small calls of a slow local server fit; a server that hangs
/// holds nobody longer.
pub const DIAGNOSIS_TIME: Duration = Duration::from_mins(5);

/// What is examined.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The model, as the provider names it.
    pub model: String,
    /// The way to it.
    pub route: Route,
    /// The temperature that its prompts get.
    pub temperature: Option<f64>,
    /// The context that the person configured.
    pub configured_context: Option<u64>,
    /// The context that the catalogue knows.
    pub catalogue_context: Option<u64>,
    /// How long all checks may take together.
    pub time_limit: Duration,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Diagnosis {
    /// One for each of [`CHECKS`].
    pub checks: Vec<Check>,
    /// The context in tokens that counts.
    pub context_window: Option<u64>,
    /// The context in tokens by the server's own word.
    pub server_window: Option<u64>,
    /// What the server was found to need.
    pub switches: Switches,
    /// What the server refused and was asked again without.
    pub quirks: Vec<String>,
}

impl Diagnosis {
    /// The diagnosis of a model whose key is not there: nothing was sent.
    pub fn without_key(evidence: &str, next: &str) -> Self {
        let mut run = Self::default();
        run.checks.push(Check::skipped("reachable", "nothing is sent without the key"));
        run.checks.push(Check::fail("auth", evidence, next));
        run.skip_rest("there is no key");
        run
    }

    /// Whether the key is the trouble.
    pub fn is_unauthorized(&self) -> bool {
        self.failed("auth")
    }

    pub(super) fn failed(&self, name: &str) -> bool {
        self.checks.iter().any(|check| check.name == name && check.verdict == Verdict::Fail)
    }

    /// Skips every check that was not made.
    pub(super) fn skip_rest(&mut self, reason: &str) {
        let left = self.left();
        self.checks.extend(left.into_iter().map(|name| Check::skipped(name, reason)));
    }

    /// The checks that were not made.
    fn left(&self) -> Vec<&'static str> {
        CHECKS.into_iter().filter(|name| self.checks.iter().all(|check| check.name != *name)).collect()
    }

    /// Fails the check that was under way when the time was over, and skips those after it.
    fn out_of_time(&mut self, limit: Duration) {
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

    /// Puts a check in the place of the one of its name.
    pub(super) fn put(&mut self, check: Check) {
        self.checks.retain(|known| known.name != check.name);
        self.checks.push(check);
    }

    fn sort(&mut self) {
        self.checks.sort_by_key(|check| CHECKS.iter().position(|name| *name == check.name));
    }
}

/// Makes all checks within the time of the subject. Dropping the future ends the call under way; an error means that not
/// even a client can be made.
pub async fn diagnose(subject: &Subject) -> Result<Diagnosis, ModelError> {
    let mut examination = Examination::new(subject)?;
    let made = timeout(subject.time_limit, examination.make()).await;
    let mut diagnosis = examination.end();
    match made {
        Ok(made) => made?,
        Err(_) => diagnosis.out_of_time(subject.time_limit),
    }
    diagnosis.sort();
    Ok(diagnosis)
}
