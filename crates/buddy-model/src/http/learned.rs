//! What an endpoint turned out to want, learned from its complaints and kept as long as the model lives.
//!
//! A 400 that names a field is answered by asking once more without that field; one about missing reasoning by sending
//! it back; one about provider data that no longer holds (a signature, a sealed thought) by leaving out what was
//! refused, while data that comes later is sent again. Each lesson is learned once, so a server that is never content
//! cannot keep us asking.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::failure::Complaint;
use crate::{Options, Private, Prompt, PromptItem, Protocol, ReasoningReplay};

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

/// Words of a server that does not take its own data back: made by another key, deployment or model, or touched.
const PRIVATE_REFUSED: [&str; 4] =
    ["invalid `signature`", "invalid signature", "cannot be modified", "expected `thinking`"];

/// The lessons so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Learned {
    refused: Vec<String>,
    replay: Option<ReasoningReplay>,
    /// Fingerprints of provider data that was refused, so that only these pieces stay out.
    refused_private: HashSet<u64>,
}

impl Learned {
    /// The options in the light of the lessons.
    pub(super) fn options(&self, options: &Options) -> Options {
        let mut options = options.clone();
        options.reasoning_replay = self.replay.unwrap_or(options.reasoning_replay);
        options
    }

    /// The prompt in the light of the lessons.
    pub(super) fn prompt<'a>(&self, prompt: &'a Prompt) -> Cow<'a, Prompt> {
        let is_refused = |item: &PromptItem| {
            private(item).is_some_and(|private| self.refused_private.contains(&fingerprint(private)))
        };
        if self.refused_private.is_empty() || !prompt.items.iter().any(is_refused) {
            return Cow::Borrowed(prompt);
        }
        let mut prompt = prompt.clone();
        for item in prompt.items.iter_mut().filter(|item| is_refused(item)) {
            forget_private(item);
        }
        Cow::Owned(prompt)
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
        prompt: &Prompt,
        body: &Value,
        protocol: &dyn Protocol,
        options: &Options,
    ) -> Option<String> {
        if PRIVATE_REFUSED.iter().any(|words| complaint.mentions(words)) {
            let before = self.refused_private.len();
            self.refused_private.extend(prompt.items.iter().filter_map(private).map(fingerprint));
            let is_new = self.refused_private.len() > before;
            return is_new.then(|| {
                "the server does not take its earlier thoughts back; asking again without them".to_owned()
            });
        }
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
            is_new && protocol.uses(body, field) && objects_to(complaint, protocol, field)
        })?;
        self.refused.push(field.to_owned());
        Some(format!("the server does not accept `{field}`; asking again without it"))
    }
}

fn objects_to(complaint: &Complaint, protocol: &dyn Protocol, field: &str) -> bool {
    complaint.param.as_deref() == Some(field)
        || (OBJECTIONS.iter().any(|objection| complaint.mentions(objection))
            && (names(&complaint.message, field)
                || protocol.alias(field).is_some_and(|alias| names(&complaint.message, alias))))
}

fn private(item: &PromptItem) -> Option<&Private> {
    match item {
        PromptItem::Assistant { private, .. }
        | PromptItem::Reasoning { private, .. }
        | PromptItem::ToolCall { private, .. } => private.as_ref(),
        PromptItem::User { .. } | PromptItem::ToolResult { .. } => None,
    }
}

fn forget_private(item: &mut PromptItem) {
    match item {
        PromptItem::Assistant { private, .. }
        | PromptItem::Reasoning { private, .. }
        | PromptItem::ToolCall { private, .. } => *private = None,
        PromptItem::User { .. } | PromptItem::ToolResult { .. } => {}
    }
}

fn fingerprint(private: &Private) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&private.provider, &private.model, &private.wire, private.data.to_string()).hash(&mut hasher);
    hasher.finish()
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
        let mut learn = || learned.learn(&complaint, &Prompt::default(), body, &Chat, &Options::default());
        learn()?;
        assert_eq!(learn(), None, "learned twice");
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
        let prompt = Prompt::default();
        assert!(learned.learn(&complaint, &prompt, &json!({}), &Chat, &Options::default()).is_some());
        assert_eq!(learned.options(&Options::default()).reasoning_replay, ReasoningReplay::ToolTurns);
    }

    #[test]
    fn refused_provider_data_stays_out_and_later_data_does_not() {
        let thought = |signature: &str| PromptItem::Reasoning {
            text: String::new(),
            private: Some(Private {
                provider: "p".to_owned(),
                model: "m".to_owned(),
                wire: "messages".to_owned(),
                data: json!({ "signature": signature }),
            }),
        };
        let refused = r#"{"type":"error","error":{"type":"invalid_request_error",
            "message":"messages.1.content.0: Invalid `signature` in `thinking` block"}}"#;
        let complaint = Complaint::from_body(refused);
        let prompt = Prompt { items: vec![thought("old")], ..Prompt::default() };
        let mut learned = Learned::default();
        let mut learn = || learned.learn(&complaint, &prompt, &json!({}), &Chat, &Options::default());
        assert!(learn().is_some());
        assert_eq!(learn(), None, "learned twice");
        let longer = Prompt { items: vec![thought("old"), thought("new")], ..Prompt::default() };
        let kept: Vec<bool> =
            learned.prompt(&longer).items.iter().map(|item| private(item).is_some()).collect();
        assert_eq!(kept, [false, true]);
    }
}
