//! Builds a Chat Completions body from a prompt.
//!
//! The same prompt always gives the same bytes, and a longer list of items only adds messages at the end.

use buddy_protocol::Image;
use serde_json::{Map, Value, json};

use crate::Private;
use crate::prompt::{Prompt, PromptItem};
use crate::protocol::chat::{extras, reasoning};
use crate::protocol::field::{add_extra, nested_tool};
use crate::protocol::history::{results_images, safe_arguments, safe_name, unpaired};
use crate::protocol::wire_name::CHAT_WIRE;
use crate::{MaxTokensField, Options};

const MAX_TOKENS: &str = "max_tokens";
const MAX_COMPLETION_TOKENS: &str = "max_completion_tokens";

/// Fields that a request can omit.
pub(super) const OPTIONAL_FIELDS: [&str; 7] = [
    "stream_options",
    "parallel_tool_calls",
    MAX_COMPLETION_TOKENS,
    MAX_TOKENS,
    "temperature",
    "prompt_cache_key",
    "reasoning_effort",
];

pub(super) fn render(model: &str, prompt: &Prompt, options: &Options) -> Value {
    debug_assert!(unpaired(&prompt.items).is_none(), "no result for call {:?}", unpaired(&prompt.items));
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("stream".to_owned(), json!(options.stream));
    if options.stream && options.include_usage {
        body.insert("stream_options".to_owned(), json!({ "include_usage": true }));
    }
    if !prompt.tools.is_empty() {
        body.insert("tools".to_owned(), prompt.tools.iter().map(nested_tool).collect());
        if prompt.is_text_only {
            body.insert("tool_choice".to_owned(), json!("none"));
        } else if let Some(parallel) = options.parallel_tool_calls {
            body.insert("parallel_tool_calls".to_owned(), json!(parallel));
        }
    }
    if let Some(limit) = prompt.max_output_tokens {
        body.insert(max_tokens_name(options.max_tokens_field).to_owned(), json!(limit));
    }
    if let Some(temperature) = prompt.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(key) = prompt.cache_key.as_ref().filter(|_| options.send_cache_key) {
        body.insert("prompt_cache_key".to_owned(), json!(key));
    }
    if let Some(effort) = &options.reasoning_effort {
        body.insert("reasoning_effort".to_owned(), json!(effort));
    }
    body.insert("messages".to_owned(), Value::Array(messages(model, prompt, options)));
    add_extra(&mut body, prompt, options);
    Value::Object(body)
}

/// Removes refused fields; the bound on the answer is tried under its other name first.
pub(super) fn amend(body: &mut Value, refused: &[String]) {
    let Some(fields) = body.as_object_mut() else { return };
    let is_refused = |name: &str| refused.iter().any(|field| field == name);
    for (name, other) in [(MAX_TOKENS, MAX_COMPLETION_TOKENS), (MAX_COMPLETION_TOKENS, MAX_TOKENS)] {
        if is_refused(name)
            && !is_refused(other)
            && let Some(limit) = fields.shift_remove(name)
        {
            fields.insert(other.to_owned(), limit);
        }
    }
    fields.retain(|name, _| !is_refused(name));
}

fn max_tokens_name(field: MaxTokensField) -> &'static str {
    match field {
        MaxTokensField::MaxTokens => MAX_TOKENS,
        MaxTokensField::MaxCompletionTokens => MAX_COMPLETION_TOKENS,
    }
}

fn messages(model: &str, prompt: &Prompt, options: &Options) -> Vec<Value> {
    let mut messages = Vec::with_capacity(prompt.items.len() + 1);
    if !prompt.system.is_empty() {
        messages.push(json!({ "role": "system", "content": prompt.system }));
    }
    let mut answer = ChatAnswer::default();
    for (place, item) in prompt.items.iter().enumerate() {
        match item {
            PromptItem::User { text, images } => {
                answer.flush(&mut messages, options);
                messages.push(user(text, images));
            }
            PromptItem::ToolResult { id, output, .. } => {
                answer.flush(&mut messages, options);
                messages.push(json!({ "role": "tool", "tool_call_id": id, "content": output }));
                let shown = results_images(&prompt.items, place);
                messages.extend(shown.map(|(words, images)| user(&words, &images)));
            }
            PromptItem::Assistant { text, private } => {
                answer.say(text, own(private.as_ref(), model, options));
            }
            PromptItem::Reasoning { text, private } => {
                let own = own(private.as_ref(), model, options);
                answer.reasoning.extend(own.map(|own| (text.as_str(), own)));
            }
            PromptItem::ToolCall { id, name, arguments, private } => {
                answer.call(id, name, arguments, own(private.as_ref(), model, options));
            }
        }
    }
    answer.flush(&mut messages, options);
    messages
}

fn user(text: &str, images: &[Image]) -> Value {
    if images.is_empty() {
        return json!({ "role": "user", "content": text });
    }
    let shown =
        images.iter().map(|image| json!({ "type": "image_url", "image_url": { "url": image.data_url() } }));
    let words = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
    json!({ "role": "user", "content": shown.chain(words).collect::<Vec<_>>() })
}

/// Private data that may go back to this model.
fn own<'a>(private: Option<&'a Private>, model: &str, options: &Options) -> Option<&'a Private> {
    private.filter(|own| own.belongs_to(&options.provider, model, CHAT_WIRE))
}

/// Adjacent items of the model, which this wire needs as one message.
#[derive(Default)]
struct ChatAnswer<'a> {
    text: String,
    reasoning: Vec<(&'a str, &'a Private)>,
    calls: Vec<Value>,
    /// Fields of the message that are specific to this provider.
    extras: Map<String, Value>,
}

impl ChatAnswer<'_> {
    fn say(&mut self, text: &str, own: Option<&Private>) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
        extras::of_message(own, &mut self.extras);
    }

    fn call(&mut self, id: &str, name: &str, arguments: &str, own: Option<&Private>) {
        let mut call = Map::new();
        call.insert("id".to_owned(), json!(id));
        call.insert("type".to_owned(), json!("function"));
        let function = json!({ "name": safe_name(name), "arguments": safe_arguments(arguments) });
        call.insert("function".to_owned(), function);
        extras::of_call(own, &mut call);
        extras::of_message(own, &mut self.extras);
        self.calls.push(Value::Object(call));
    }

    /// Writes the message, unless it is empty and a server would refuse it.
    fn flush(&mut self, messages: &mut Vec<Value>, options: &Options) {
        let Self { text, reasoning, calls, extras } = std::mem::take(self);
        if text.is_empty() && calls.is_empty() {
            return;
        }
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        let content = if text.is_empty() { Value::Null } else { Value::String(text) };
        message.insert("content".to_owned(), content);
        if options.reasoning_replay.takes(!calls.is_empty()) {
            reasoning::replay(&reasoning, &mut message);
        }
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        for (name, value) in extras {
            message.entry(name).or_insert(value);
        }
        messages.push(Value::Object(message));
    }
}
