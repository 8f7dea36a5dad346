//! The checks in their order. Checks that depend on a failed one are skipped with that reason.
//!
//! If a server rejects a call, it is made again with one option changed, and an option that helps is kept as
//! a switch.

use crate::diagnose::ask::{Asker, ProbeAnswer};
use crate::diagnose::check::Check;
use crate::diagnose::diagnosis::Diagnosis;
use crate::diagnose::judge::{self, Asked, Contexts};
use crate::diagnose::prompts;
use crate::diagnose::subject::Subject;
use crate::{Auth, ModelError, Options, Prompt, ReasoningReplay, Route, probe};

/// The number of lines in the repeated prompt. Providers cache prompts of 1024 tokens and more.
const CACHE_LINES: usize = 60;
/// The same for the Messages wire, whose smaller models cache from 4096 tokens on.
const CACHE_LINES_MESSAGES: usize = 210;
/// The maximum number of tokens in a line of the repeated prompt.
const TOKENS_PER_LINE: u64 = 30;

/// An examination in progress.
pub(super) struct Examination<'a> {
    subject: &'a Subject,
    /// The route of the calls, with the options changed so far.
    route: Route,
    asker: Asker,
    found: Diagnosis,
}

impl<'a> Examination<'a> {
    pub(super) fn new(subject: &'a Subject) -> Result<Self, ModelError> {
        let route = subject.route.clone();
        let asker = Asker::new(subject, route.clone())?;
        Ok(Self { subject, route, asker, found: Diagnosis::default() })
    }

    /// Ends the examination and returns the diagnosis so far.
    pub(super) fn end(mut self) -> Diagnosis {
        self.found.switches = self.found.switches.or(self.asker.switches());
        self.found
    }

    pub(super) async fn make(&mut self) -> Result<(), ModelError> {
        let listed = probe::models(&self.subject.route);
        let (listed, asked) = futures::join!(listed, self.asker.ask(prompts::talk()));
        let asked = self.noted(asked);
        let found = &mut self.found;
        found.checks.push(judge::reachable(&self.route.endpoint.to_string(), &listed, &asked));
        if found.failed("reachable") {
            found.skip_rest("the server cannot be reached");
            return Ok(());
        }
        found.checks.push(judge::auth(!matches!(self.route.auth, Auth::None), &asked));
        if found.failed("auth") {
            found.skip_rest("the key was not accepted");
            return Ok(());
        }
        found.checks.push(judge::model(&self.subject.model, &listed, &asked));
        let asked = match asked {
            Err(error) if self.may_be_the_stream(&error) => {
                let whole =
                    self.without_stream(prompts::talk(), &error.message, ProbeAnswer::has_text).await?;
                whole.ok_or(error)
            }
            asked => asked,
        };
        self.found.checks.push(judge::answers(&asked));
        let Some(first) = asked.ok().filter(|_| !self.found.failed("answers")) else {
            self.context().await;
            self.found.skip_rest("the model did not answer");
            return Ok(());
        };
        if self.found.switches.stream.is_none() {
            self.found.checks.push(judge::streams(self.route.options.stream, &first));
        }
        self.found.checks.push(judge::usage(&first));
        self.tools(&first).await?;
        // Before the repeat check, whose prompt must fit.
        self.context().await;
        self.cache().await;
        self.image().await;
        Ok(())
    }

    /// Checks a single call, two parallel calls, and reasoning that is sent back with them.
    async fn tools(&mut self, first: &ProbeAnswer) -> Result<(), ModelError> {
        let asked = self.ask(prompts::one_call()).await;
        let trouble = match &asked {
            Err(error) if self.may_be_the_stream(error) => Some(error.message.clone()),
            Ok(answer) if self.route.options.stream => answer.broken_call().map(str::to_owned),
            _ => None,
        };
        let whole = match trouble {
            Some(trouble) => {
                self.without_stream(prompts::one_call(), &trouble, ProbeAnswer::has_sound_call).await?
            }
            None => None,
        };
        let asked = whole.map_or(asked, Ok);
        let went_on = match (&asked, judge::call(&asked)) {
            (Ok(answer), None) => {
                let went_on = self.ask(prompts::after(prompts::one_call(), &answer.reply)).await;
                self.found.checks.push(judge::round_trip(&went_on));
                Some((prompts::after(prompts::one_call(), &answer.reply), went_on))
            }
            (_, check) => {
                self.found.checks.extend(check);
                None
            }
        };
        self.parallel().await;
        let has_thoughts = asked.as_ref().is_ok_and(ProbeAnswer::has_thoughts);
        let went_on = match went_on {
            Some(went_on) if has_thoughts => Some(went_on),
            _ if first.has_thoughts() => {
                let prompt = prompts::after(prompts::talk(), &first.reply);
                Some((prompt.clone(), self.ask(prompt).await))
            }
            _ => None,
        };
        let check = match went_on {
            Some((prompt, went_on)) => self.reasoning(prompt, &went_on).await?,
            None => Check::skipped("reasoning", "the model showed no thoughts"),
        };
        self.found.checks.push(check);
        Ok(())
    }

    async fn parallel(&mut self) {
        const NAME: &str = "parallel_calls";
        if self.found.failed("tool_call") {
            self.found.checks.push(Check::skipped(NAME, "the tool call failed"));
            return;
        }
        if self.route.options.parallel_tool_calls == Some(false) {
            self.found.checks.push(Check::skipped(NAME, "`parallel_tool_calls` is off in this profile"));
            return;
        }
        let asked = self.ask(prompts::two_calls()).await;
        let went_on = match &asked {
            Ok(answer) if answer.calls() > 1 => {
                Some(self.ask(prompts::after(prompts::two_calls(), &answer.reply)).await)
            }
            _ => None,
        };
        let refusal = asked.as_ref().err().or_else(|| went_on.as_ref()?.as_ref().err());
        if refusal.is_some_and(judge::is_refusal) {
            self.found.switches.parallel_tool_calls = Some(false);
        }
        self.found.checks.push(judge::parallel(&asked, went_on.as_ref()));
    }

    /// Checks the turn after reasoning. If the server refuses it, the call is repeated without the reasoning.
    async fn reasoning(&mut self, prompt: Prompt, went_on: &Asked) -> Result<Check, ModelError> {
        // Other wires always send reasoning back, and have no switch for it.
        let replay = (self.route.protocol.wire() == "chat").then_some(self.route.options.reasoning_replay);
        if let (Err(error), Some(ReasoningReplay::ToolTurns | ReasoningReplay::All)) = (went_on, replay)
            && judge::is_refusal(error)
        {
            let without = |options: &mut Options| options.reasoning_replay = ReasoningReplay::Off;
            if self.turned(prompt, without, |_| true).await?.is_some() {
                self.found.switches.reasoning_replay = Some(ReasoningReplay::Off);
                let evidence = format!("thoughts are not taken back: {}", error.message);
                return Ok(Check::warn(
                    "reasoning",
                    evidence,
                    "nothing to do: they are left out from now on",
                ));
            }
        }
        Ok(judge::reasoning(replay, went_on))
    }

    async fn context(&mut self) {
        let Subject { model, catalogue_context, configured_context, .. } = self.subject;
        let contexts = Contexts {
            server: probe::context_window(&self.route, model).await.ok(),
            catalogue: *catalogue_context,
            configured: *configured_context,
        };
        self.found.server_window = contexts.of_server();
        self.found.context_window = contexts.real().map(|(size, _)| size);
        self.found.checks.push(contexts.check());
    }

    async fn cache(&mut self) {
        let lines = if self.route.protocol.wire() == "messages" { CACHE_LINES_MESSAGES } else { CACHE_LINES };
        let needed =
            (lines as u64).saturating_mul(TOKENS_PER_LINE).saturating_add(prompts::SHORT_ANSWER_TOKENS);
        if self.found.context_window.is_some_and(|size| size < needed) {
            let reason =
                format!("the context is too small for a prompt that is worth keeping ({needed} tokens)");
            self.found.checks.push(Check::skipped("cache", reason));
            return;
        }
        let first = self.ask(prompts::long(lines)).await;
        let second = self.ask(prompts::long(lines)).await;
        self.found.checks.push(judge::cache(&first, &second));
    }

    async fn image(&mut self) {
        let asked = self.ask(prompts::picture()).await;
        self.found.checks.push(judge::image(&asked));
    }

    async fn ask(&mut self, prompt: Prompt) -> Asked {
        let asked = self.asker.ask(prompt).await;
        self.noted(asked)
    }

    /// Records the fields that had to be left out for the server.
    fn noted(&mut self, asked: Asked) -> Asked {
        for lesson in asked.iter().flat_map(|answer| &answer.lessons) {
            if !self.found.quirks.contains(lesson) {
                self.found.quirks.push(lesson.clone());
            }
        }
        asked
    }

    /// Whether a server that fails like this may work without streaming.
    fn may_be_the_stream(&self, error: &ModelError) -> bool {
        let options = &self.route.options;
        options.stream && !options.login_backed && judge::is_bad_stream(error)
    }

    /// Asks for a whole answer. If that helps, all later calls do the same.
    async fn without_stream(
        &mut self,
        prompt: Prompt,
        trouble: &str,
        is_better: impl Fn(&ProbeAnswer) -> bool,
    ) -> Result<Option<ProbeAnswer>, ModelError> {
        let answer = self.turned(prompt, |options| options.stream = false, is_better).await?;
        if answer.is_some() {
            self.found.switches.stream = Some(false);
            let evidence = format!("streams come to no good end: {trouble}");
            let next = "nothing to do: answers are asked for whole from now on";
            self.found.put(Check::warn("streams", evidence, next));
        }
        Ok(answer)
    }

    /// Asks with a changed option. If the answer is better, the option stays changed.
    async fn turned(
        &mut self,
        prompt: Prompt,
        turn: impl FnOnce(&mut Options),
        is_better: impl Fn(&ProbeAnswer) -> bool,
    ) -> Result<Option<ProbeAnswer>, ModelError> {
        let mut route = self.route.clone();
        turn(&mut route.options);
        let asker = Asker::new(self.subject, route.clone())?;
        let asked = asker.ask(prompt).await;
        let Some(answer) = self.noted(asked).ok().filter(is_better) else { return Ok(None) };
        self.found.switches = self.found.switches.or(self.asker.switches());
        (self.route, self.asker) = (route, asker);
        Ok(Some(answer))
    }
}
