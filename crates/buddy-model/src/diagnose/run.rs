//! The checks in their order. What depends on a check that failed is skipped with that reason.

use std::sync::Arc;

use crate::diagnose::ask::{Answer, Asker};
use crate::diagnose::check::{Check, Verdict};
use crate::diagnose::image::{WithImage, patch};
use crate::diagnose::judge::{self, Asked, Contexts};
use crate::diagnose::prompts;
use crate::{Auth, ModelError, ReasoningReplay, Route, probe};

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

/// Lines of the repeated prompt. Providers cache prompts of 1024 tokens and more.
const CACHE_LINES: usize = 60;
/// The same on the Messages wire, whose smaller models cache from 4096 tokens on.
const CACHE_LINES_MESSAGES: usize = 210;
/// The most tokens that a line of the repeated prompt has.
const TOKENS_PER_LINE: u64 = 30;

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
}

/// What was found.
#[derive(Debug, Default)]
pub struct Diagnosis {
    /// One for each of [`CHECKS`].
    pub checks: Vec<Check>,
    /// The context in tokens that counts.
    pub context_window: Option<u64>,
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

    fn failed(&self, name: &str) -> bool {
        self.checks.iter().any(|check| check.name == name && check.verdict == Verdict::Fail)
    }

    /// Skips every check that was not made.
    fn skip_rest(&mut self, reason: &str) {
        let left: Vec<&'static str> =
            CHECKS.into_iter().filter(|name| self.checks.iter().all(|check| check.name != *name)).collect();
        self.checks.extend(left.into_iter().map(|name| Check::skipped(name, reason)));
    }

    /// Notes what a server had to be spared.
    fn noted(&mut self, asked: Asked) -> Asked {
        for lesson in asked.iter().flat_map(|answer| &answer.lessons) {
            if !self.quirks.contains(lesson) {
                self.quirks.push(lesson.clone());
            }
        }
        asked
    }
}

/// Makes all checks. Dropping the future ends the call under way; an error means that not even a client can be made.
pub async fn diagnose(subject: &Subject) -> Result<Diagnosis, ModelError> {
    let route = &subject.route;
    let asker = Asker::new(subject, route.clone())?;
    let mut run = Diagnosis::default();
    let talk = prompts::talk();
    let listed = probe::models(route);
    let (listed, asked) = futures::join!(listed, asker.ask(talk.clone()));
    let asked = run.noted(asked);
    run.checks.push(judge::reachable(&route.endpoint.to_string(), &listed, &asked));
    if run.failed("reachable") {
        run.skip_rest("the server cannot be reached");
        return Ok(run);
    }
    run.checks.push(judge::auth(!matches!(route.auth, Auth::None), &asked));
    if run.failed("auth") {
        run.skip_rest("the key was not accepted");
        return Ok(run);
    }
    run.checks.push(judge::model(&subject.model, &listed, &asked));
    run.checks.push(judge::answers(&asked));
    let Some(first) = asked.ok().filter(|_| !run.failed("answers")) else {
        run.context(subject).await;
        run.skip_rest("the model did not answer");
        run.sort();
        return Ok(run);
    };
    run.checks.push(judge::streams(route.options.stream, &first));
    run.checks.push(judge::usage(&first));
    run.tools(subject, &asker, &first).await;
    // Before the repeat, which must fit.
    run.context(subject).await;
    run.cache(subject, &asker).await;
    run.image(subject).await?;
    run.sort();
    Ok(run)
}

impl Diagnosis {
    /// One call, two calls, and thoughts that go back with them.
    async fn tools(&mut self, subject: &Subject, asker: &Asker, first: &Answer) {
        let asked = asker.ask(prompts::one_call()).await;
        let asked = self.noted(asked);
        let went_on = match (&asked, judge::call(&asked)) {
            (Ok(answer), None) => {
                let went_on = asker.ask(prompts::after(prompts::one_call(), &answer.reply)).await;
                let went_on = self.noted(went_on);
                self.checks.push(judge::round_trip(&went_on));
                Some((answer, went_on))
            }
            (_, check) => {
                self.checks.extend(check);
                None
            }
        };
        self.parallel(subject, asker).await;
        let replay = replay(&subject.route);
        let check = match went_on {
            Some((answer, went_on)) if answer.has_thoughts() => judge::reasoning(replay, &went_on),
            _ if first.has_thoughts() => {
                let went_on = asker.ask(prompts::after(prompts::talk(), &first.reply)).await;
                judge::reasoning(replay, &self.noted(went_on))
            }
            _ => Check::skipped("reasoning", "the model showed no thoughts"),
        };
        self.checks.push(check);
    }

    async fn parallel(&mut self, subject: &Subject, asker: &Asker) {
        const NAME: &str = "parallel_calls";
        if self.failed("tool_call") {
            self.checks.push(Check::skipped(NAME, "the tool call failed"));
            return;
        }
        if subject.route.options.parallel_tool_calls == Some(false) {
            self.checks.push(Check::skipped(NAME, "`parallel_tool_calls` is off in this profile"));
            return;
        }
        let asked = asker.ask(prompts::two_calls()).await;
        let asked = self.noted(asked);
        let went_on = match &asked {
            Ok(answer) if answer.calls() > 1 => {
                let went_on = asker.ask(prompts::after(prompts::two_calls(), &answer.reply)).await;
                Some(self.noted(went_on))
            }
            _ => None,
        };
        self.checks.push(judge::parallel(&asked, went_on.as_ref()));
    }

    async fn context(&mut self, subject: &Subject) {
        let Subject { route, model, .. } = subject;
        let contexts = Contexts {
            server: probe::context_window(route, model).await.ok(),
            catalogue: subject.catalogue_context,
            configured: subject.configured_context,
        };
        self.context_window = contexts.real().map(|(size, _)| size);
        self.checks.push(contexts.check());
    }

    async fn cache(&mut self, subject: &Subject, asker: &Asker) {
        let lines =
            if subject.route.protocol.wire() == "messages" { CACHE_LINES_MESSAGES } else { CACHE_LINES };
        let needed =
            (lines as u64).saturating_mul(TOKENS_PER_LINE).saturating_add(prompts::SHORT_ANSWER_TOKENS);
        if self.context_window.is_some_and(|size| size < needed) {
            let reason =
                format!("the context is too small for a prompt that is worth keeping ({needed} tokens)");
            self.checks.push(Check::skipped("cache", reason));
            return;
        }
        let first = asker.ask(prompts::long(lines)).await;
        let second = asker.ask(prompts::long(lines)).await;
        let (first, second) = (self.noted(first), self.noted(second));
        self.checks.push(judge::cache(&first, &second));
    }

    async fn image(&mut self, subject: &Subject) -> Result<(), ModelError> {
        let mut route = subject.route.clone();
        if patch(route.protocol.wire()).is_none() {
            self.checks.push(Check::skipped("image", "unknown: this wire has no form for pictures here"));
            return Ok(());
        }
        route.protocol = Arc::new(WithImage(route.protocol));
        let asked = Asker::new(subject, route)?.ask(prompts::picture()).await;
        self.checks.push(judge::image(&asked));
        Ok(())
    }

    fn sort(&mut self) {
        self.checks.sort_by_key(|check| CHECKS.iter().position(|name| *name == check.name));
    }
}

/// Which thoughts go back where the profile decides it; other wires always send them.
fn replay(route: &Route) -> Option<ReasoningReplay> {
    (route.protocol.wire() == "chat").then_some(route.options.reasoning_replay)
}
