//! Decodes an Ollama answer line by line. A whole answer is a stream of one line.

use buddy_protocol::Usage;
use serde_json::{Value, json};

use crate::clean::clipped;
use crate::protocol::bounded::{grow, weight};
use crate::protocol::call_list::CallList;
use crate::protocol::ending::{Before, stop_reason};
use crate::protocol::field::text_of;
use crate::protocol::printed::printed_calls;
use crate::protocol::tokens::count;
use crate::protocol::wire_name::OLLAMA_WIRE;
use crate::protocol::{Decoder, DecoderContext, Frame, MAX_ANSWER_BYTES, MAX_PARTS, Progress, WireError};
use crate::{Arguments, Delta, Reply, ReplyItem, StopReason};

/// The maximum number of calls to look at; far fewer are admitted.
const MAX_CALLS_SEEN: usize = MAX_PARTS;

/// The answer so far.
#[derive(Debug)]
pub(super) struct OllamaDecoder {
    context: DecoderContext,
    text: String,
    thinking: String,
    calls: Vec<Call>,
    bytes: usize,
    usage: Option<Usage>,
    model: Option<String>,
    /// The reason why it ended, once it has.
    done: Option<String>,
}

/// A call; calls come whole.
#[derive(Debug)]
struct Call {
    id: Option<String>,
    name: String,
    arguments: Arguments,
}

impl OllamaDecoder {
    pub(super) fn new(context: DecoderContext) -> Self {
        Self {
            context,
            text: String::new(),
            thinking: String::new(),
            calls: Vec::new(),
            bytes: 0,
            usage: None,
            model: None,
            done: None,
        }
    }

    fn take(&mut self, line: &Value) -> Result<Vec<Delta>, WireError> {
        if let Some(error) = line.get("error").filter(|error| !error.is_null()) {
            return Err(WireError::Reported(error.clone()));
        }
        if !line.is_object() {
            return Err(WireError::Malformed("a line is not an object".to_owned()));
        }
        if let Some(model) = text_of(line.get("model")) {
            self.model.get_or_insert_with(|| model.to_owned());
        }
        let deltas = self.take_message(line.get("message").unwrap_or(&Value::Null));
        if line.get("done").and_then(Value::as_bool) == Some(true) {
            // Old versions give no reason.
            self.done = Some(text_of(line.get("done_reason")).unwrap_or("stop").to_owned());
            self.usage = usage(line);
        }
        grow(&mut self.bytes, 0, MAX_ANSWER_BYTES)?;
        Ok(deltas)
    }

    fn take_message(&mut self, message: &Value) -> Vec<Delta> {
        let mut deltas = Vec::new();
        if let Some(text) = text_of(message.get("thinking")) {
            self.thinking.push_str(text);
            deltas.push(Delta::Reasoning(text.to_owned()));
        }
        if let Some(text) = text_of(message.get("content")) {
            self.text.push_str(text);
            deltas.push(Delta::Text(text.to_owned()));
        }
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            deltas.extend(self.take_call(call));
        }
        self.bytes += deltas.iter().map(size).sum::<usize>();
        deltas
    }

    fn take_call(&mut self, call: &Value) -> Option<Delta> {
        // Dropped calls count too: calls without end are an endless answer.
        self.bytes += weight(call);
        if self.calls.len() >= MAX_CALLS_SEEN {
            return None;
        }
        let function = call.get("function").unwrap_or(call);
        let text = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(value) => value.to_string(),
        };
        let arguments = Arguments::parse(&text);
        let id = text_of(call.get("id")).map(str::to_owned);
        let name = text_of(function.get("name")).unwrap_or("unnamed").to_owned();
        let delta = Delta::ToolArguments { index: self.calls.len(), name: Some(name.clone()), text };
        self.calls.push(Call { id, name, arguments });
        Some(delta)
    }

    /// Finds calls that small models print as text.
    fn find_printed_calls(&mut self) {
        if !self.calls.is_empty() {
            return;
        }
        if let Some(printed) = printed_calls(&self.text, &self.context.tools) {
            self.text = printed.text;
            let call = |(name, arguments)| Call { id: None, name, arguments };
            self.calls = printed.calls.into_iter().map(call).collect();
        }
    }
}

impl Decoder for OllamaDecoder {
    fn step(&mut self, frame: Frame) -> Result<Vec<Delta>, WireError> {
        let data = frame.data.trim();
        match serde_json::from_str(data) {
            Ok(line) => self.take(&line),
            Err(error) if error.is_eof() => Err(WireError::Truncated),
            Err(error) => Err(WireError::Malformed(format!("{error} in `{}`", clipped(data, 80)))),
        }
    }

    fn progress(&self) -> Progress {
        if self.done.is_some() { Progress::Done } else { Progress::Open }
    }

    fn whole(&mut self, body: &Value) -> Result<Vec<Delta>, WireError> {
        self.take(body)
    }

    fn finish(&mut self) -> Result<Reply, WireError> {
        let Some(reason) = self.done.take() else { return Err(WireError::Truncated) };
        // A printed call counts only if the model could have printed more.
        if stop_reason(reason.clone(), Before::Words) == StopReason::End {
            self.find_printed_calls();
        }
        let mut items = Vec::new();
        let thinking = std::mem::take(&mut self.thinking);
        if !thinking.is_empty() {
            let private = Some(self.context.private(OLLAMA_WIRE, json!({ "field": "thinking" })));
            items.push(ReplyItem::Reasoning { text: thinking, private });
        }
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            items.push(ReplyItem::Text { text, private: None });
        }
        let (mut list, calls) = (CallList::default(), std::mem::take(&mut self.calls));
        let has_calls = !calls.is_empty();
        items.extend(calls.into_iter().filter_map(|Call { id, name, arguments }| {
            list.admit(id, name, arguments, None, &mut self.context)
        }));
        let stop = stop_reason(reason, if has_calls { Before::Calls } else { Before::Words });
        Ok(Reply { items, stop, usage: self.usage, model: self.model.take() })
    }
}

/// The counts of the last line. The prompt's count is missing if all of it was cached; then the caller, who
/// knows the prompt, must estimate it.
fn usage(line: &Value) -> Option<Usage> {
    let (input, output) = (count(line.get("prompt_eval_count")), count(line.get("eval_count")));
    if input.is_none() && output.is_none() {
        return None;
    }
    let (estimated, input) = (input.is_none(), input.unwrap_or(0));
    Some(Usage { input, output: output.unwrap_or(0), estimated, ..Usage::default() })
}

fn size(delta: &Delta) -> usize {
    match delta {
        Delta::Text(text) | Delta::Reasoning(text) | Delta::ToolArguments { text, .. } => text.len(),
        Delta::Apart | Delta::Restarted { .. } | Delta::Finished(_) => 0,
    }
}
