//! Builds a Responses body from a prompt.
//!
//! The same prompt always gives the same bytes, and a longer list of items only adds input items at the end.

use buddy_protocol::{Image, ToolDefinition};
use serde_json::{Map, Value, json};

use crate::prompt::{Prompt, PromptItem};
use crate::protocol::field::add_extra;
use crate::protocol::history::{results_images, unpaired};
use crate::protocol::responses::items::Replay;
use crate::{Options, ReasoningForm};

/// Fields that a request can omit.
pub(super) const OPTIONAL_FIELDS: [&str; 9] = [
    "include",
    "parallel_tool_calls",
    "max_output_tokens",
    "temperature",
    "prompt_cache_key",
    "reasoning.summary",
    "reasoning.effort",
    "reasoning",
    "store",
];

pub(super) fn render(model: &str, prompt: &Prompt, options: &Options) -> Value {
    debug_assert!(unpaired(&prompt.items).is_none(), "no result for call {:?}", unpaired(&prompt.items));
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("stream".to_owned(), json!(options.stream || options.login_backed));
    body.insert("store".to_owned(), json!(false));
    if options.reasoning_form == ReasoningForm::Sealed {
        body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    // A subscription's backend refuses a request without the field.
    if !prompt.system.is_empty() || options.login_backed {
        body.insert("instructions".to_owned(), json!(prompt.system));
    }
    if !prompt.tools.is_empty() {
        body.insert("tools".to_owned(), prompt.tools.iter().map(tool).collect());
        if prompt.is_text_only {
            body.insert("tool_choice".to_owned(), json!("none"));
        } else if let Some(parallel) = options.parallel_tool_calls {
            body.insert("parallel_tool_calls".to_owned(), json!(parallel));
        }
    }
    if !options.login_backed {
        let limit = prompt.max_output_tokens.map(|limit| json!(limit));
        body.extend(limit.map(|limit| ("max_output_tokens".to_owned(), limit)));
        let temperature = prompt.temperature.map(|temperature| json!(temperature));
        body.extend(temperature.map(|temperature| ("temperature".to_owned(), temperature)));
    }
    if let Some(key) = prompt.cache_key.as_ref().filter(|_| options.send_cache_key) {
        body.insert("prompt_cache_key".to_owned(), json!(key));
    }
    body.extend(reasoning(options).map(|reasoning| ("reasoning".to_owned(), reasoning)));
    body.insert("input".to_owned(), Value::Array(input(model, prompt, options)));
    add_extra(&mut body, prompt, options);
    Value::Object(body)
}

fn reasoning(options: &Options) -> Option<Value> {
    let mut reasoning = Map::new();
    for (name, wish) in [("effort", &options.reasoning_effort), ("summary", &options.reasoning_summary)] {
        reasoning.extend(wish.as_ref().map(|wish| (name.to_owned(), json!(wish))));
    }
    (!reasoning.is_empty()).then_some(Value::Object(reasoning))
}

fn tool(tool: &ToolDefinition) -> Value {
    // Here `strict` defaults to true, and then optional parameters are an error.
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": false,
    })
}

fn input(model: &str, prompt: &Prompt, options: &Options) -> Vec<Value> {
    let replay = Replay { model, options };
    let mut input = Vec::with_capacity(prompt.items.len());
    // Reasoning goes back only with the item it led to: alone, or before something else, it is refused.
    let mut thoughts = Vec::new();
    for (place, item) in prompt.items.iter().enumerate() {
        let leads_here = match item {
            PromptItem::Reasoning { private, .. } => !replay.is_thought(private.as_ref()),
            PromptItem::Assistant { private, .. } | PromptItem::ToolCall { private, .. } => {
                replay.own(private.as_ref()).is_some()
            }
            PromptItem::User { .. } | PromptItem::ToolResult { .. } => false,
        };
        match item {
            PromptItem::Reasoning { text, private } if !leads_here => {
                thoughts.extend(replay.thought(text, private.as_ref()));
                continue;
            }
            _ if leads_here => input.append(&mut thoughts),
            _ => thoughts.clear(),
        }
        input.extend(match item {
            PromptItem::User { text, images } => Some(user(text, images)),
            PromptItem::Assistant { text, private } => replay.message(text, private.as_ref()),
            PromptItem::Reasoning { private, .. } => replay.verbatim(private.as_ref()),
            PromptItem::ToolCall { id, name, arguments, private } => {
                Some(replay.call(id, name, arguments, private.as_ref()))
            }
            PromptItem::ToolResult { id, output, .. } => Some(Replay::result(id, output)),
        });
        let shown = results_images(&prompt.items, place);
        input.extend(shown.map(|(words, images)| user(&words, &images)));
    }
    input
}

fn user(text: &str, images: &[Image]) -> Value {
    let shown = images.iter().map(|image| json!({ "type": "input_image", "image_url": image.data_url() }));
    let words =
        (!text.is_empty() || images.is_empty()).then(|| json!({ "type": "input_text", "text": text }));
    json!({ "type": "message", "role": "user", "content": shown.chain(words).collect::<Vec<_>>() })
}
