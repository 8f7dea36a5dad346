//! Deserialization of an item's content.
//!
//! serde's internally tagged enums buffer the whole object before they know its type. Items are most of a
//! log, and buddy writes the tag first, so the rest deserializes straight into its type. A tag that comes
//! later works too, at the cost of a copy.

use std::fmt::{self, Write};

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::item::CONTENT_KINDS;
use crate::{
    Content, EnvironmentFact, Image, ItemId, Json, PlanStep, Ran, ReminderCause, SessionId, UnknownContent,
};

const TAG: &str = "type";

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the content of an item")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
        let Some(first) = map.next_key::<String>()? else { return Err(Error::missing_field(TAG)) };
        if first == TAG {
            let kind: String = map.next_value()?;
            if !CONTENT_KINDS.contains(&kind.as_str()) {
                return keep(kind, map);
            }
            return read(&kind, MapAccessDeserializer::new(map));
        }
        let mut object = Map::new();
        object.insert(first, map.next_value()?);
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            object.insert(key, value);
        }
        match object.shift_remove(TAG) {
            Some(Value::String(kind)) if CONTENT_KINDS.contains(&kind.as_str()) => {
                read(&kind, Value::Object(object)).map_err(Error::custom)
            }
            Some(Value::String(kind)) => {
                object.insert(TAG.to_owned(), Value::String(kind.clone()));
                let data = to_raw_value(&object).map_err(Error::custom)?;
                Ok(Content::Unknown(UnknownContent::new(kind, data)))
            }
            _ => Err(Error::missing_field(TAG)),
        }
    }
}

/// Keeps content of an unknown type. Its values stay as they are; a reader that has the text of the whole payload
/// also keeps the space between them.
fn keep<'de, A: MapAccess<'de>>(kind: String, mut map: A) -> Result<Content, A::Error> {
    let mut text = format!("{{\"{TAG}\":{}", Value::String(kind.clone()));
    while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
        // Writing to a string cannot fail.
        let _ = write!(text, ",{}:{}", Value::String(key), value.get());
    }
    text.push('}');
    let data = RawValue::from_string(text).map_err(Error::custom)?;
    Ok(Content::Unknown(UnknownContent::new(kind, data)))
}

fn read<'de, D: Deserializer<'de>>(kind: &str, rest: D) -> Result<Content, D::Error> {
    match kind {
        "user_message" => UserMessage::deserialize(rest).map(|UserMessage { text, images, ran, typed }| {
            Content::UserMessage { text, images, ran, typed }
        }),
        "agent_message" => Text::deserialize(rest).map(|Text { text }| Content::AgentMessage { text }),
        "reasoning" => Text::deserialize(rest).map(|Text { text }| Content::Reasoning { text }),
        "tool_call" => Deserialize::deserialize(rest).map(Content::ToolCall),
        "file_change" => Deserialize::deserialize(rest).map(Content::FileChange),
        "plan" => Plan::deserialize(rest).map(|Plan { steps }| Content::Plan { steps }),
        "sub_session" => SubSession::deserialize(rest)
            .map(|SubSession { session, title }| Content::SubSession { session, title }),
        "canvas" => Canvas::deserialize(rest).map(|Canvas { element }| Content::Canvas { element }),
        "reminder" => {
            Reminder::deserialize(rest).map(|Reminder { cause, text }| Content::Reminder { cause, text })
        }
        "environment" => {
            Environment::deserialize(rest).map(|Environment { facts }| Content::Environment { facts })
        }
        "results_cleared" => ResultsCleared::deserialize(rest)
            .map(|ResultsCleared { kept_from }| Content::ResultsCleared { kept_from }),
        "compaction" => Compaction::deserialize(rest)
            .map(|Compaction { summary, kept_from }| Content::Compaction { summary, kept_from }),
        other => Err(Error::unknown_variant(other, CONTENT_KINDS)),
    }
}

#[derive(serde::Deserialize)]
struct UserMessage {
    text: String,
    #[serde(default)]
    images: Vec<Image>,
    #[serde(default)]
    ran: Option<Box<Ran>>,
    #[serde(default)]
    typed: Option<String>,
}

#[derive(serde::Deserialize)]
struct Text {
    text: String,
}

#[derive(serde::Deserialize)]
struct Plan {
    steps: Vec<PlanStep>,
}

#[derive(serde::Deserialize)]
struct SubSession {
    session: SessionId,
    title: String,
}

#[derive(serde::Deserialize)]
struct Reminder {
    cause: ReminderCause,
    text: String,
}

#[derive(serde::Deserialize)]
struct Environment {
    facts: Vec<EnvironmentFact>,
}

#[derive(serde::Deserialize)]
struct ResultsCleared {
    kept_from: ItemId,
}

#[derive(serde::Deserialize)]
struct Canvas {
    element: Json,
}

#[derive(serde::Deserialize)]
struct Compaction {
    summary: String,
    #[serde(default)]
    kept_from: Option<ItemId>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_content_is_read_wherever_its_tag_stands() {
        let call = json!({
            "call_id": "c", "name": "shell", "kind": "execute", "title": "t", "input": { "type": "inner" },
        });
        let step = json!([{ "text": "s", "state": "done" }]);
        let session = "ses_00000000000000000000000001";
        let contents = [
            ("user_message", json!({ "text": "! a", "ran": { "command": "a", "target": "t", "cwd": "/" } })),
            ("agent_message", json!({ "text": "a" })),
            ("reasoning", json!({ "text": "a" })),
            ("tool_call", call),
            ("file_change", json!({ "path": "p", "diff": "d" })),
            ("plan", json!({ "steps": step })),
            ("sub_session", json!({ "session": session, "title": "t" })),
            ("canvas", json!({ "element": { "type": "box" } })),
            ("reminder", json!({ "cause": "unverified", "text": "a" })),
            ("environment", json!({ "facts": [{ "name": "host", "value": "a@b" }] })),
            ("results_cleared", json!({ "kept_from": "itm_00000000000000000000000001" })),
            ("compaction", json!({ "summary": "s" })),
        ];
        assert_eq!(contents.each_ref().map(|(kind, _)| *kind), CONTENT_KINDS);
        for (kind, fields) in contents {
            let Value::Object(fields) = fields else { panic!("{fields}") };
            let mut last = fields.clone();
            last.insert(TAG.to_owned(), json!(kind));
            let mut first = Map::from_iter([(TAG.to_owned(), json!(kind))]);
            first.extend(fields);
            let first = Value::Object(first);
            let read: Content = serde_json::from_str(&first.to_string()).unwrap();
            assert_eq!(serde_json::to_value(&read).unwrap(), first);
            let again: Content = serde_json::from_str(&Value::Object(last).to_string()).unwrap();
            assert_eq!(again, read);
        }
    }

    #[test]
    fn content_without_a_tag_is_refused() {
        for text in ["{}", r#"{"text":"a"}"#, r#"{"type":1}"#, r#"{"type":"plan"}"#, "[]"] {
            assert!(serde_json::from_str::<Content>(text).is_err(), "{text}");
        }
    }
}
