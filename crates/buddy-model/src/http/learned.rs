//! What an endpoint turned out to want, learned from its complaints and kept as long as the model lives.
//!
//! A 400 that names a field is answered by asking once more without that field; one about missing reasoning by sending
//! it back. Each lesson is learned once, so a server that is never content cannot keep us asking.

use serde_json::Value;

use crate::failure::Complaint;
use crate::{Options, Protocol, ReasoningReplay};

/// Words of a server that does not know a field; without them a mere mention of one proves nothing.
const OBJECTIONS: [&str; 9] = [
    "unsupported",
    "not support",
    "unknown",
    "unrecognized",
    "unexpected",
    "not permitted",
    "not allowed",
    "extra inputs",
    "additional properties",
];

/// The lessons so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Learned {
    refused: Vec<String>,
    replay: Option<ReasoningReplay>,
}

impl Learned {
    /// The options in the light of the lessons.
    pub(super) fn options(&self, options: &Options) -> Options {
        let mut options = options.clone();
        options.reasoning_replay = self.replay.unwrap_or(options.reasoning_replay);
        options
    }

    /// The body in the light of the lessons.
    pub(super) fn amend(&self, body: &mut Value, protocol: &dyn Protocol) {
        if !self.refused.is_empty() {
            protocol.amend(body, &self.refused);
        }
    }

    /// Takes a lesson from a refused body, if there is a new one, and says what it is.
    pub(super) fn learn(
        &mut self,
        complaint: &Complaint,
        body: &Value,
        protocol: &dyn Protocol,
        options: &Options,
    ) -> Option<String> {
        if complaint.mentions("reasoning_content") && self.replay.is_none() {
            let (replay, lesson) = match options.reasoning_replay {
                ReasoningReplay::Off => (ReasoningReplay::ToolTurns, "wants earlier reasoning back"),
                _ => (ReasoningReplay::Off, "does not take earlier reasoning back"),
            };
            self.replay = Some(replay);
            return Some(format!("the server {lesson}; asking again that way"));
        }
        let extra = options.extra.keys().map(String::as_str);
        let field = protocol.optional_fields().iter().copied().chain(extra).find(|field| {
            let is_new = !self.refused.iter().any(|refused| refused == field);
            is_new && body.get(*field).is_some() && objects_to(complaint, field)
        })?;
        self.refused.push(field.to_owned());
        Some(format!("the server does not accept `{field}`; asking again without it"))
    }
}

fn objects_to(complaint: &Complaint, field: &str) -> bool {
    complaint.param.as_deref() == Some(field)
        || (OBJECTIONS.iter().any(|objection| complaint.mentions(objection))
            && names(&complaint.message, field))
}

/// Whether the field occurs as a whole word.
fn names(message: &str, field: &str) -> bool {
    message.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).any(|word| word == field)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Chat;

    fn check(body: &Value, error: &str) -> Option<Value> {
        let complaint = Complaint::from_body(error);
        let mut learned = Learned::default();
        learned.learn(&complaint, body, &Chat, &Options::default())?;
        assert_eq!(learned.learn(&complaint, body, &Chat, &Options::default()), None, "learned twice");
        let mut body = body.clone();
        learned.amend(&mut body, &Chat);
        Some(body)
    }

    #[test]
    fn a_refused_field_is_left_out() {
        let body = json!({"model": "m", "stream_options": {}, "temperature": 0.5});
        let refused = r#"{"error":{"message":"Unsupported value","param":"temperature"}}"#;
        assert_eq!(check(&body, refused), Some(json!({"model": "m", "stream_options": {}})));
        let named = r#"{"detail":"Extra inputs are not permitted: body.stream_options"}"#;
        assert_eq!(check(&body, named), Some(json!({"model": "m", "temperature": 0.5})));
    }

    #[test]
    fn the_bound_on_the_answer_has_two_names() {
        let refused = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}"#;
        assert_eq!(check(&json!({"max_tokens": 5}), refused), Some(json!({"max_completion_tokens": 5})));
    }

    #[test]
    fn other_complaints_teach_nothing() {
        let body = json!({"model": "m", "temperature": 0.5});
        assert_eq!(check(&body, r#"{"error":{"message":"unknown model m"}}"#), None);
        assert_eq!(check(&body, r#"{"error":{"message":"the temperature was fine"}}"#), None);
        assert_eq!(check(&body, r#"{"error":{"message":"no","param":"messages"}}"#), None);
    }

    #[test]
    fn missing_reasoning_is_sent_from_then_on() {
        let complaint = Complaint::from_body(r#"{"error":{"message":"Missing `reasoning_content` field"}}"#);
        let mut learned = Learned::default();
        assert!(learned.learn(&complaint, &json!({}), &Chat, &Options::default()).is_some());
        assert_eq!(learned.options(&Options::default()).reasoning_replay, ReasoningReplay::ToolTurns);
    }
}
