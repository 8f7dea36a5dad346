//! Fields that several wires write and read in the same way.

use buddy_protocol::ToolDefinition;
use serde_json::{Map, Value, json};

use crate::Options;
use crate::prompt::Prompt;

/// The fields that offer tools or ask for calls, on any wire.
const TOOL_FIELDS: [&str; 5] = ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"];
/// The fields that bound an answer, on any wire but Ollama's, which has its bound among its options.
const BOUND_FIELDS: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

/// The text of a field; `None` if it is missing, null or empty.
pub(super) fn text_of(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A tool as a function in a nested object, as on the wires of Chat Completions and Ollama.
pub(super) fn nested_tool(tool: &ToolDefinition) -> Value {
    json!({
        "type": "function",
        "function": { "name": tool.name, "description": tool.description, "parameters": tool.parameters },
    })
}

/// Adds the profile's own fields, which override the wire's, but not what buddy sets for one call: a call that must end in text
/// neither offers tools nor asks for calls, and an answer with a bound keeps it.
pub(super) fn add_extra(body: &mut Map<String, Value>, prompt: &Prompt, options: &Options) {
    let is_set = |name: &str| {
        (prompt.is_text_only && TOOL_FIELDS.contains(&name))
            || (prompt.max_output_tokens.is_some() && BOUND_FIELDS.contains(&name))
    };
    let extra = options.extra.iter().filter(|(name, _)| !is_set(name));
    body.extend(extra.map(|(name, value)| (name.clone(), value.clone())));
}
