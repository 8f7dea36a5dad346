//! The rules of the strictest provider for a Responses input.

use std::collections::HashSet;

use serde_json::Value;

use crate::model::seal::Seal;
use crate::model::wire::plain_name::is_plain_name;
use crate::model::wire::server_side::Complaint;

/// The maximum length of a call id.
const MAX_ID_CHARS: usize = 64;

/// The items of a request.
pub(super) fn input(body: &Value) -> &[Value] {
    body.get("input").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether an item is part of the model's answer.
pub(super) fn is_answer(item: &Value) -> bool {
    match kind(item) {
        "message" => text(item, "role") == "assistant",
        "function_call_output" => false,
        _ => true,
    }
}

/// Whether the request asks for encrypted reasoning.
pub(super) fn is_sealed(body: &Value) -> bool {
    let include = body.get("include").and_then(Value::as_array);
    include.is_some_and(|include| include.iter().any(|name| name == "reasoning.encrypted_content"))
}

/// Checks tools and input of a request: each call has exactly one output before the model continues, no
/// output lacks its call, and no id is used twice. Reasoning was sealed here for this model and precedes the
/// item it led to.
pub(super) fn check(body: &Value, seal: &Seal) -> Result<(), Complaint> {
    check_tools(body)?;
    if body.get("input").is_some_and(Value::is_string) {
        return Ok(());
    }
    if !body.get("input").is_some_and(Value::is_array) {
        return Err("Missing required parameter: 'input'".to_owned().into());
    }
    let mut history = History { body, seal, waiting: Vec::new(), answering: false, used: HashSet::new() };
    let items = input(body);
    for (position, item) in items.iter().enumerate() {
        let place = format!("input[{position}]");
        history.take(item, &place)?;
        if kind(item) == "reasoning" {
            follows(item, items.get(position + 1..).unwrap_or_default())?;
        }
    }
    history.nothing_waits()
}

fn check_tools(body: &Value) -> Result<(), Complaint> {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    for (position, tool) in tools.enumerate() {
        if kind(tool) == "function" && !is_plain_name(text(tool, "name")) {
            return Err(format!("Missing required parameter: 'tools[{position}].name'.").into());
        }
    }
    Ok(())
}

struct History<'a> {
    body: &'a Value,
    seal: &'a Seal,
    /// Calls without an output so far.
    waiting: Vec<&'a str>,
    /// Whether outputs have begun, so that the model's turn is over.
    answering: bool,
    /// Ids of items and of calls.
    used: HashSet<(&'static str, &'a str)>,
}

impl<'a> History<'a> {
    fn take(&mut self, item: &'a Value, place: &str) -> Result<(), Complaint> {
        let id = text(item, "id");
        if !id.is_empty() && !self.used.insert(("item", id)) {
            let advice = "Remove duplicate items from your input and try again.";
            return Err(format!("Duplicate item found with id {id}. {advice}").into());
        }
        if kind(item) != "function_call_output" && (!is_answer(item) || self.answering) {
            self.nothing_waits()?;
        }
        self.answering = kind(item) == "function_call_output";
        match kind(item) {
            "message" => check_message(item, place),
            "reasoning" => self.check_reasoning(item, place),
            "function_call" => self.open(item, place),
            "function_call_output" => self.answer(item, place),
            // Calls of the provider's own tools.
            other if other.ends_with("_call") => Ok(()),
            other => Err(format!("Invalid value: '{other}' for '{place}.type'").into()),
        }
    }

    fn open(&mut self, item: &'a Value, place: &str) -> Result<(), Complaint> {
        require_prefix(item, place, "fc")?;
        let call_id = text(item, "call_id");
        if call_id.is_empty() || call_id.len() > MAX_ID_CHARS {
            return Err(format!("Invalid '{place}.call_id': '{call_id}'").into());
        }
        if !self.used.insert(("call", call_id)) {
            return Err(format!("Duplicate value for '{place}.call_id': '{call_id}'").into());
        }
        if !is_plain_name(text(item, "name")) {
            return Err(format!("Invalid '{place}.name': '{}'", text(item, "name")).into());
        }
        let arguments = text(item, "arguments");
        if !matches!(serde_json::from_str::<Value>(arguments), Ok(Value::Object(_))) {
            return Err(format!("Invalid '{place}.arguments': not a JSON object: {arguments}").into());
        }
        self.waiting.push(call_id);
        Ok(())
    }

    fn answer(&mut self, item: &Value, place: &str) -> Result<(), Complaint> {
        let call_id = text(item, "call_id");
        if !item.get("output").is_some_and(|output| output.is_string() || output.is_array()) {
            return Err(format!("Missing required parameter: '{place}.output'.").into());
        }
        let Some(found) = self.waiting.iter().position(|waits| *waits == call_id) else {
            return Err(format!("No tool call found for function call output with call_id {call_id}.").into());
        };
        self.waiting.remove(found);
        Ok(())
    }

    fn nothing_waits(&self) -> Result<(), Complaint> {
        match self.waiting.first() {
            None => Ok(()),
            Some(id) => Err(format!("No tool output found for function call {id}.").into()),
        }
    }

    fn check_reasoning(&self, item: &Value, place: &str) -> Result<(), Complaint> {
        require_prefix(item, place, "rs")?;
        if !item.get("summary").is_some_and(Value::is_array) {
            return Err(format!("Missing required parameter: '{place}.summary'.").into());
        }
        let Some(blob) = item.get("encrypted_content").and_then(Value::as_str) else {
            return self.check_open_reasoning(item);
        };
        if !is_sealed(self.body) {
            return Err("Encrypted content is not supported.".to_owned().into());
        }
        if item.get("content").is_some() {
            return Err(format!("Unknown parameter: '{place}.content'.").into());
        }
        if self.seal.open(text(self.body, "model"), blob).is_none() {
            let start: String = blob.chars().take(8).collect();
            return Err(Complaint {
                code: Some("invalid_encrypted_content"),
                message: format!(
                    "The encrypted content {start}... could not be verified. Reason: Encrypted content could not \
                     be decrypted or parsed."
                ),
                param: None,
            });
        }
        Ok(())
    }

    /// Reasoning without a seal is a reference to something stored, unless it is plain.
    fn check_open_reasoning(&self, item: &Value) -> Result<(), Complaint> {
        if !is_sealed(self.body) && item.get("content").is_some_and(Value::is_array) {
            return Ok(());
        }
        let id = text(item, "id");
        Err(format!(
            "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with \
             `store` set to true, or remove this item from your input."
        )
        .into())
    }
}

/// Reasoning comes right before the item it led to.
fn follows(item: &Value, rest: &[Value]) -> Result<(), Complaint> {
    let next = rest.iter().find(|item| kind(item) != "reasoning");
    if next.is_some_and(is_answer) {
        return Ok(());
    }
    let id = text(item, "id");
    Err(format!("Item '{id}' of type 'reasoning' was provided without its required following item.").into())
}

fn check_message(item: &Value, place: &str) -> Result<(), Complaint> {
    let allowed: &[&str] = match text(item, "role") {
        "assistant" => {
            require_prefix(item, place, "msg")?;
            &["output_text", "refusal"]
        }
        "user" | "system" | "developer" => &["input_text", "input_image", "input_file"],
        other => return Err(format!("Invalid value: '{other}' for '{place}.role'").into()),
    };
    let parts = match item.get("content") {
        Some(Value::String(_)) => return Ok(()),
        Some(Value::Array(parts)) => parts,
        _ => return Err(format!("Missing required parameter: '{place}.content'.").into()),
    };
    match parts.iter().map(kind).find(|part| !allowed.contains(part)) {
        None => Ok(()),
        Some(part) => {
            let supported = allowed.join("' and '");
            Err(format!("Invalid value: '{part}'. Supported values are: '{supported}'.").into())
        }
    }
}

/// Ids of items show their type.
fn require_prefix(item: &Value, place: &str, prefix: &str) -> Result<(), Complaint> {
    let id = text(item, "id");
    if id.is_empty() || (id.starts_with(prefix) && id.len() <= MAX_ID_CHARS) {
        return Ok(());
    }
    Err(format!("Invalid '{place}.id': '{id}'. Expected an ID that begins with '{prefix}'.").into())
}

/// The type of an item; a message may leave it out.
fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or("message")
}

fn text<'a>(item: &'a Value, name: &str) -> &'a str {
    item.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
