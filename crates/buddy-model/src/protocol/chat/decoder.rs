//! Decodes a Chat Completions answer chunk by chunk.

use buddy_protocol::Usage;
use serde_json::Value;

use crate::clean::clipped;
use crate::protocol::bounded::{grow, weight};
use crate::protocol::call_list::CallList;
use crate::protocol::chat::calls::{Calls, Ending};
use crate::protocol::chat::extras::{self, Extras};
use crate::protocol::chat::reasoning::Reasoning;
use crate::protocol::chat::usage;
use crate::protocol::ending::{Before, stop_reason};
use crate::protocol::printed::printed_calls;
use crate::protocol::{Decoder, DecoderContext, Frame, MAX_ANSWER_BYTES, Progress, WireError};
use crate::{Delta, Reply, ReplyItem, StopReason};

/// The finish reason of a filtered answer.
const FILTERED: &str = "content_filter";

/// Words of providers for answers that a filter cut.
const FILTERED_WORDS: &[&str] = &["safety", "recitation", "blocklist", "prohibited_content", "spii"];

/// The end mark that most servers send.
const DONE: &str = "[DONE]";

/// The answer so far.
#[derive(Debug)]
pub(super) struct ChatDecoder {
    context: DecoderContext,
    text: String,
    refused: bool,
    reasoning: Reasoning,
    calls: Calls,
    /// Fields of the message that this wire does not define.
    extras: Extras,
    /// Bytes of provider data kept besides text, reasoning and arguments.
    kept: usize,
    finish_reason: Option<String>,
    usage: Option<Usage>,
    model: Option<String>,
    done: bool,
}

impl ChatDecoder {
    pub(super) fn new(context: DecoderContext) -> Self {
        Self {
            context,
            text: String::new(),
            refused: false,
            reasoning: Reasoning::default(),
            calls: Calls::default(),
            extras: Extras::default(),
            kept: 0,
            finish_reason: None,
            usage: None,
            model: None,
            done: false,
        }
    }

    /// Takes a chunk or a whole answer; they differ only in one key.
    fn take(&mut self, chunk: &Value, message_key: &str) -> Result<Vec<Delta>, WireError> {
        if !chunk.is_object() {
            return Err(WireError::Malformed("a chunk is not an object".to_owned()));
        }
        if let Some(error) = reported_error(chunk) {
            return Err(WireError::Reported(error));
        }
        if let Some(model) = non_empty(chunk.get("model")) {
            self.model.get_or_insert_with(|| model.to_owned());
        }
        self.usage = usage::read(chunk).or(self.usage);
        let mut deltas = Vec::new();
        if let Some(choice) = first_choice(chunk) {
            // Some servers put it into a form of the message that the rest of the answer does not use.
            let carriers = [Some(choice), choice.get("delta"), choice.get("message")];
            self.refused |= carriers.into_iter().flatten().any(has_refusal);
            if let Some(message) = choice.get(message_key) {
                self.take_message(message, &mut deltas);
            }
            if let Some(reason) = non_empty(choice.get("finish_reason")) {
                self.take_reason(reason);
            }
            if let Some(reason) = non_empty(choice.get("native_finish_reason")) {
                self.take_native_reason(reason);
            }
            if choice.get("content_filter_results").is_some_and(is_filtered) {
                self.take_reason(FILTERED);
            }
        }
        self.check_size()?;
        Ok(deltas)
    }

    /// Takes the reason of the provider behind a gateway, which is told beside that of the gateway: only if it says that the answer was cut.
    /// There are too many words for a proper end.
    fn take_native_reason(&mut self, reason: &str) {
        let word = reason.to_ascii_lowercase();
        let stop = stop_reason(word.clone(), Before::Calls);
        if matches!(stop, StopReason::Length | StopReason::Filter | StopReason::Refusal)
            || FILTERED_WORDS.contains(&word.as_str())
        {
            self.take_reason(&word);
        }
    }

    /// Takes the finish reason. A reason for a cut outranks any other, in whatever order they come.
    fn take_reason(&mut self, reason: &str) {
        const MEANT: &[&str] = &["stop", "tool_calls", "function_call"];
        let is_known = self.finish_reason.as_deref().is_some_and(|known| !MEANT.contains(&known));
        if self.finish_reason.is_none() || (!is_known && !MEANT.contains(&reason)) {
            self.finish_reason = Some(reason.to_owned());
        }
    }

    fn check_size(&self) -> Result<(), WireError> {
        let mut size = self.text.len() + self.reasoning.len() + self.calls.len();
        grow(&mut size, self.kept, MAX_ANSWER_BYTES)
    }

    fn take_message(&mut self, message: &Value, deltas: &mut Vec<Delta>) {
        deltas.extend(self.reasoning.take(message).map(Delta::Reasoning));
        match message.get("content") {
            Some(Value::String(text)) => self.say(text, deltas),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.take_part(part, deltas)),
            _ => {}
        }
        if let Some(refusal) = non_empty(message.get("refusal")) {
            self.say(refusal, deltas);
        }
        self.kept += self.extras.take_message(message);
        self.kept += message.get("reasoning_details").map_or(0, weight);
        // The legacy `function_call` beside it is ignored: if both come, it is the wrong one.
        if let Some(Value::Array(pieces)) = message.get("tool_calls") {
            deltas.extend(pieces.iter().filter_map(|piece| self.calls.take(piece)));
        }
    }

    fn take_part(&mut self, part: &Value, deltas: &mut Vec<Delta>) {
        match part.get("type").and_then(Value::as_str) {
            Some("thinking" | "reasoning") => {
                let text = thinking(part);
                if !text.is_empty() {
                    self.reasoning.add(&text);
                    deltas.push(Delta::Reasoning(text));
                }
            }
            Some("refusal") => {
                self.say(part.get("refusal").and_then(Value::as_str).unwrap_or_default(), deltas);
            }
            _ => self.say(part.get("text").and_then(Value::as_str).unwrap_or_default(), deltas),
        }
    }

    fn say(&mut self, text: &str, deltas: &mut Vec<Delta>) {
        if !text.is_empty() {
            self.text.push_str(text);
            deltas.reserve_exact(1);
            deltas.push(Delta::Text(text.to_owned()));
        }
    }

    fn stop(&self, reason: String) -> StopReason {
        let before = match (self.refused, self.calls.is_empty()) {
            (true, _) => Before::Refusal,
            (false, true) => Before::Words,
            (false, false) => Before::Calls,
        };
        stop_reason(reason, before)
    }
}

/// Whether one of the filters of a provider cut the answer.
fn is_filtered(results: &Value) -> bool {
    let filters = results.as_object().into_iter().flat_map(|filters| filters.values());
    filters.into_iter().any(|filter| filter.get("filtered") == Some(&Value::Bool(true)))
}

impl ChatDecoder {
    /// Calls that the model printed as text, which then become the answer's calls and are no longer its text.
    fn take_printed(&mut self, stop: &StopReason) -> Option<Vec<ReplyItem>> {
        if !self.calls.is_empty() || *stop != StopReason::End {
            return None;
        }
        let printed = printed_calls(&self.text, &self.context.tools)?;
        self.text = printed.text;
        let mut list = CallList::default();
        let calls = printed.calls.into_iter();
        Some(
            calls
                .filter_map(|(name, arguments)| list.admit(None, name, arguments, None, &mut self.context))
                .collect(),
        )
    }
}

impl Decoder for ChatDecoder {
    fn step(&mut self, frame: Frame) -> Result<Vec<Delta>, WireError> {
        let data = frame.data.trim();
        if data == DONE {
            self.done = true;
            return Ok(Vec::new());
        }
        if data.is_empty() {
            return Ok(Vec::new());
        }
        let chunk: Value = serde_json::from_str(data)
            .map_err(|error| WireError::Malformed(format!("{error} in `{}`", clipped(data, 80))))?;
        if frame.event == "error" && reported_error(&chunk).is_none() {
            return Err(WireError::Reported(chunk));
        }
        self.take(&chunk, "delta")
    }

    fn progress(&self) -> Progress {
        match (self.done, &self.finish_reason) {
            (true, _) => Progress::Done,
            (false, Some(_)) => Progress::Complete,
            (false, None) => Progress::Open,
        }
    }

    fn whole(&mut self, body: &Value) -> Result<Vec<Delta>, WireError> {
        self.take(body, "message")
    }

    fn finish(&mut self) -> Result<Reply, WireError> {
        let Some(reason) = self.finish_reason.take() else { return Err(WireError::Truncated) };
        if reason == "error" {
            return Err(WireError::Reported(Value::Null));
        }
        let mut stop = self.stop(reason);
        let ending = if matches!(stop, StopReason::ToolUse) { Ending::Meant } else { Ending::Cut };
        let printed = self.take_printed(&stop);
        let mut items = Vec::new();
        if let Some((text, private)) = std::mem::take(&mut self.reasoning).finish(&self.context) {
            items.push(ReplyItem::Reasoning { text, private });
        }
        let (text, mut extras) = (std::mem::take(&mut self.text), std::mem::take(&mut self.extras));
        if !text.is_empty() {
            let message = std::mem::take(&mut extras);
            let private = extras::private(Extras::default(), message, &self.context);
            items.push(ReplyItem::Text { text, private });
        }
        items.extend(std::mem::take(&mut self.calls).finish(ending, extras, &mut self.context));
        if let Some(printed) = printed {
            items.extend(printed);
            stop = StopReason::ToolUse;
        }
        Ok(Reply { items, stop, usage: self.usage, model: self.model.take() })
    }
}

/// An error in place of an answer, in the formats that servers use.
fn reported_error(chunk: &Value) -> Option<Value> {
    match chunk.get("error") {
        Some(error) if !error.is_null() => Some(error.clone()),
        _ if chunk.get("object").and_then(Value::as_str) == Some("error") => Some(chunk.clone()),
        _ => None,
    }
}

/// The choice with index zero or none; we never ask for more than one.
fn first_choice(chunk: &Value) -> Option<&Value> {
    let is_first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
    chunk.get("choices")?.as_array()?.iter().find(is_first)
}

/// Whether a message carries a refusal, in a field of its own or as a part. Not every server sends text in the field.
fn has_refusal(message: &Value) -> bool {
    let in_field = match message.get("refusal") {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Bool(true) | Value::Object(_) | Value::Array(_)) => true,
        _ => false,
    };
    let parts = message.get("content").and_then(Value::as_array);
    let is_refusal = |part: &Value| part.get("type").and_then(Value::as_str) == Some("refusal");
    in_field || parts.is_some_and(|parts| parts.iter().any(is_refusal))
}

fn non_empty(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The text of a thinking part: a string or a list of text parts.
fn thinking(part: &Value) -> String {
    match part.get("thinking").or_else(|| part.get("text")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
