//! The event: a fact with its place in a session's log, and its wire format.
//!
//! On the wire an event is one JSON object with `session`, `seq`, `time`, `type` and `data`. The last two are
//! separate fields, so that a reader can keep payloads it does not know. A live event has no `seq`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{Fact, SessionId, UnixMillis};

/// A fact of a session, stamped.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The session it belongs to.
    pub session: SessionId,
    /// Its number among the session's durable facts, from 1 on; absent on live facts.
    pub seq: Option<u64>,
    /// The time of its stamp.
    pub time: UnixMillis,
    /// The fact itself.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Content, Item, ItemEnded, ItemStatus, Private};

    const SESSION: &str = "ses_00000000000000000000000001";

    fn event(kind: &str, data: &str) -> String {
        format!(r#"{{"session":"{SESSION}","seq":7,"time":12,"type":"{kind}","data":{data}}}"#)
    }

    fn round_trip(text: &str) -> String {
        Event::from_json(text).unwrap().to_json().unwrap()
    }

    #[test]
    fn an_unknown_kind_is_kept_byte_for_byte() {
        for data in [r#"{"b" : 1, "a":[ 1.0 ,2e3],"c":"\u00e9"}"#, "null", "17", r#""text""#, "{}"] {
            let text = event("weather.changed", data);
            assert_eq!(round_trip(&text), text);
        }
    }

    #[test]
    fn a_known_kind_with_a_bad_payload_is_an_error() {
        let error = Event::from_json(&event("turn.ended", r#"{"turn":"nonsense"}"#)).unwrap_err().to_string();
        assert!(error.contains("turn.ended"), "{error}");
        for kind in Fact::KINDS {
            assert!(Event::from_json(&event(kind, "3")).is_err(), "{kind}");
        }
    }

    #[test]
    fn there_are_fourteen_kinds_and_one_is_live() {
        assert_eq!(Fact::KINDS.len(), 14);
        let delta =
            event("item.delta", r#"{"item":"itm_00000000000000000000000001","stream":"text","text":"x"}"#);
        assert!(!Event::from_json(&delta).unwrap().fact.is_durable());
    }

    #[test]
    fn private_data_never_reaches_the_wire() {
        let item = Item {
            id: "itm_00000000000000000000000001".parse().unwrap(),
            turn: None,
            step: None,
            place: None,
            parent: None,
            status: ItemStatus::Completed,
            content: Content::Reasoning { text: "hm".to_owned() },
            private: Some(Private {
                provider: "p".to_owned(),
                model: "m".to_owned(),
                wire: "w".to_owned(),
                data: serde_json::json!({"signature": "SECRET"}),
            }),
        };
        let session = SESSION.parse().unwrap();
        let event =
            Event { session, seq: Some(1), time: UnixMillis(1), fact: Fact::ItemEnded(ItemEnded { item }) };
        assert!(!event.to_json().unwrap().contains("SECRET"));
        let forged = event.to_json().unwrap().replace(r#""status""#, r#""private":{"data":1},"status""#);
        assert!(Event::from_json(&forged).unwrap().fact.item().unwrap().private.is_none());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
            let _ = Event::from_json(&text);
            let _ = Event::from_json(&event("notice", &text));
        }

        #[test]
        fn any_words_survive_the_wire(words in "\\PC{0,80}", level in prop::sample::select(vec!["info", "warning"])) {
            let data = serde_json::json!({"level": level, "code": "c", "text": words}).to_string();
            let text = event("notice", &data);
            prop_assert_eq!(round_trip(&text), text);
        }
    }
}
