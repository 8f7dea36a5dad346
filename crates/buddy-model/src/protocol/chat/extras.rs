//! Fields of messages and calls that this wire does not define, such as thought signatures.
//!
//! They are kept in the private data of their item, as `{"call": {…}, "message": {…}}`, and go back only to
//! the provider and model that sent them.

use serde_json::{Map, Value};

use crate::Private;
use crate::protocol::DecoderContext;
use crate::protocol::bounded::weight;
use crate::protocol::wire_name::CHAT_WIRE;

/// The maximum number of unknown fields kept per message or call.
const MAX_FIELDS: usize = 32;

const CALL: &str = "call";
const MESSAGE: &str = "message";

/// Fields of a call that are handled elsewhere.
const KNOWN_IN_CALL: [&str; 4] = ["index", "id", "type", "function"];

/// Fields of a message that are handled elsewhere, or that only servers send.
const KNOWN_IN_MESSAGE: [&str; 11] = [
    "role",
    "content",
    "refusal",
    "tool_calls",
    "function_call",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "annotations",
    "audio",
    "name",
];

/// Unknown fields so far.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Extras(Map<String, Value>);

impl Extras {
    /// Takes the unknown fields of a call and returns their size.
    pub(super) fn take_call(&mut self, piece: &Value) -> usize {
        self.take(piece, &KNOWN_IN_CALL)
    }

    /// Takes the unknown fields of a message and returns their size.
    pub(super) fn take_message(&mut self, message: &Value) -> usize {
        self.take(message, &KNOWN_IN_MESSAGE)
    }

    /// Keeps the unknown fields. A repeated field replaces the earlier one, and its size.
    fn take(&mut self, object: &Value, known: &[&str]) -> usize {
        let mut more = 0;
        for (name, value) in object.as_object().into_iter().flatten() {
            let is_empty = value.is_null()
                || value.as_array().is_some_and(Vec::is_empty)
                || value.as_object().is_some_and(Map::is_empty);
            let has_room = self.0.len() < MAX_FIELDS || self.0.contains_key(name);
            if !is_empty && has_room && !known.contains(&name.as_str()) {
                let before = self.0.insert(name.clone(), value.clone());
                more += weight(value).saturating_sub(before.as_ref().map_or(0, weight));
            }
        }
        more
    }
}

/// The private data of an item with these fields, if there are any.
pub(super) fn private(call: Extras, message: Extras, context: &DecoderContext) -> Option<Private> {
    let mut data = Map::new();
    for (name, extras) in [(CALL, call), (MESSAGE, message)] {
        if !extras.0.is_empty() {
            data.insert(name.to_owned(), Value::Object(extras.0));
        }
    }
    (!data.is_empty()).then(|| context.private(CHAT_WIRE, Value::Object(data)))
}

/// Puts the fields of a call back.
pub(super) fn of_call(private: Option<&Private>, call: &mut Map<String, Value>) {
    put(private, CALL, call);
}

/// Puts the fields of a message back.
pub(super) fn of_message(private: Option<&Private>, message: &mut Map<String, Value>) {
    put(private, MESSAGE, message);
}

fn put(private: Option<&Private>, part: &str, target: &mut Map<String, Value>) {
    let fields = private.and_then(|private| private.data.get(part)?.as_object());
    for (name, value) in fields.into_iter().flatten() {
        target.entry(name).or_insert_with(|| value.clone());
    }
}
