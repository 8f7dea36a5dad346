//! One call of a check: made once, within a bound, with what came on the way.

use std::time::Duration;

use futures::StreamExt;

use crate::diagnose::prompts::ANSWER_TOKENS;
use crate::diagnose::run::Subject;
use crate::{
    Arguments, Delta, HttpModel, Model, ModelError, ModelErrorKind, Prompt, Reply, ReplyItem, Route, Switches,
};

/// How long one call may take: a local server may have to load its model first.
const CALL_TIME: Duration = Duration::from_mins(3);

/// An answer and how it came.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) reply: Reply,
    /// How many pieces of text came before the whole.
    pub(super) pieces: usize,
    /// What the server refused and did without.
    pub(super) lessons: Vec<String>,
}

impl Answer {
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

    /// Why a call's arguments cannot be used, if one's cannot.
    pub(super) fn broken_call(&self) -> Option<&str> {
        self.reply.items.iter().find_map(|item| match item {
            ReplyItem::ToolCall { arguments: Arguments::Broken { error, .. }, .. } => Some(error.as_str()),
            _ => None,
        })
    }
}

/// Asks one model. What the server turns out not to take is learned from call to call, as in a conversation.
pub(super) struct Asker {
    model: HttpModel,
    temperature: Option<f64>,
    /// What the model may think beside its answer.
    thinking: u64,
}

impl Asker {
    pub(super) fn new(subject: &Subject, route: Route) -> Result<Self, ModelError> {
        let thinking = route.options.thinking_budget.unwrap_or(0);
        let model = HttpModel::new(subject.model.clone(), patient(route))?;
        Ok(Self { model, temperature: subject.temperature, thinking })
    }

    /// What was learned about the server.
    pub(super) fn switches(&self) -> Switches {
        self.model.switches()
    }

    pub(super) async fn ask(&self, mut prompt: Prompt) -> Result<Answer, ModelError> {
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
                Delta::Finished(reply) => return Ok(Answer { reply, pieces, lessons }),
                Delta::Reasoning(_) | Delta::Apart | Delta::ToolArguments { .. } => {}
            }
        }
        Err(ModelError::new(ModelErrorKind::BadStream, "the answer never came to its end"))
    }
}

/// The route with the bounds of a check.
fn patient(mut route: Route) -> Route {
    let settings = &mut route.settings;
    settings.retries = 0;
    settings.total_timeout = settings.total_timeout.min(CALL_TIME);
    settings.idle_timeout = settings.idle_timeout.min(CALL_TIME);
    route
}
