//! Builds an Ollama chat body from a prompt.
//!
//! The same prompt always gives the same bytes, and a longer list of items only adds messages at the end.

use buddy_protocol::Image;
use serde_json::{Map, Value, json};

use crate::Options;
use crate::prompt::{Prompt, PromptItem};
use crate::protocol::field::{add_extra, nested_tool};
use crate::protocol::history::{results_images, safe_arguments, safe_name, unpaired};
use crate::protocol::wire_name::OLLAMA_WIRE;

/// The option that bounds an answer.
const BOUND: &str = "num_predict";

pub(super) fn render(model: &str, prompt: &Prompt, options: &Options) -> Value {
    debug_assert!(unpaired(&prompt.items).is_none(), "no result for call {:?}", unpaired(&prompt.items));
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("stream".to_owned(), json!(options.stream));
    if let Some(think) = think(options) {
        body.insert("think".to_owned(), think);
    }
    if let Some(time) = &options.keep_alive {
        body.insert("keep_alive".to_owned(), json!(time));
    }
    let runtime = runtime(prompt, options);
    if !runtime.is_empty() {
        body.insert("options".to_owned(), Value::Object(runtime));
    }
    // This wire has no field that forbids calls.
    if !prompt.tools.is_empty() && !prompt.is_text_only {
        body.insert("tools".to_owned(), prompt.tools.iter().map(nested_tool).collect());
    }
    body.insert("messages".to_owned(), Value::Array(messages(model, prompt, options)));
    add_extra(&mut body, prompt, options);
    // A profile with options of its own replaces them all; the bound of this call stays.
    if let (Some(limit), Some(runtime)) =
        (prompt.max_output_tokens, body.get_mut("options").and_then(Value::as_object_mut))
    {
        runtime.insert(BOUND.to_owned(), json!(limit));
    }
    Value::Object(body)
}

/// Whether and how hard to think; this wire has no token budget, so a budget only means yes.
fn think(options: &Options) -> Option<Value> {
    match options.reasoning_effort.as_deref() {
        Some("none" | "off") => Some(json!(false)),
        Some(effort @ ("low" | "medium" | "high")) => Some(json!(effort)),
        Some(_) => Some(json!(true)),
        None => options.thinking_budget.map(|budget| json!(budget > 0)),
    }
}

/// The options that the model is loaded and run with.
fn runtime(prompt: &Prompt, options: &Options) -> Map<String, Value> {
    let values = [
        ("num_ctx", options.context_window.map(Value::from)),
        (BOUND, prompt.max_output_tokens.map(Value::from)),
        ("temperature", prompt.temperature.map(Value::from)),
    ];
    values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn messages(model: &str, prompt: &Prompt, options: &Options) -> Vec<Value> {
    let mut messages = Vec::with_capacity(prompt.items.len() + 1);
    if !prompt.system.is_empty() {
        messages.push(json!({ "role": "system", "content": prompt.system }));
    }
    let mut answer = OllamaAnswer::default();
    for (place, item) in prompt.items.iter().enumerate() {
        match item {
            PromptItem::User { text, images } => {
                answer.flush(&mut messages, options);
                messages.push(user(text, images));
            }
            PromptItem::ToolResult { name, output, .. } => {
                answer.flush(&mut messages, options);
                let name = safe_name(name);
                messages.push(json!({ "role": "tool", "tool_name": name, "content": output }));
                let shown = results_images(&prompt.items, place);
                messages.extend(shown.map(|(words, images)| user(&words, &images)));
            }
            PromptItem::Assistant { text, .. } => add(&mut answer.text, text),
            PromptItem::Reasoning { text, private } => {
                if private.as_ref().is_some_and(|own| own.belongs_to(&options.provider, model, OLLAMA_WIRE)) {
                    add(&mut answer.thinking, text);
                }
            }
            PromptItem::ToolCall { name, arguments, .. } => answer.call(name, arguments),
        }
    }
    answer.flush(&mut messages, options);
    messages
}

fn user(text: &str, images: &[Image]) -> Value {
    let mut message = json!({ "role": "user", "content": text });
    if !images.is_empty() {
        message["images"] = images.iter().map(|image| image.data.text()).collect();
    }
    message
}

/// Adjacent items of the model, which this wire needs as one message.
#[derive(Default)]
struct OllamaAnswer {
    text: String,
    thinking: String,
    calls: Vec<Value>,
}

impl OllamaAnswer {
    fn call(&mut self, name: &str, arguments: &str) {
        let arguments: Value = serde_json::from_str(safe_arguments(arguments)).unwrap_or_else(|_| json!({}));
        self.calls.push(json!({ "function": { "name": safe_name(name), "arguments": arguments } }));
    }

    fn flush(&mut self, messages: &mut Vec<Value>, options: &Options) {
        let Self { text, thinking, calls } = std::mem::take(self);
        if text.is_empty() && calls.is_empty() {
            return;
        }
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        message.insert("content".to_owned(), json!(text));
        if options.reasoning_replay.takes(!calls.is_empty()) && !thinking.is_empty() {
            message.insert("thinking".to_owned(), json!(thinking));
        }
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        messages.push(Value::Object(message));
    }
}

fn add(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}
