//! Anthropic's Messages: content blocks in order, signed thinking, breakpoints for the prompt cache.

mod blocks;
mod body;
mod cache;
mod conversation;
mod decoder;
mod thinking;
mod usage;

use serde_json::Value;

use crate::protocol::bounded::Bounded;
use crate::protocol::wire_name::MESSAGES_WIRE;
use crate::protocol::{Decoder, DecoderContext, Objection, Protocol};
use crate::{Options, Prompt};
use decoder::MessagesDecoder;

/// Words of a server that does not take its thinking back: another key, deployment or model signed it, or a
/// block is missing or was changed.
const PRIVATE_REFUSED: [&str; 4] =
    ["invalid `signature`", "invalid signature", "cannot be modified", "expected `thinking`"];

/// The protocol, which has no state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Messages;

impl Protocol for Messages {
    fn wire(&self) -> &'static str {
        MESSAGES_WIRE
    }

    fn path(&self) -> &'static str {
        "messages"
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn body(&self, model: &str, prompt: &Prompt, options: &Options) -> Value {
        body::render(model, prompt, options)
    }

    fn amend(&self, body: &mut Value, refused: &[String]) {
        body::amend(body, refused);
    }

    fn optional_fields(&self) -> &'static [&'static str] {
        &body::OPTIONAL_FIELDS
    }

    fn uses(&self, body: &Value, field: &str) -> bool {
        if field == cache::FIELD { cache::is_marked(body) } else { body.get(field).is_some() }
    }

    fn objection(&self, words: &str) -> Option<Objection> {
        PRIVATE_REFUSED.iter().any(|refusal| words.contains(refusal)).then_some(Objection::Private)
    }

    fn decoder(&self, context: DecoderContext) -> Box<dyn Decoder> {
        Box::new(Bounded::new(MessagesDecoder::new(context)))
    }
}
