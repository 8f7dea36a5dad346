//! Lessons about an endpoint, learned from its complaints and kept as long as the model lives.
//!
//! If a 400 names a field, the request is retried without that field. If it misses reasoning, the retry
//! includes it. If the provider can no longer read a piece of reasoning, that piece is never sent again. Each
//! lesson is learned once, so a server that is never satisfied cannot keep us retrying.

use std::borrow::Cow;
use std::collections::HashSet;

use buddy_protocol::Image;
use serde_json::Value;

use crate::failure::Complaint;
use crate::protocol::history::fingerprint;
use crate::{
    MaxTokensField, Objection, Options, Private, Prompt, PromptItem, Protocol, ReasoningForm,
    ReasoningReplay, Switches,
};

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

/// Words that servers use for images in their complaints.
const IMAGES: [&str; 6] = ["image", "vision", "multimodal", "multi-modal", "mmproj", "modality"];

/// Words of a server whose model cannot see any image, as opposed to one that rejects this image.
const BLINDNESS: [&str; 9] = [
    "not support",
    "unsupported content",
    "only supported by certain models",
    "unknown variant",
    "no endpoints found",
    "not a multimodal",
    "not a multi-modal",
    "mmproj",
    "missing data required for image",
];

/// The maximum number of remembered pieces of private data that the provider disowned.
const MAX_DISOWNED: usize = 1 << 16;

/// The lessons so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Learned {
    refused: Vec<String>,
    replay: Option<ReasoningReplay>,
    reasoning_form: Option<ReasoningForm>,
    without_ids: bool,
    /// Fingerprints of private data that the provider does not recognise. Its later data is not among them.
    disowned: HashSet<u64>,
    /// Whether the model cannot see images.
    is_blind: bool,
    /// Fingerprints of images that the provider cannot use.
    spoilt: HashSet<u64>,
}

/// The request that a complaint refers to.
#[derive(Clone, Copy)]
pub(super) struct Refused<'a> {
    pub(super) protocol: &'a dyn Protocol,
    pub(super) prompt: &'a Prompt,
    pub(super) body: &'a Value,
    pub(super) options: &'a Options,
}

impl Learned {
    /// The options with the lessons applied.
    pub(super) fn options(&self, options: &Options) -> Options {
        let mut options = options.clone();
        options.reasoning_replay = self.replay.unwrap_or(options.reasoning_replay);
        options.reasoning_form = self.reasoning_form.unwrap_or(options.reasoning_form);
        options.item_ids &= !self.without_ids;
        options.images &= !self.is_blind;
        options
    }

    /// The lessons that also hold for other conversations.
    pub(super) fn switches(&self) -> Switches {
        let is_refused = |field: &str| self.refused.iter().any(|refused| refused == field);
        let bound = [
            ("max_tokens", MaxTokensField::MaxCompletionTokens),
            ("max_completion_tokens", MaxTokensField::MaxTokens),
        ];
        let bounds: Vec<_> = bound.into_iter().filter(|(refused, _)| is_refused(refused)).collect();
        Switches {
            include_usage: is_refused("stream_options").then_some(false),
            reasoning_replay: self.replay,
            reasoning_form: self.reasoning_form,
            // A server that refuses both names gets no bound, which is not a switch.
            max_tokens_field: bounds.first().filter(|_| bounds.len() == 1).map(|(_, other)| *other),
            send_cache_key: is_refused("prompt_cache_key").then_some(false),
            images: self.is_blind.then_some(false),
            ..Switches::default()
        }
    }

    /// The prompt with the lessons applied. The options already include them.
    pub(super) fn prompt<'a>(&self, prompt: &'a Prompt, options: &Options) -> Cow<'a, Prompt> {
        let is_blind = !options.images && prompt.items.iter().any(|item| !item.images().is_empty());
        if self.disowned.is_empty() && self.spoilt.is_empty() && !is_blind {
            return Cow::Borrowed(prompt);
        }
        let mut prompt = prompt.clone();
        for item in &mut prompt.items {
            item.hide_images(|image| is_blind || self.spoilt.contains(&fingerprint_of_image(image)));
        }
        for private in prompt.items.iter_mut().filter_map(private_mut) {
            private.take_if(|private| self.disowned.contains(&fingerprint_of(private)));
        }
        Cow::Owned(prompt)
    }

    /// The body with the lessons applied.
    pub(super) fn amend(&self, body: &mut Value, protocol: &dyn Protocol) {
        if !self.refused.is_empty() {
            protocol.amend(body, &self.refused);
        }
    }

    /// Learns from a refused request. Returns a description of the lesson if it is new.
    pub(super) fn learn(&mut self, complaint: &Complaint, refused: &Refused<'_>) -> Option<String> {
        self.learn_objection(complaint, refused)
            .or_else(|| self.learn_replay(complaint, refused))
            .or_else(|| self.learn_images(complaint, refused))
            .or_else(|| self.learn_field(complaint, refused))
    }

    fn learn_objection(&mut self, complaint: &Complaint, refused: &Refused<'_>) -> Option<String> {
        let lesson = match refused.protocol.objection(complaint.words())? {
            Objection::ItemIds if refused.options.item_ids => {
                self.without_ids = true;
                "does not know its own items any more; asking again without their ids"
            }
            Objection::SealedReasoning if refused.options.reasoning_form == ReasoningForm::Sealed => {
                self.reasoning_form = Some(ReasoningForm::Plain);
                "does not take sealed reasoning; asking again without it"
            }
            _ if self.disown(refused) => {
                "does not recognise what it sent earlier; asking again without its earlier reasoning"
            }
            _ => return None,
        };
        Some(format!("the server {lesson}"))
    }

    /// Notes that no private data of this prompt may be sent again; false if that is known already.
    fn disown(&mut self, refused: &Refused<'_>) -> bool {
        let before = self.disowned.len();
        let wire = refused.protocol.wire();
        let sent = refused.prompt.items.iter().filter_map(private_of).filter(|private| private.wire == wire);
        let room = MAX_DISOWNED.saturating_sub(before);
        self.disowned.extend(sent.take(room).map(fingerprint_of));
        self.disowned.len() > before
    }

    fn learn_replay(&mut self, complaint: &Complaint, refused: &Refused<'_>) -> Option<String> {
        if !complaint.mentions("reasoning_content") || self.replay.is_some() {
            return None;
        }
        let (replay, lesson) = match refused.options.reasoning_replay {
            ReasoningReplay::Off => (ReasoningReplay::ToolTurns, "wants earlier reasoning back"),
            _ => (ReasoningReplay::Off, "does not take earlier reasoning back"),
        };
        self.replay = Some(replay);
        Some(format!("the server {lesson}; asking again that way"))
    }

    /// A refused image would be refused with every further prompt of its conversation, so it is no longer
    /// sent.
    fn learn_images(&mut self, complaint: &Complaint, refused: &Refused<'_>) -> Option<String> {
        let is_about_images = IMAGES.iter().any(|word| complaint.mentions(word));
        let sent: Vec<&[Image]> =
            refused.prompt.items.iter().map(PromptItem::images).filter(|images| !images.is_empty()).collect();
        let (Some((last, earlier)), true, true) =
            (sent.split_last(), is_about_images, refused.options.images)
        else {
            return None;
        };
        if BLINDNESS.iter().any(|word| complaint.mentions(word)) {
            self.is_blind = true;
            let words = &complaint.message;
            return Some(format!("the model sees no images ({words}); asking again without them"));
        }
        // There may be too many images: drop those of earlier prompts first.
        let is_new = self.spoil(earlier.concat().iter()) || self.spoil(last.iter());
        let words = &complaint.message;
        is_new.then(|| format!("the server cannot use the images ({words}); asking again without them"))
    }

    /// Notes that images may not be sent again; false if that is known already.
    fn spoil<'a>(&mut self, images: impl Iterator<Item = &'a Image>) -> bool {
        let before = self.spoilt.len();
        let room = MAX_DISOWNED.saturating_sub(before);
        self.spoilt.extend(images.take(room).map(fingerprint_of_image));
        self.spoilt.len() > before
    }

    fn learn_field(&mut self, complaint: &Complaint, refused: &Refused<'_>) -> Option<String> {
        let extra = refused.options.extra.keys().map(String::as_str);
        let field = refused.protocol.optional_fields().iter().copied().chain(extra).find(|field| {
            let is_new = !self.refused.iter().any(|refused| refused == field);
            is_new
                && refused.protocol.uses(refused.body, field)
                && objects_to(complaint, refused.protocol, field)
        })?;
        self.refused.push(field.to_owned());
        Some(format!("the server does not accept `{field}`; asking again without it"))
    }
}

fn private_of(item: &PromptItem) -> Option<&Private> {
    match item {
        PromptItem::Assistant { private, .. }
        | PromptItem::Reasoning { private, .. }
        | PromptItem::ToolCall { private, .. } => private.as_ref(),
        PromptItem::User { .. } | PromptItem::ToolResult { .. } => None,
    }
}

fn private_mut(item: &mut PromptItem) -> Option<&mut Option<Private>> {
    match item {
        PromptItem::Assistant { private, .. }
        | PromptItem::Reasoning { private, .. }
        | PromptItem::ToolCall { private, .. } => Some(private),
        PromptItem::User { .. } | PromptItem::ToolResult { .. } => None,
    }
}

fn fingerprint_of(private: &Private) -> u64 {
    fingerprint(private.data.to_string().as_bytes())
}

fn fingerprint_of_image(image: &Image) -> u64 {
    fingerprint(image.data.text().as_bytes())
}

fn objects_to(complaint: &Complaint, protocol: &dyn Protocol, field: &str) -> bool {
    complaint.param.as_deref() == Some(field)
        || (OBJECTIONS.iter().any(|objection| complaint.mentions(objection))
            && [Some(field), protocol.alias(field)]
                .into_iter()
                .flatten()
                .any(|word| names(&complaint.message, word)))
}

/// Whether the field occurs as a whole word, or at the end of a path such as `body.field`; `field.inner` is
/// another one.
fn names(message: &str, field: &str) -> bool {
    let is_inside = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
    message.split(|letter: char| !is_inside(letter)).any(|word| {
        let rest = word.trim_end_matches('.').strip_suffix(field);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Chat, Responses};

    fn learned(protocol: &dyn Protocol, body: &Value, error: &str) -> Option<Learned> {
        let complaint = Complaint::from_body(error);
        let (prompt, options) = (Prompt::default(), Options::default());
        let refused = Refused { protocol, prompt: &prompt, body, options: &options };
        let mut learned = Learned::default();
        learned.learn(&complaint, &refused)?;
        let options = learned.options(&options);
        let refused = Refused { options: &options, ..refused };
        assert_eq!(learned.learn(&complaint, &refused), None, "learned twice");
        Some(learned)
    }

    fn check(body: &Value, error: &str) -> Option<Value> {
        let mut amended = body.clone();
        learned(&Chat, body, error)?.amend(&mut amended, &Chat);
        Some(amended)
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
        let switches = learned(&Chat, &json!({"max_tokens": 5}), refused).unwrap().switches();
        assert_eq!(switches.max_tokens_field, Some(MaxTokensField::MaxCompletionTokens));
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
        let missing = r#"{"error":{"message":"Missing `reasoning_content` field"}}"#;
        let learned = learned(&Chat, &json!({}), missing).unwrap();
        assert_eq!(learned.options(&Options::default()).reasoning_replay, ReasoningReplay::ToolTurns);
    }

    #[test]
    fn a_part_of_a_field_is_left_out() {
        let body = json!({"model": "m", "reasoning": {"effort": "low", "summary": "auto"}});
        let check = |error: &str| {
            let mut amended = body.clone();
            learned(&Responses, &body, error).unwrap().amend(&mut amended, &Responses);
            amended
        };
        let summary = r#"{"error":{"message":"must be verified","param":"reasoning.summary"}}"#;
        assert_eq!(check(summary), json!({"model": "m", "reasoning": {"effort": "low"}}));
        let effort = r#"{"error":{"message":"Unsupported parameter: 'reasoning.effort'."}}"#;
        assert_eq!(check(effort), json!({"model": "m", "reasoning": {"summary": "auto"}}));
        let whole = r#"{"error":{"message":"Unknown parameter: reasoning"}}"#;
        assert_eq!(check(whole), json!({"model": "m"}));
    }

    #[test]
    fn disowned_private_data_is_not_sent_again() {
        let private = |data| Private {
            provider: "p".to_owned(),
            model: "m".to_owned(),
            wire: "responses".to_owned(),
            data,
        };
        let thought = |data| PromptItem::Reasoning { text: String::new(), private: Some(private(data)) };
        let mut prompt = Prompt { items: vec![thought(json!({"id": 1}))], ..Prompt::default() };
        let complaint = Complaint::from_body("the encrypted content could not be verified");
        let (body, options) = (json!({}), Options::default());
        let mut learned = Learned::default();
        let refused = Refused { protocol: &Responses, prompt: &prompt, body: &body, options: &options };
        assert!(learned.learn(&complaint, &refused).is_some());
        assert_eq!(learned.learn(&complaint, &refused), None, "learned twice");
        prompt.items.push(thought(json!({"id": 2})));
        let sent = learned.prompt(&prompt, &options);
        assert_eq!(sent.items.iter().filter_map(private_of).count(), 1);
    }

    /// The prompt item that is sent after this complaint, and the switch for images.
    fn shown(error: &str) -> Option<(PromptItem, Option<bool>)> {
        let data = buddy_protocol::Base64::from("AAAA".to_owned());
        let media_type = buddy_protocol::ImageType::Png;
        let image = Image { name: None, media_type, width: 2, height: 1, data };
        let items = vec![PromptItem::User { text: "See?".to_owned(), images: vec![image] }];
        let prompt = Prompt { items, ..Prompt::default() };
        let (body, options) = (json!({}), Options::default());
        let refused = Refused { protocol: &Chat, prompt: &prompt, body: &body, options: &options };
        let mut learned = Learned::default();
        learned.learn(&Complaint::from_body(error), &refused)?;
        let options = learned.options(&options);
        assert_eq!(
            learned.learn(&Complaint::from_body(error), &Refused { options: &options, ..refused }),
            None
        );
        let sent = learned.prompt(&prompt, &options).items.first().cloned()?;
        Some((sent, learned.switches().images))
    }

    #[test]
    fn images_that_are_refused_are_not_sent_again() {
        let hidden = PromptItem::user("See?\n[image: image, 2×1; it cannot be shown to you]");
        for blind in [
            "Invalid content type. image_url is only supported by certain models.",
            "image input is not supported - hint: you may need to provide the mmproj",
            "unknown variant `image_url`, expected `text`",
            "No endpoints found that support image input",
            "m is not a multimodal model",
        ] {
            assert_eq!(shown(blind), Some((hidden.clone(), Some(false))), "{blind}");
        }
        assert_eq!(shown("Could not process image"), Some((hidden, None)));
        assert_eq!(shown("the messages are too many"), None);
    }
}
