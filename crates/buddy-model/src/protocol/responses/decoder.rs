//! Decodes a Responses answer event by event.
//!
//! Deltas are for display. The answer consists of the whole items in `response.output_item.done`, and the
//! stream must say how it ended: without `response.completed` or `response.incomplete` there is no answer.

use buddy_protocol::Usage;
use serde_json::{Value, json};

use crate::clean::clipped;
use crate::protocol::bounded::grow;
use crate::protocol::responses::items::{
    ResponsesAnswer, has_refusal, is_refusal, message_text, reasoning_text,
};
use crate::protocol::responses::usage;
use crate::protocol::speaker::Speaker;
use crate::protocol::{
    Decoder, DecoderContext, Frame, MAX_ANSWER_BYTES, MAX_CALLS_PER_REPLY, Progress, WireError,
};
use crate::{Delta, Reply, StopReason};

/// The answer so far.
#[derive(Debug)]
pub(super) struct ResponsesDecoder {
    context: DecoderContext,
    /// Whole items by their position in the answer.
    items: Vec<(u64, Value)>,
    /// The displayed text of a message that is not whole yet.
    open_text: String,
    /// Displayed calls: their position in the answer and their tool.
    shown: Vec<(u64, Option<String>)>,
    /// Bytes of deltas and items so far.
    bytes: usize,
    /// Whether any event carried a refusal: some servers repeat it in no whole item.
    refused: bool,
    speaker: Speaker,
    model: Option<String>,
    end: Option<End>,
}

/// The end of the answer as the server reports it.
#[derive(Debug)]
struct End {
    /// The reason why it is incomplete.
    incomplete: Option<String>,
    /// The items again; some servers leave this empty, others send them only here.
    output: Vec<Value>,
    usage: Option<Usage>,
}

impl ResponsesDecoder {
    pub(super) fn new(context: DecoderContext) -> Self {
        Self {
            context,
            items: Vec::new(),
            open_text: String::new(),
            shown: Vec::new(),
            bytes: 0,
            refused: false,
            speaker: Speaker::default(),
            model: None,
            end: None,
        }
    }

    fn take_delta(&mut self, kind: &str, index: Option<u64>, text: &str) -> Result<Vec<Delta>, WireError> {
        self.count(text.len())?;
        self.refused |= kind == "response.refusal.delta";
        Ok(match kind {
            _ if text.is_empty() => Vec::new(),
            "response.output_text.delta" | "response.refusal.delta" => {
                self.open_text.push_str(text);
                self.speaker.say(index, Delta::Text(text.to_owned()))
            }
            "response.reasoning_summary_text.delta"
            | "response.reasoning_text.delta"
            | "response.reasoning.delta" => self.speaker.say(index, Delta::Reasoning(text.to_owned())),
            "response.function_call_arguments.delta" => {
                self.show_call(index.unwrap_or(0), None, text).into_iter().collect()
            }
            _ => Vec::new(),
        })
    }

    /// Shows a part of a summary; each part is a paragraph.
    fn paragraph(&mut self, index: Option<u64>, event: &Value) -> Vec<Delta> {
        let is_first = event.get("summary_index").and_then(Value::as_u64).unwrap_or(0) == 0;
        if is_first { Vec::new() } else { self.speaker.say(index, Delta::Reasoning("\n\n".to_owned())) }
    }

    fn note_call(&mut self, index: Option<u64>, item: &Value) -> Option<Delta> {
        if text_at(item, "type") != Some("function_call") {
            return None;
        }
        self.show_call(index.unwrap_or(0), text_at(item, "name"), "")
    }

    /// Shows a piece of the call at this position of the answer.
    fn show_call(&mut self, index: u64, name: Option<&str>, text: &str) -> Option<Delta> {
        let position = match self.shown.iter().position(|(known, _)| *known == index) {
            Some(position) => position,
            None if self.shown.len() >= MAX_CALLS_PER_REPLY => return None,
            None => {
                self.shown.push((index, name.map(str::to_owned)));
                self.shown.len() - 1
            }
        };
        let (_, name) = self.shown.get(position)?;
        Some(Delta::ToolArguments { index: position, name: name.clone(), text: text.to_owned() })
    }

    fn take_item(&mut self, index: Option<u64>, item: Value, size: usize) -> Result<Vec<Delta>, WireError> {
        self.count(size)?;
        if text_at(&item, "type") == Some("message") {
            self.open_text.clear();
        }
        let index = index.unwrap_or_else(|| self.items.last().map_or(0, |(last, _)| last.saturating_add(1)));
        self.items.retain(|(known, _)| *known != index);
        self.items.push((index, item));
        Ok(Vec::new())
    }

    fn note_model(&mut self, response: &Value) {
        if let Some(model) = text_at(response, "model").filter(|model| !model.is_empty()) {
            self.model = Some(model.to_owned());
        }
    }

    /// Takes the response object that ends an answer; its event may already say that it is incomplete.
    fn end(&mut self, mut response: Value, is_said_incomplete: bool) -> Result<(), WireError> {
        let is_failed = matches!(text_at(&response, "status"), Some("failed" | "cancelled"));
        if is_failed || response.get("error").is_some_and(|error| !error.is_null()) {
            return Err(WireError::Reported(taken(&mut response, "error")));
        }
        self.note_model(&response);
        let reason = response.get("incomplete_details").and_then(|details| text_at(details, "reason"));
        // Some servers send a response without a status; one with a status other than `completed` has not
        // ended.
        let status = text_at(&response, "status").filter(|status| *status != "completed");
        let status = status.or_else(|| is_said_incomplete.then_some("incomplete"));
        let incomplete = reason.or(status).map(str::to_owned);
        let usage = usage::read(&response);
        let output = match response.get_mut("output").map(Value::take) {
            Some(Value::Array(output)) => output,
            _ => Vec::new(),
        };
        self.refused |= output.iter().filter_map(Value::as_object).any(has_refusal);
        self.end = Some(End { incomplete, output, usage });
        Ok(())
    }

    /// The items in order: as each was reported done, or as the end repeats them if some were not.
    fn whole_items(&mut self, output: Vec<Value>) -> Vec<Value> {
        self.items.sort_by_key(|(index, _)| *index);
        let done = std::mem::take(&mut self.items).into_iter().map(|(_, item)| item);
        if output.len() > done.len() {
            return output;
        }
        let mut items: Vec<Value> = done.collect();
        // Text before a length limit is an answer too, and some servers send no whole items at all.
        let text = std::mem::take(&mut self.open_text);
        if !text.is_empty() {
            let content = json!([{ "type": "output_text", "text": text }]);
            items.push(json!({ "type": "message", "role": "assistant", "content": content }));
        }
        items
    }

    fn count(&mut self, more: usize) -> Result<(), WireError> {
        grow(&mut self.bytes, more, MAX_ANSWER_BYTES)
    }
}

impl Decoder for ResponsesDecoder {
    fn step(&mut self, frame: Frame) -> Result<Vec<Delta>, WireError> {
        let data = frame.data.trim();
        if data.is_empty() || data == "[DONE]" {
            return Ok(Vec::new());
        }
        let mut event: Value = serde_json::from_str(data)
            .map_err(|error| WireError::Malformed(format!("{error} in `{}`", clipped(data, 80))))?;
        if !event.is_object() {
            return Err(WireError::Malformed("an event is not an object".to_owned()));
        }
        let kind = text_at(&event, "type").unwrap_or(&frame.event).to_owned();
        let index = event.get("output_index").and_then(Value::as_u64);
        match kind.as_str() {
            "response.output_item.added" => Ok(self.note_call(index, &event["item"]).into_iter().collect()),
            "response.output_item.done" => self.take_item(index, taken(&mut event, "item"), data.len()),
            "response.refusal.done" => {
                self.refused = true;
                Ok(Vec::new())
            }
            "response.content_part.added" | "response.content_part.done" => {
                self.refused |= event.get("part").is_some_and(is_refusal);
                Ok(Vec::new())
            }
            "response.reasoning_summary_part.added" => Ok(self.paragraph(index, &event)),
            "response.created" | "response.in_progress" | "response.queued" => {
                self.note_model(&event["response"]);
                Ok(Vec::new())
            }
            "response.completed" | "response.done" | "response.incomplete" => {
                self.end(taken(&mut event, "response"), kind == "response.incomplete")?;
                Ok(Vec::new())
            }
            "response.failed" | "response.cancelled" => {
                Err(WireError::Reported(taken(&mut taken(&mut event, "response"), "error")))
            }
            "error" => Err(WireError::Reported(reported(event))),
            _ if event.get("error").is_some_and(|error| !error.is_null()) => {
                Err(WireError::Reported(reported(event)))
            }
            kind => match text_at(&event, "delta") {
                Some(delta) => self.take_delta(kind, index, delta),
                None => Ok(Vec::new()),
            },
        }
    }

    fn progress(&self) -> Progress {
        if self.end.is_some() { Progress::Done } else { Progress::Open }
    }

    fn whole(&mut self, body: &Value) -> Result<Vec<Delta>, WireError> {
        let is_response = body.get("output").is_some_and(Value::is_array);
        if !is_response && let Some(error) = body.get("error").filter(|error| !error.is_null()) {
            return Err(WireError::Reported(error.clone()));
        }
        if !is_response {
            return Err(WireError::Malformed("the answer has no output".to_owned()));
        }
        self.end(body.clone(), false)?;
        let said = self.end.iter().flat_map(|end| (0..).zip(&end.output));
        let said = said.filter_map(|(index, item)| Some((index, shown(item)?)));
        Ok(said.flat_map(|(index, piece)| self.speaker.say(Some(index), piece)).collect())
    }

    fn finish(&mut self) -> Result<Reply, WireError> {
        let Some(End { incomplete, output, usage }) = self.end.take() else {
            return Err(WireError::Truncated);
        };
        let mut answer = ResponsesAnswer::default();
        let items = self.whole_items(output);
        let last = items.len().saturating_sub(1);
        for (position, item) in items.into_iter().enumerate() {
            answer.take(item, incomplete.is_some() && position == last, &mut self.context);
        }
        let stop = match incomplete.as_deref() {
            Some("max_output_tokens" | "max_tokens" | "length" | "incomplete") => StopReason::Length,
            Some("content_filter") => StopReason::Filter,
            Some(other) => StopReason::Other(other.to_owned()),
            None if self.refused || answer.refused => StopReason::Refusal,
            None if answer.is_cut => StopReason::Length,
            None if !answer.calls.is_empty() => StopReason::ToolUse,
            None => StopReason::End,
        };
        Ok(Reply { items: answer.items, stop, usage, model: self.model.take() })
    }
}

/// A whole item as a delta.
fn shown(item: &Value) -> Option<Delta> {
    let item = item.as_object()?;
    let text = match item.get("type")?.as_str()? {
        "message" => Delta::Text(message_text(item)),
        "reasoning" => Delta::Reasoning(reasoning_text(item)),
        _ => return None,
    };
    let is_empty = matches!(&text, Delta::Text(text) | Delta::Reasoning(text) if text.is_empty());
    (!is_empty).then_some(text)
}

/// The error of an event: in the event's own fields, or as an object in it.
fn reported(mut event: Value) -> Value {
    match taken(&mut event, "error") {
        Value::Null => {
            // The event's own type does not describe the error.
            if let Some(fields) = event.as_object_mut() {
                fields.shift_remove("type");
            }
            event
        }
        error => error,
    }
}

fn taken(value: &mut Value, name: &str) -> Value {
    value.get_mut(name).map(Value::take).unwrap_or_default()
}

fn text_at<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}
