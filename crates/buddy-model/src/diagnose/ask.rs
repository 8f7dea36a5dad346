//! One call of a check: made once, with a timeout, and recorded with its deltas.

use std::time::Duration;

use futures::StreamExt;

use crate::diagnose::prompts::ANSWER_TOKENS;
use crate::diagnose::subject::Subject;
use crate::{
    Arguments, Delta, HttpModel, Model, ModelError, ModelErrorKind, Prompt, Reply, ReplyItem, Route, Switches,
};

/// The timeout of one call: a local server may have to load its model first.
const CALL_TIME: Duration = Duration::from_mins(3);

/// An answer and how it arrived.
#[derive(Debug)]
pub(super) struct ProbeAnswer {
    pub(super) reply: Reply,
    /// The number of text deltas before the whole answer.
    pub(super) pieces: usize,
    /// Fields that the server refused and that were left out on a retry.
    pub(super) lessons: Vec<String>,
}

impl ProbeAnswer {
    pub(super) fn text(&self) -> String {
        let texts = self.reply.items.iter().filter_map(|item| match item {
            ReplyItem::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub(super) fn has_thoughts(&self) -> bool {
        self.reply.items.iter().any(|item| matches!(item, ReplyItem::Reasoning { .. }))
    }

    pub(super) fn has_text(&self) -> bool {
        !self.text().trim().is_empty()
    }

    pub(super) fn has_sound_call(&self) -> bool {
        self.calls() > 0 && self.broken_call().is_none()
    }

    pub(super) fn calls(&self) -> usize {
        self.reply.items.iter().filter(|item| matches!(item, ReplyItem::ToolCall { .. })).count()
    }

    /// The error in a call's arguments, if any are unusable.
    pub(super) fn broken_call(&self) -> Option<&str> {
        self.reply.items.iter().find_map(|item| match item {
            ReplyItem::ToolCall { arguments: Arguments::Broken { error, .. }, .. } => Some(error.as_str()),
            _ => None,
        })
    }
}

/// Calls one model. It learns from call to call which fields the server refuses, as in a conversation.
pub(super) struct Asker {
    model: HttpModel,
    temperature: Option<f64>,
    /// The token budget for reasoning in addition to the answer.
    thinking: u64,
}

impl Asker {
    pub(super) fn new(subject: &Subject, route: Route) -> Result<Self, ModelError> {
        let thinking = route.options.thinking_budget.unwrap_or(0);
        let model = HttpModel::new(subject.model.clone(), patient(route))?;
        Ok(Self { model, temperature: subject.temperature, thinking })
    }

    /// The options learned about the server.
    pub(super) fn switches(&self) -> Switches {
        self.model.switches()
    }

    pub(super) async fn ask(&self, mut prompt: Prompt) -> Result<ProbeAnswer, ModelError> {
        prompt.temperature = self.temperature;
        let answer = prompt.max_output_tokens.unwrap_or(ANSWER_TOKENS);
        prompt.max_output_tokens = Some(answer.saturating_add(self.thinking));
        let mut deltas = self.model.call(prompt);
        let (mut pieces, mut lessons) = (0, Vec::new());
        while let Some(delta) = deltas.next().await {
            match delta? {
                Delta::Text(_) => pieces += 1,
                Delta::Restarted { error, .. } => {
                    pieces = 0;
                    lessons.push(error);
                }
                Delta::Finished(reply) => return Ok(ProbeAnswer { reply, pieces, lessons }),
                Delta::Reasoning(_) | Delta::Apart | Delta::ToolArguments { .. } => {}
            }
        }
        Err(ModelError::new(ModelErrorKind::BadStream, "the answer never came to its end"))
    }
}

/// The route with the timeouts of a check.
fn patient(mut route: Route) -> Route {
    let settings = &mut route.settings;
    settings.retries = 0;
    settings.total_timeout = settings.total_timeout.min(CALL_TIME);
    settings.idle_timeout = settings.idle_timeout.min(CALL_TIME);
    route
}
