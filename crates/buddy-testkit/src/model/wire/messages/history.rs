//! The rules of the Messages provider for a conversation.

use std::collections::HashSet;

use serde_json::Value;

use crate::model::seal::Seal;
use crate::model::wire::messages::request::is_plain;

/// Fields of the blocks that are checked by name.
const BLOCK_FIELDS: [(&str, &[&str]); 5] = [
    ("text", &["type", "text", "cache_control", "citations"]),
    ("thinking", &["type", "thinking", "signature"]),
    ("redacted_thinking", &["type", "data"]),
    ("tool_use", &["type", "id", "name", "input", "cache_control", "caller"]),
    ("tool_result", &["type", "tool_use_id", "content", "is_error", "cache_control"]),
];

/// Checks the messages: roles alternate, each call has its result at the start of the next message, and
/// thinking is as this server signed it for this model.
pub(super) fn check(body: &Value, seal: &Seal) -> Result<(), String> {
    let model = body["model"].as_str().unwrap_or_default();
    let messages = body["messages"].as_array().ok_or("messages: Input should be a valid list")?;
    if messages.is_empty() {
        return Err("messages: at least one message is required".to_owned());
    }
    let mut used = HashSet::new();
    let mut waiting: Vec<&str> = Vec::new();
    for (position, message) in messages.iter().enumerate() {
        let expected = if position % 2 == 0 { "user" } else { "assistant" };
        if message["role"] != expected {
            return Err(format!("messages.{position}: roles must alternate, expected \"{expected}\""));
        }
        let blocks = blocks(message, position)?;
        for (place, block) in blocks.iter().enumerate() {
            check_block(block, model, seal)
                .map_err(|fault| format!("messages.{position}.content.{place}{fault}"))?;
        }
        if expected == "user" {
            check_results(blocks, &mut waiting, position)?;
        } else {
            waiting = calls(blocks, &mut used, position)?;
        }
    }
    nothing_waits(&waiting, messages.len())?;
    check_end(messages)?;
    check_open_loop(body, messages)
}

/// An answer to be continued must not end in white space.
fn check_end(messages: &[Value]) -> Result<(), String> {
    let last = messages.last().filter(|last| last["role"] == "assistant");
    let text = last.and_then(|last| last["content"].as_array()?.last()?["text"].as_str());
    match text {
        Some(text) if text.ends_with(char::is_whitespace) => {
            Err("messages: final assistant content cannot end with trailing whitespace".to_owned())
        }
        _ => Ok(()),
    }
}

/// The blocks of a message; plain text has none to check.
fn blocks(message: &Value, position: usize) -> Result<&[Value], String> {
    match &message["content"] {
        Value::String(text) if !text.trim().is_empty() => Ok(&[]),
        Value::Array(blocks) if !blocks.is_empty() => Ok(blocks),
        _ => Err(format!("messages.{position}: all messages must have non-empty content")),
    }
}

fn check_block(block: &Value, model: &str, seal: &Seal) -> Result<(), String> {
    let kind = block["type"].as_str().unwrap_or_default();
    let Some((_, usual)) = BLOCK_FIELDS.iter().find(|(known, _)| *known == kind) else { return Ok(()) };
    let fields = block.as_object().ok_or(": Input should be an object")?;
    if let Some(field) = fields.keys().find(|field| !usual.contains(&field.as_str())) {
        return Err(format!(".{kind}.{field}: Extra inputs are not permitted"));
    }
    let text = |field: &str| block[field].as_str().unwrap_or_default();
    match kind {
        "text" if text("text").trim().is_empty() => {
            Err(": text content blocks must contain non-whitespace text".to_owned())
        }
        "thinking" if seal.sign(model, text("thinking")) != text("signature") => {
            Err(": Invalid `signature` in `thinking` block".to_owned())
        }
        "redacted_thinking" if seal.open(model, text("data")).is_none() => {
            Err(": Invalid `data` in `redacted_thinking` block: invalid signature".to_owned())
        }
        "tool_use" if !is_plain(text("id"), usize::MAX) => {
            Err(".tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'".to_owned())
        }
        "tool_use" if !is_plain(text("name"), 200) => {
            Err(".tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,200}$'".to_owned())
        }
        "tool_use" if !block["input"].is_object() => {
            Err(".tool_use.input: Input should be a valid dictionary".to_owned())
        }
        _ => Ok(()),
    }
}

fn calls<'a>(
    blocks: &'a [Value],
    used: &mut HashSet<&'a str>,
    position: usize,
) -> Result<Vec<&'a str>, String> {
    let mut calls = Vec::new();
    for block in blocks {
        match block["type"].as_str() {
            Some("tool_result") => {
                return Err(format!(
                    "messages.{position}: `tool_result` blocks can only be in `user` messages"
                ));
            }
            Some("tool_use") => {
                let id = block["id"].as_str().unwrap_or_default();
                if !used.insert(id) {
                    return Err(format!("messages.{position}: `tool_use` ids must be unique"));
                }
                calls.push(id);
            }
            _ => {}
        }
    }
    Ok(calls)
}

fn check_results(blocks: &[Value], waiting: &mut Vec<&str>, position: usize) -> Result<(), String> {
    let is_result = |block: &&Value| block["type"] == "tool_result";
    if blocks.iter().skip_while(is_result).any(|block| is_result(&block)) {
        return Err(format!(
            "messages.{position}: `tool_result` blocks must come first in the content of their message"
        ));
    }
    for block in blocks.iter().filter(is_result) {
        let id = block["tool_use_id"].as_str().unwrap_or_default();
        let Some(found) = waiting.iter().position(|waits| *waits == id) else {
            return Err(format!(
                "messages.{position}.content: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each \
                 `tool_result` block must have a corresponding `tool_use` block in the previous message."
            ));
        };
        waiting.remove(found);
    }
    nothing_waits(waiting, position)
}

fn nothing_waits(waiting: &[&str], position: usize) -> Result<(), String> {
    if waiting.is_empty() {
        return Ok(());
    }
    Err(format!(
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` \
         block must have a corresponding `tool_result` block in the next message.",
        position.saturating_sub(1),
        waiting.join(", ")
    ))
}

/// With a thinking budget, a tool loop that continues must begin with the thinking that began it.
fn check_open_loop(body: &Value, messages: &[Value]) -> Result<(), String> {
    if body["thinking"]["type"] != "enabled" {
        return Ok(());
    }
    let mut first = None;
    for pair in messages.rchunks(2) {
        match pair {
            [answer, results] if results["content"][0]["type"] == "tool_result" => first = Some(answer),
            _ => break,
        }
    }
    let kind = first.map(|answer| answer["content"][0]["type"].as_str().unwrap_or_default());
    match kind {
        None | Some("thinking" | "redacted_thinking") => Ok(()),
        Some(kind) => Err(format!(
            "Expected `thinking` or `redacted_thinking`, but found `{kind}`. When `thinking` is enabled, a final \
             `assistant` message must start with a thinking block."
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_messages(messages: &Value) -> Result<(), String> {
        check(&json!({ "model": "m", "messages": messages }), &Seal::default())
    }

    fn call(id: &str) -> Value {
        json!({"type": "tool_use", "id": id, "name": "f", "input": {}})
    }

    fn result(id: &str) -> Value {
        json!({"type": "tool_result", "tool_use_id": id, "content": "x"})
    }

    #[test]
    fn good_conversations_pass() {
        let signature = Seal::default().sign("m", "hm");
        let thought = json!({"type": "thinking", "thinking": "hm", "signature": signature});
        let more = json!({"type": "text", "text": "and this"});
        let messages = json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [thought, call("a"), call("b")]},
            {"role": "user", "content": [result("b"), result("a"), more]},
        ]);
        assert_eq!(check_messages(&messages), Ok(()));
    }

    #[test]
    fn each_fault_is_named() {
        let fault = |blocks: Value, answer: Value| {
            let go = json!({"role": "user", "content": "go"});
            let messages =
                json!([go, {"role": "assistant", "content": blocks}, {"role": "user", "content": answer}]);
            check_messages(&messages).unwrap_err()
        };
        assert!(fault(json!([call("a")]), json!("well?")).contains("without `tool_result` blocks"));
        assert!(fault(json!("hi"), json!([result("a")])).contains("unexpected `tool_use_id`"));
        let late = json!([{"type": "text", "text": "first"}, result("a")]);
        assert!(fault(json!([call("a")]), late).contains("must come first"));
        assert!(fault(json!([call("a.b")]), json!([result("a.b")])).contains("should match pattern"));
        let forged = json!([{"type": "thinking", "thinking": "hm", "signature": "x"}]);
        assert!(fault(forged, json!("?")).contains("Invalid `signature`"));
        assert!(fault(json!([{"type": "text", "text": " "}]), json!("?")).contains("non-whitespace"));
        assert!(fault(json!([{"type": "text", "text": "a", "b": 1}]), json!("?")).contains("Extra inputs"));
        let alone = json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]);
        assert!(check_messages(&alone).unwrap_err().contains("roles must alternate"));
    }
}
