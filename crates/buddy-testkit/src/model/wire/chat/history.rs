//! The rules of the strictest provider for a chat history.

use std::collections::HashSet;

use serde_json::Value;

use crate::model::wire::plain_name::is_plain_name;

/// Checks the messages of a chat request: each call has exactly one result before any other message, no
/// result lacks its call, no id is used twice, arguments are JSON objects, names are plain.
pub fn check_history(body: &Value) -> Result<(), String> {
    let Some(messages) = body.get("messages").and_then(Value::as_array) else {
        return Err("'messages' is a required property".to_owned());
    };
    let mut waiting: Vec<&str> = Vec::new();
    let mut used = HashSet::new();
    for (position, message) in messages.iter().enumerate() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        if role == "tool" {
            answer(&mut waiting, message, position)?;
            continue;
        }
        nothing_waits(&waiting)?;
        match role {
            "assistant" => waiting = calls(message, position, &mut used)?,
            "system" | "developer" | "user" => require_content(message, position)?,
            other => return Err(format!("Invalid value: '{other}' for messages[{position}].role")),
        }
    }
    nothing_waits(&waiting)
}

fn nothing_waits(waiting: &[&str]) -> Result<(), String> {
    if waiting.is_empty() {
        return Ok(());
    }
    Err(format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
         'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        waiting.join(", ")
    ))
}

fn answer(waiting: &mut Vec<&str>, message: &Value, position: usize) -> Result<(), String> {
    require_content(message, position)?;
    let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
    let Some(found) = waiting.iter().position(|waits| *waits == id) else {
        return Err(format!(
            "Invalid parameter: messages[{position}] with role 'tool' must be a response to a preceding message \
             with 'tool_calls' (tool_call_id '{id}')"
        ));
    };
    waiting.remove(found);
    Ok(())
}

fn calls<'a>(
    message: &'a Value,
    position: usize,
    used: &mut HashSet<&'a str>,
) -> Result<Vec<&'a str>, String> {
    let Some(calls) = message.get("tool_calls") else {
        require_content(message, position)?;
        return Ok(Vec::new());
    };
    let calls = calls.as_array().filter(|calls| !calls.is_empty());
    let calls = calls.ok_or_else(|| format!("Invalid 'messages[{position}].tool_calls': empty array"))?;
    calls.iter().map(|call| check_call(call, position, used)).collect()
}

fn check_call<'a>(call: &'a Value, position: usize, used: &mut HashSet<&'a str>) -> Result<&'a str, String> {
    let place = format!("messages[{position}].tool_calls");
    let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| format!("Missing required parameter: '{place}.id'"))?;
    if !used.insert(id) {
        return Err(format!("Duplicate value for 'tool_call_id' of '{id}' in {place}"));
    }
    let function = call.get("function").unwrap_or(&Value::Null);
    let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
    if !is_plain_name(name) {
        return Err(format!(
            "Invalid '{place}.function.name': '{name}' does not match '^[a-zA-Z0-9_-]{{1,64}}$'"
        ));
    }
    let arguments = function.get("arguments").and_then(Value::as_str).unwrap_or_default();
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => Ok(id),
        _ => Err(format!("Invalid '{place}.function.arguments': not a JSON object: {arguments}")),
    }
}

fn require_content(message: &Value, position: usize) -> Result<(), String> {
    match message.get("content") {
        Some(Value::String(_) | Value::Array(_)) => Ok(()),
        _ => Err(format!("Invalid value for 'content' of messages[{position}]: expected a string, got null")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, arguments: &str) -> Value {
        json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}})
    }

    fn check(messages: &[Value]) -> Result<(), String> {
        check_history(&json!({ "messages": messages }))
    }

    fn calling(calls: &[Value]) -> Value {
        json!({"role": "assistant", "content": null, "tool_calls": calls})
    }

    fn result(id: &str) -> Value {
        json!({"role": "tool", "tool_call_id": id, "content": "x"})
    }

    #[test]
    fn good_histories_pass() {
        let user = json!({"role": "user", "content": "hi"});
        assert_eq!(
            check(&[user.clone(), calling(&[call("a", "{}"), call("b", "{}")]), result("b"), result("a")]),
            Ok(())
        );
        assert_eq!(check(&[user.clone(), json!({"role": "assistant", "content": "hello"}), user]), Ok(()));
    }

    #[test]
    fn each_fault_is_named() {
        let user = json!({"role": "user", "content": "hi"});
        let fault = |messages: &[Value]| check(messages).unwrap_err();
        assert!(
            fault(&[calling(&[call("a", "{}")]), user.clone()]).contains("did not have response messages: a")
        );
        assert!(fault(&[calling(&[call("a", "{}")])]).contains("did not have response messages: a"));
        assert!(fault(&[user.clone(), result("a")]).contains("must be a response to a preceding message"));
        let twice = [calling(&[call("a", "{}")]), result("a"), calling(&[call("a", "{}")]), result("a")];
        assert!(fault(&twice).contains("Duplicate value"));
        assert!(
            fault(&[calling(&[call("a", "{}")]), result("a"), result("a")]).contains("must be a response")
        );
        assert!(fault(&[calling(&[call("a", "")]), result("a")]).contains("not a JSON object"));
        assert!(
            fault(&[json!({"role": "assistant", "content": null})]).contains("expected a string, got null")
        );
    }
}
