//! The JSON Schema of the event, for readers in other languages.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::{Fact, Principal, SessionId, UnixMillis};

/// The schema of one event on the wire: one branch for each known kind, and one for future kinds.
pub fn event_schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let session = generator.subschema_for::<SessionId>().to_value();
    let time = generator.subschema_for::<UnixMillis>().to_value();
    let by = generator.subschema_for::<Principal>().to_value();
    let mut branches: Vec<Value> = Fact::schemas(&mut generator)
        .into_iter()
        .map(|(kind, data)| json!({"title": kind, "properties": {"type": {"const": kind}, "data": data}}))
        .collect();
    branches.push(json!({
        "title": "a kind that this version does not know",
        "properties": {"type": {"not": {"enum": Fact::KINDS}}},
    }));
    let definitions: Map<String, Value> = generator.take_definitions(true);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "buddy event",
        "description": "A fact of a session. Durable events count `seq` from 1 on; live ones (`item.delta`) have none. \
                        `by` is the principal that caused it; the agent's own work has none.",
        "type": "object",
        "required": ["session", "time", "type", "data"],
        "properties": {
            "session": session,
            "seq": {"type": "integer", "minimum": 1},
            "time": time,
            "by": by,
            "type": {"type": "string"},
            "data": {},
        },
        "oneOf": branches,
        "$defs": definitions,
    })
}
