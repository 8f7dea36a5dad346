//! The model of a session: what every call starts with, whether it fits, and what it took.

use std::sync::Arc;

use buddy_model::{Model, ModelFacts, Prompt, PromptItem, Reply, ReplyStream, tokens};
use buddy_protocol::{Failure, FailureKind, Usage};

use crate::briefing::Briefing;
use crate::model_source::ModelSource;
use crate::turn::{Answered, Charge};

/// Room is made when a prompt fills so much of the window, in percent.
const FULL: u64 = 85;
/// People are told when it fills so much.
const NEARLY_FULL: u64 = 80;

/// How many times more an estimate must be than a provider's count for the count not to be believed.
const UNDERCOUNT: u64 = 2;

/// The model of a session.
pub(crate) struct Models {
    pub(crate) source: Arc<dyn ModelSource>,
    pub(crate) chosen: Option<String>,
    pub(crate) briefing: Briefing,
    pub(crate) cache_key: String,
    pub(crate) meter: Meter,
}

/// The measured size of the last call.
#[derive(Default)]
pub(crate) struct Meter {
    /// The prompt of the call that is under way.
    sent: Option<Prompt>,
    /// The items that were counted, and their tokens, by the provider's own count.
    counted: Option<(usize, u64)>,
    /// Whether people were told that the window is nearly full.
    is_told: bool,
}

/// A call that is ready to be made, and how full the window is.
pub(crate) struct Ready {
    prompt: Prompt,
    model: Arc<dyn Model>,
    used: u64,
    window: Option<u64>,
}

impl Ready {
    /// The names of the tools that the model is offered.
    pub(crate) fn tool_names(&self) -> Vec<String> {
        self.prompt.tools.iter().map(|tool| tool.name.clone()).collect()
    }

    /// The window and the tokens of the prompt, when it does not fit into it with room for an answer. A window that is not known is found
    /// out by the provider's refusal.
    pub(crate) fn overflow(&self) -> Option<(u64, u64)> {
        self.window.filter(|window| self.used * 100 >= window * FULL).map(|window| (window, self.used))
    }
}

impl Models {
    /// Uses another model from the next call on.
    pub(crate) fn choose(&mut self, name: Option<String>) -> Result<(), Failure> {
        self.source.model(name.as_deref())?;
        self.chosen = name;
        self.meter = Meter::default();
        Ok(())
    }

    /// Tells models something else before the conversation, from the next call on.
    pub(crate) fn brief(&mut self, briefing: Briefing) {
        self.briefing = briefing;
        self.meter.counted = None;
    }

    /// The facts about the model in use.
    pub(crate) fn facts(&self) -> ModelFacts {
        self.source.facts(self.chosen.as_deref())
    }

    /// The model in use.
    pub(crate) fn model(&self) -> Result<Arc<dyn Model>, Failure> {
        self.source.model(self.chosen.as_deref())
    }

    /// The window to make room in, also when nobody knows it.
    pub(crate) fn window(&self) -> u64 {
        self.facts().context_window.unwrap_or_else(|| self.meter.counted.map_or(0, |(_, tokens)| tokens))
    }

    /// Makes a call ready, or one that must be answered by text alone.
    pub(crate) fn prepare(&self, history: Vec<PromptItem>, is_text_only: bool) -> Result<Ready, Failure> {
        let model = self.model()?;
        let facts = self.facts();
        let offer = self.briefing.offer(&facts).map_err(|message| Failure {
            http_status: None,
            kind: FailureKind::Internal,
            message,
            hint: None,
        })?;
        let prompt = Prompt {
            system: offer.system.clone(),
            tools: offer.tools.clone(),
            items: history,
            max_output_tokens: None,
            temperature: None,
            cache_key: Some(self.cache_key.clone()),
            is_text_only,
        };
        let used = self.meter.used(&prompt);
        Ok(Ready { prompt, model, used, window: facts.context_window })
    }

    /// Makes the call.
    pub(crate) fn call(&mut self, ready: Ready) -> ReplyStream {
        self.meter.sent = Some(ready.prompt.clone());
        ready.model.call(ready.prompt)
    }

    /// The warning about the window, once when it gets nearly full.
    pub(crate) fn warning(&mut self, ready: &Ready) -> Option<String> {
        let window = ready.window?;
        let is_nearly_full = ready.used * 100 >= window * NEARLY_FULL;
        if !is_nearly_full || std::mem::replace(&mut self.meter.is_told, true) {
            return None;
        }
        let percent = ready.used * 100 / window.max(1);
        Some(format!("Context is {percent}% full. buddy makes room at {FULL}%."))
    }

    /// Forgets what was measured, because the history is another one now.
    pub(crate) fn forget(&mut self) {
        self.meter = Meter::default();
    }

    /// The usage of the call that is under way until now, by an estimate, where it was let go of after so many tokens.
    pub(crate) fn dropped(&mut self, output: u64) -> Option<Charge> {
        let sent = self.meter.sent.take()?;
        let facts = self.facts();
        let input = tokens::of_prompt(&sent);
        let usage = Usage { input, output, estimated: true, ..Usage::default() };
        let model = self.model().map(|model| model.name().to_owned()).unwrap_or_default();
        Some(Charge { model, usage, cost: facts.cost(&usage) })
    }

    /// The usage of an answer: by the provider's count, else by an estimate that says so.
    pub(crate) fn answered(&mut self, reply: Reply) -> Answered {
        let facts = self.facts();
        let sent = self.meter.sent.take().unwrap_or_default();
        let usage = reply.usage.unwrap_or_else(|| Usage {
            input: tokens::of_prompt(&sent),
            output: tokens::of_reply(&reply),
            estimated: true,
            ..Usage::default()
        });
        self.meter.counted =
            Some((sent.items.len() + reply.items.len(), usage.input.saturating_add(usage.output)));
        let model = reply.model.clone().or_else(|| self.chosen.clone()).unwrap_or_default();
        Answered { charge: Charge { model, usage, cost: facts.cost(&usage) }, reply }
    }
}

impl Meter {
    /// The tokens of a prompt: what was counted, and an estimate of what came since. A count that is far below an estimate of the whole is
    /// not believed: some servers count only what they did not have cached, or nothing.
    fn used(&self, prompt: &Prompt) -> u64 {
        let estimate = tokens::of_prompt(prompt);
        match self.counted {
            Some((count, tokens)) if count <= prompt.items.len() => {
                let since = tokens::of_items(prompt.items.get(count..).unwrap_or_default());
                let counted = tokens.saturating_add(since);
                if counted.saturating_mul(UNDERCOUNT) < estimate { estimate } else { counted }
            }
            _ => estimate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_far_below_the_estimate_is_not_believed() {
        let items = vec![PromptItem::user("word ".repeat(4_000)), PromptItem::user("more")];
        let prompt = Prompt { items, ..Prompt::default() };
        let estimate = Meter::default().used(&prompt);
        let used = |tokens| Meter { counted: Some((1, tokens)), ..Meter::default() }.used(&prompt);
        assert_eq!((used(0), used(estimate / 10)), (estimate, estimate));
        let since = used(estimate) - estimate;
        assert!(since < 100, "what came since is estimated: {since}");
        assert_eq!(used(estimate * 5), estimate * 5 + since, "a high count is the safe one");
    }
}
