//! Takes a file of an older session apart. Names differ between versions, so several are known for each thing.

use anyhow::{Context, bail};
use buddy_protocol::UnixMillis;
use serde_json::{Map, Value};

/// Above this a number is in milliseconds; as seconds it would be thousands of years from now.
const SECONDS_END: f64 = 1e11;

/// An older session.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Legacy {
    pub(crate) id: String,
    pub(crate) title: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) created: Option<UnixMillis>,
    pub(crate) updated: Option<UnixMillis>,
    pub(crate) messages: Vec<LegacyMessage>,
    /// Material that has no place here, kept as it was.
    pub(crate) rest: Map<String, Value>,
    /// The material that was left out, for people.
    pub(crate) not_understood: Vec<String>,
}

/// One message.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct LegacyMessage {
    pub(crate) role: LegacyRole,
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<LegacyCall>,
    /// The call that a result belongs to.
    pub(crate) call_id: Option<String>,
    pub(crate) time: Option<UnixMillis>,
    pub(crate) rest: Map<String, Value>,
}

/// Who says a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum LegacyRole {
    #[default]
    User,
    Assistant,
    Tool,
}

/// A tool call.
#[derive(Debug, PartialEq)]
pub(crate) struct LegacyCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

/// Reads the text of a file. `name` is what the session is called where the file does not say.
pub(crate) fn read(name: &str, text: &str) -> anyhow::Result<Legacy> {
    let value: Value = serde_json::from_str(text).context("it is not JSON")?;
    let mut legacy = Legacy { id: name.to_owned(), ..Legacy::default() };
    let messages = match value {
        Value::Array(messages) => messages,
        Value::Object(mut object) => {
            unfold_state(&mut object);
            let messages = take(&mut object, &["messages", "history", "conversation"]);
            legacy.take_head(&mut object);
            legacy.rest = object;
            match messages {
                Some(Value::Array(messages)) => messages,
                _ => bail!("it has no list of messages"),
            }
        }
        _ => bail!("it is neither an object nor a list"),
    };
    for (place, message) in messages.into_iter().enumerate() {
        legacy.take_message(place + 1, message);
    }
    if legacy.messages.is_empty() {
        bail!("nothing was said in it");
    }
    Ok(legacy)
}

/// Puts the messages of a session whose state is an object of its own where others have them.
fn unfold_state(object: &mut Map<String, Value>) {
    let Some(Value::Object(state)) = object.get_mut("state") else { return };
    let Some(messages) = take(state, &["messages", "history"]) else { return };
    object.insert("messages".to_owned(), messages);
}

impl Legacy {
    fn take_head(&mut self, object: &mut Map<String, Value>) {
        let text = |value: Value| match value {
            Value::String(text) => Some(text),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        self.id = take(object, &["id", "session_id", "sessionId", "uuid"])
            .and_then(text)
            .unwrap_or(self.id.clone());
        self.title = take(object, &["title", "name", "summary"]).and_then(text);
        self.model = take(object, &["model", "model_name", "profile"]).and_then(text);
        self.created =
            take(object, &["created", "created_at", "createdAt", "started_at", "created_at_millis"])
                .and_then(|value| time(&value));
        self.updated = take(object, &["updated", "updated_at", "updatedAt", "saved_at", "updated_at_millis"])
            .and_then(|value| time(&value));
    }

    fn take_message(&mut self, place: usize, value: Value) {
        let Value::Object(mut object) = value else {
            return self.not_understood.push(format!("message {place} is not an object"));
        };
        let role = take(&mut object, &["role"]);
        let role = match role.as_ref().and_then(Value::as_str) {
            Some("user" | "human") => LegacyRole::User,
            Some("assistant" | "model" | "ai") => LegacyRole::Assistant,
            Some("tool" | "function") => LegacyRole::Tool,
            // Instructions are those of the program that runs, not of the one that ran.
            Some("system" | "developer") => return,
            Some(other) => {
                return self.not_understood.push(format!("message {place} has the role `{other}`"));
            }
            None => return self.not_understood.push(format!("message {place} has no role")),
        };
        let content = take(&mut object, &["content", "text"]).unwrap_or_default();
        let text = self.text(place, content);
        let reasoning = take(&mut object, &["reasoning_content", "reasoning", "thinking"]);
        let reasoning = reasoning.map(|value| self.text(place, value)).unwrap_or_default();
        let calls = take(&mut object, &["tool_calls"]).unwrap_or_default();
        let calls = self.calls(place, calls);
        let call_id = take(&mut object, &["tool_call_id", "call_id"]);
        let call_id = call_id.as_ref().and_then(Value::as_str).map(str::to_owned);
        let time =
            take(&mut object, &["time", "timestamp", "created", "created_at"]).and_then(|value| time(&value));
        self.messages.push(LegacyMessage { role, text, reasoning, calls, call_id, time, rest: object });
    }

    /// The text of a content: a text, or a list of parts.
    fn text(&mut self, place: usize, content: Value) -> String {
        match content {
            Value::Null => String::new(),
            Value::String(text) => text,
            Value::Array(parts) => {
                let texts = parts.into_iter().filter_map(|part| self.part(place, part));
                texts.collect::<Vec<_>>().join("\n")
            }
            other => other.to_string(),
        }
    }

    fn part(&mut self, place: usize, part: Value) -> Option<String> {
        if let Value::String(text) = part {
            return Some(text);
        }
        let text = part.get("text").or(part.get("content")).and_then(Value::as_str);
        if text.is_none() {
            let kind = part.get("type").and_then(Value::as_str).unwrap_or("?");
            self.not_understood.push(format!("message {place} has a part of type `{kind}`"));
        }
        text.map(str::to_owned)
    }

    fn calls(&mut self, place: usize, calls: Value) -> Vec<LegacyCall> {
        let calls = match calls {
            Value::Array(calls) => calls,
            Value::Null => return Vec::new(),
            _ => {
                self.not_understood.push(format!("message {place} has calls that are not a list"));
                return Vec::new();
            }
        };
        let mut read = Vec::new();
        for (number, call) in calls.iter().enumerate() {
            let function = call.get("function").unwrap_or(call);
            let Some(name) = function.get("name").and_then(Value::as_str) else {
                self.not_understood.push(format!("message {place} has a call without a name"));
                continue;
            };
            let id = call.get("id").and_then(Value::as_str).map(str::to_owned);
            let id = id.unwrap_or_else(|| format!("call_{place}_{}", number + 1));
            let arguments = function.get("arguments").or(function.get("input")).cloned().unwrap_or_default();
            read.push(LegacyCall { id, name: name.to_owned(), arguments: parsed(arguments) });
        }
        read
    }
}

/// Arguments, which are JSON within a text.
fn parsed(arguments: Value) -> Value {
    match arguments {
        Value::String(text) => match serde_json::from_str::<Value>(&text) {
            Ok(value @ Value::Object(_)) => value,
            _ => serde_json::json!({ "arguments": text }),
        },
        Value::Object(_) => arguments,
        Value::Null => Value::Object(Map::new()),
        other => serde_json::json!({ "arguments": other }),
    }
}

/// Takes the first of these out that is there and says something.
fn take(object: &mut Map<String, Value>, names: &[&str]) -> Option<Value> {
    let name = names.iter().find(|name| object.get(**name).is_some_and(|value| !value.is_null()))?;
    object.remove(*name)
}

/// A time: seconds or milliseconds since 1970, or a date.
fn time(value: &Value) -> Option<UnixMillis> {
    let millis = match value {
        Value::Number(number) => {
            let number = number.as_f64().filter(|number| *number > 0.0)?;
            if number < SECONDS_END { number * 1000.0 } else { number }
        }
        Value::String(text) => return date(text),
        _ => return None,
    };
    let end = 253_402_300_800_000.0;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is positive and within the next ten thousand years"
    )]
    (millis < end).then_some(UnixMillis(millis as u64))
}

fn date(text: &str) -> Option<UnixMillis> {
    let exact = text.parse::<jiff::Timestamp>().ok();
    let time = exact.or_else(|| {
        let local = text.parse::<jiff::civil::DateTime>().ok()?;
        Some(local.to_zoned(jiff::tz::TimeZone::system()).ok()?.timestamp())
    })?;
    u64::try_from(time.as_millisecond()).ok().map(UnixMillis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> Legacy {
        read("file", text).unwrap()
    }

    #[test]
    fn names_differ_and_the_same_is_meant() {
        let first = check(
            r#"{"id": "x", "model": "m", "created": 1700000000, "updated_at": "2024-01-01T00:00:00Z",
                "messages": [{"role": "user", "content": "hi", "extra": 1}], "kept": true}"#,
        );
        assert_eq!((first.id.as_str(), first.model.as_deref()), ("x", Some("m")));
        assert_eq!(first.created, Some(UnixMillis(1_700_000_000_000)));
        assert_eq!(first.updated, Some(UnixMillis(1_704_067_200_000)));
        assert_eq!(first.rest, serde_json::json!({"kept": true}).as_object().unwrap().clone());
        assert_eq!(first.messages[0].rest, serde_json::json!({"extra": 1}).as_object().unwrap().clone());
        let second = check(
            r#"{"sessionId": 7, "createdAt": 1700000000000, "history": [{"role": "human", "text": "hi"}]}"#,
        );
        assert_eq!((second.id.as_str(), second.created), ("7", first.created));
        assert_eq!(check(r#"[{"role": "user", "content": "hi"}]"#).id, "file");
    }

    #[test]
    fn messages_may_be_in_a_state() {
        let read = check(
            r#"{"version": 1, "id": "a1b2", "updated_at_millis": 1700000000123, "state": {
                "messages": [{"role": "system", "content": "be good"}, {"role": "user", "content": "hi"},
                    {"role": "assistant", "content": null, "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "run_shell", "arguments": "{}"}}]},
                    {"role": "tool", "tool_call_id": "c1", "content": "out"}],
                "tracker": {"prompt_tokens": 5}}}"#,
        );
        assert_eq!((read.id.as_str(), read.updated), ("a1b2", Some(UnixMillis(1_700_000_000_123))));
        assert_eq!(read.messages.len(), 3);
        let kept = serde_json::json!({"version": 1, "state": {"tracker": {"prompt_tokens": 5}}});
        assert_eq!(&Value::Object(read.rest), &kept, "the rest stays as it was");
        assert!(read.not_understood.is_empty());
    }

    #[test]
    fn calls_and_parts_are_read() {
        let read = check(
            r#"{"messages": [
                {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}]},
                {"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "run_shell", "arguments": "{\"command\": \"ls\"}"}},
                    {"function": {"name": "odd", "arguments": "not json"}}, {"id": "c3"}]},
                {"role": "tool", "tool_call_id": "c1", "content": "out"},
                {"role": "oracle", "content": "?"}, {"content": "?"}, 5, {"role": "system", "content": "be good"}
            ]}"#,
        );
        assert_eq!(read.messages.len(), 3);
        assert_eq!(read.messages[0].text, "a");
        let calls = &read.messages[1].calls;
        assert_eq!(calls[0].arguments, serde_json::json!({"command": "ls"}));
        assert_eq!(calls[1].arguments, serde_json::json!({"arguments": "not json"}));
        assert_eq!((calls.len(), read.messages[1].reasoning.as_str()), (2, "hm"));
        assert_eq!(
            read.not_understood,
            [
                "message 1 has a part of type `image_url`",
                "message 2 has a call without a name",
                "message 4 has the role `oracle`",
                "message 5 has no role",
                "message 6 is not an object",
            ]
        );
    }

    #[test]
    fn what_is_no_session_is_refused() {
        for text in ["", "5", "{}", r#"{"messages": 5}"#, r#"{"messages": []}"#, "{\"messages\": [", "[1]"] {
            assert!(read("file", text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_without_sense_are_none() {
        for value in [
            serde_json::json!(-5),
            serde_json::json!(1e300),
            serde_json::json!("soon"),
            serde_json::json!([]),
        ] {
            assert_eq!(time(&value), None, "{value}");
        }
        assert_eq!(time(&serde_json::json!(1.5)), Some(UnixMillis(1500)));
    }
}
