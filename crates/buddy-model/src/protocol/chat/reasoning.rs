//! Reasoning on this wire: three spellings in, the same spelling back.
//!
//! Servers send it as `reasoning_content`, `reasoning` or `reasoning_details`, some in two of them at once.
//! The text comes from the first field that has any. The name of that field and the details (they may carry
//! signatures) are kept as private data, so that they can be sent back as they came.

use serde_json::{Map, Value, json};

use crate::Private;
use crate::protocol::DecoderContext;
use crate::protocol::wire_name::CHAT_WIRE;

const FIELDS: [&str; 2] = ["reasoning_content", "reasoning"];
const DETAILS: &str = "reasoning_details";

/// Keys of a detail that stream in pieces.
const GROWING: [&str; 3] = ["text", "summary", "data"];

/// The reasoning of one answer so far.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    text: String,
    field: Option<&'static str>,
    details: Vec<Map<String, Value>>,
}

impl Reasoning {
    /// Takes the reasoning in a message and returns the new text.
    pub(super) fn take(&mut self, message: &Value) -> Option<String> {
        let details = message.get(DETAILS).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for detail in details.iter().filter_map(Value::as_object) {
            self.merge(detail);
        }
        let [first, second] = FIELDS.map(|field| message.get(field).and_then(Value::as_str));
        let [first_field, second_field] = FIELDS;
        let first = self.take_field(first_field, first.unwrap_or_default());
        first.or_else(|| self.take_field(second_field, second.unwrap_or_default())).or_else(|| {
            let text: String = details.iter().filter_map(readable).collect();
            self.take_field(DETAILS, &text)
        })
    }

    fn take_field(&mut self, field: &'static str, text: &str) -> Option<String> {
        if text.is_empty() {
            return None;
        }
        self.field.get_or_insert(field);
        self.add(text);
        Some(text.to_owned())
    }

    /// Takes a thinking part of the content.
    pub(super) fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// The text and the private data needed to send it back, if there was any.
    pub(super) fn finish(self, context: &DecoderContext) -> Option<(String, Option<Private>)> {
        if self.text.is_empty() && self.details.is_empty() {
            return None;
        }
        let mut data = Map::new();
        data.insert("field".to_owned(), json!(self.field.unwrap_or(FIELDS[0])));
        if !self.details.is_empty() {
            data.insert("details".to_owned(), self.details.into_iter().map(Value::Object).collect());
        }
        let private = context.private(CHAT_WIRE, Value::Object(data));
        Some((self.text, Some(private)))
    }

    /// Joins the pieces of one detail; a new index or type starts the next.
    fn merge(&mut self, detail: &Map<String, Value>) {
        let same = |last: &&mut Map<String, Value>| {
            last.get("index") == detail.get("index") && last.get("type") == detail.get("type")
        };
        let Some(last) = self.details.last_mut().filter(same) else {
            self.details.push(detail.clone());
            return;
        };
        for (key, value) in detail {
            match (last.get_mut(key), value) {
                (_, Value::Null) => {}
                (Some(Value::String(text)), Value::String(more)) if GROWING.contains(&key.as_str()) => {
                    text.push_str(more);
                }
                _ => {
                    last.insert(key.clone(), value.clone());
                }
            }
        }
    }
}

fn readable(detail: &Value) -> Option<&str> {
    detail.get("text").or_else(|| detail.get("summary"))?.as_str()
}

/// Writes kept reasoning into a message that goes back.
pub(super) fn replay(reasoning: &[(&str, &Private)], message: &mut Map<String, Value>) {
    let mut details = Vec::new();
    for (text, private) in reasoning {
        if let Some(kept) = private.data.get("details").and_then(Value::as_array) {
            details.extend(kept.iter().cloned());
        }
        let field = private.data.get("field").and_then(Value::as_str);
        let Some(field) = FIELDS.into_iter().find(|name| field == Some(name)) else { continue };
        match message.get_mut(field) {
            Some(Value::String(before)) => before.push_str(text),
            _ => {
                message.insert(field.to_owned(), json!(text));
            }
        }
    }
    if !details.is_empty() {
        message.insert(DETAILS.to_owned(), Value::Array(details));
    }
}
