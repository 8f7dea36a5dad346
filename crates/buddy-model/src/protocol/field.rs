//! Fields that several wires write and read in the same way.

use serde_json::{Value, json};

use crate::prompt::ToolDefinition;

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
