//! Builds a Messages body from a prompt.
//!
//! The same prompt always gives the same bytes, and a longer list of items only adds at the end. The
//! exception are the breakpoints of the prompt cache, which move along and are not part of the cached text.

use buddy_protocol::ToolDefinition;
use serde_json::{Map, Value, json};

use crate::Options;
use crate::prompt::Prompt;
use crate::protocol::field::add_extra;
use crate::protocol::history::unpaired;
use crate::protocol::messages::conversation::{Conversation, Replay};
use crate::protocol::messages::{cache, thinking};

/// Fields that a request can omit.
pub(super) const OPTIONAL_FIELDS: [&str; 5] =
    [cache::FIELD, "thinking", "output_config", "temperature", "tool_choice"];

pub(super) fn render(model: &str, prompt: &Prompt, options: &Options) -> Value {
    debug_assert!(unpaired(&prompt.items).is_none(), "no result for call {:?}", unpaired(&prompt.items));
    let replay = Replay { provider: &options.provider, model };
    let conversation = Conversation::of(&prompt.items, replay);
    let max_tokens = prompt.max_output_tokens.unwrap_or(options.default_max_output_tokens);
    let thinking = thinking::wished(options, max_tokens).filter(|wish| conversation.allows(wish));
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(model));
    body.insert("max_tokens".to_owned(), json!(max_tokens));
    body.insert("stream".to_owned(), json!(options.stream));
    match (&thinking, prompt.temperature) {
        // With thinking, the provider accepts only its own temperature.
        (Some(wish), _) => wish.write(&mut body),
        (None, Some(temperature)) => _ = body.insert("temperature".to_owned(), json!(temperature)),
        (None, None) => {}
    }
    if !prompt.tools.is_empty() {
        body.insert("tools".to_owned(), prompt.tools.iter().map(tool).collect());
        if prompt.is_text_only {
            body.insert("tool_choice".to_owned(), json!({ "type": "none" }));
        } else if let Some(parallel) = options.parallel_tool_calls {
            let choice = json!({ "type": "auto", "disable_parallel_tool_use": !parallel });
            body.insert("tool_choice".to_owned(), choice);
        }
    }
    if !prompt.system.trim().is_empty() {
        body.insert("system".to_owned(), json!([{ "type": "text", "text": prompt.system }]));
    }
    body.insert("messages".to_owned(), Value::Array(conversation.messages));
    add_extra(&mut body, prompt, options);
    let mut body = Value::Object(body);
    cache::mark(&mut body, options.prompt_cache);
    body
}

/// Removes refused fields; removes breakpoints wherever they are.
pub(super) fn amend(body: &mut Value, refused: &[String]) {
    if refused.iter().any(|field| field == cache::FIELD) {
        cache::unmark(body);
    }
    if let Some(fields) = body.as_object_mut() {
        fields.retain(|name, _| !refused.contains(name));
    }
}

fn tool(tool: &ToolDefinition) -> Value {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.parameters })
}
