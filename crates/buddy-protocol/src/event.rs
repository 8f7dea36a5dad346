//! The event: a fact with its place in a session's log, and its form on the wire.
//!
//! On the wire an event is one JSON object with `session`, `seq`, `time`, `type` and `data`, the last two side by side,
//! so that a reader can keep what it does not know. A live event has no `seq`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{Fact, SessionId, UnixMillis};

/// A fact of a session, stamped.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The session it belongs to.
    pub session: SessionId,
    /// Its place among the session's durable facts, from 1 on; absent on live facts.
    pub seq: Option<u64>,
    /// When it was stamped.
    pub time: UnixMillis,
    /// What happened.
    pub fact: Fact,
}

/// A text that is not an event.
#[derive(Debug, thiserror::Error)]
#[error("not an event: {0}")]
pub struct WireError(#[from] serde_json::Error);

#[derive(Serialize)]
struct Outgoing<'a> {
    session: &'a SessionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    time: UnixMillis,
    r#type: &'a str,
    data: &'a RawValue,
}

#[derive(Deserialize)]
struct Incoming {
    session: SessionId,
    #[serde(default)]
    seq: Option<u64>,
    time: UnixMillis,
    r#type: String,
    data: Box<RawValue>,
}

impl Event {
    /// The event as one line of JSON.
    pub fn to_json(&self) -> Result<String, WireError> {
        Ok(serde_json::to_string(self)?)
    }

    /// Reads an event from JSON. An unknown kind is kept verbatim; a known kind with a bad payload is an error.
    pub fn from_json(text: &str) -> Result<Self, WireError> {
        Ok(serde_json::from_str(text)?)
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let data = self.fact.data().map_err(serde::ser::Error::custom)?;
        Outgoing {
            session: &self.session,
            seq: self.seq,
            time: self.time,
            r#type: self.fact.kind(),
            data: &data,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Incoming { session, seq, time, r#type: kind, data } = Incoming::deserialize(deserializer)?;
        let fact = Fact::from_parts(&kind, &data)
            .map_err(|error| serde::de::Error::custom(format!("bad payload of `{kind}`: {error}")))?;
        Ok(Self { session, seq, time, fact })
    }
}
