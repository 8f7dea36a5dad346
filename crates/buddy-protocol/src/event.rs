//! The event: a fact with its place in a session's log, and its wire format.
//!
//! On the wire an event is one JSON object with `session`, `seq`, `time`, `by`, `type` and `data`. The last two are
//! separate fields, so that a reader can keep payloads it does not know. A live event has no `seq`, and the agent's
//! own work no `by`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{Fact, Principal, SessionId, UnixMillis};

/// A fact of a session, stamped.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The session it belongs to.
    pub session: SessionId,
    /// Its number among the session's durable facts, from 1 on; absent on live facts.
    pub seq: Option<u64>,
    /// The time of its stamp.
    pub time: UnixMillis,
    /// The principal that caused it; absent on the agent's own work.
    pub by: Option<Principal>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a Principal>,
    r#type: &'a str,
    data: &'a RawValue,
}

#[derive(Deserialize)]
struct Incoming {
    session: SessionId,
    #[serde(default)]
    seq: Option<u64>,
    time: UnixMillis,
    #[serde(default)]
    by: Option<Principal>,
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
            by: self.by.as_ref(),
            r#type: self.fact.kind(),
            data: &data,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Incoming { session, seq, time, by, r#type: kind, data } = Incoming::deserialize(deserializer)?;
        let bad =
            |error: serde_json::Error| serde::de::Error::custom(format!("bad payload of `{kind}`: {error}"));
        let fact = Fact::from_parts(&kind, &data).map_err(bad)?;
        let by = match by {
            Some(by) => Some(by),
            None => author_in_payload(&kind, data.get()).map_err(bad)?,
        };
        Ok(Self { session, seq, time, by, fact })
    }
}

/// The author that an old log has in the payload of three kinds.
pub fn author_in_payload(kind: &str, data: &str) -> Result<Option<Principal>, serde_json::Error> {
    #[derive(Deserialize)]
    struct Payload {
        #[serde(default)]
        by: Option<Principal>,
    }
    match kind {
        "turn.started" | "answered" | "session.ended" => {
            serde_json::from_str::<Payload>(data).map(|payload| payload.by)
        }
        _ => Ok(None),
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
        let event = Event {
            session,
            seq: Some(1),
            time: UnixMillis(1),
            by: None,
            fact: Fact::ItemEnded(ItemEnded { item }),
        };
        assert!(!event.to_json().unwrap().contains("SECRET"));
        let forged = event.to_json().unwrap().replace(r#""status""#, r#""private":{"data":1},"status""#);
        assert!(Event::from_json(&forged).unwrap().fact.item().unwrap().private.is_none());
    }

    #[test]
    fn the_author_of_an_old_event_moves_to_the_envelope() {
        const ANN: &str = r#"{"kind":"person","name":"ann"}"#;
        let payloads = [
            ("turn.started", r#"{"turn":"trn_00000000000000000000000001","by":ANN}"#),
            ("session.ended", r#"{"by":ANN}"#),
            ("answered", r#"{"ask":"ask_00000000000000000000000001","answer":{"type":"deny"},"by":ANN}"#),
        ];
        for (kind, data) in payloads {
            let read = Event::from_json(&event(kind, &data.replace("ANN", ANN))).unwrap();
            assert_eq!(read.by, Some(Principal::person("ann")), "{kind}");
            let written = read.to_json().unwrap();
            assert_eq!(Event::from_json(&written).unwrap(), read);
            let (envelope, payload) = written.split_once(r#""data""#).unwrap();
            assert!(envelope.contains(r#""by":{"kind":"person","id":"usr_"#), "{envelope}");
            assert!(!payload.contains("ann"), "{payload}");
        }
        assert_eq!(Event::from_json(&event("weather.changed", r#"{"by":3}"#)).unwrap().by, None);
    }

    #[test]
    fn unknown_content_is_kept_byte_for_byte() {
        let head = r#"{"item":{"id":"itm_00000000000000000000000001","status":"completed","content":"#;
        for content in [
            r#"{"type":"song","b" : 1, "a":[ 1.0 ,2e3],"c":"\u00e9"}"#,
            r#"{ "verse" : {"type":"inner"}, "type":"song" }"#,
            r#"{"type":"song"}"#,
        ] {
            let text = event("item.ended", &format!("{head}{content}}}}}"));
            assert_eq!(round_trip(&text), text);
            let read = Event::from_json(&text).unwrap();
            assert!(
                matches!(&read.fact.item().unwrap().content, Content::Unknown(song) if song.kind() == "song")
            );
        }
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
