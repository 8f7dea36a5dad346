//! Responses: the newer wire, made for reasoning models, used without state on the server.
//!
//! The server stores nothing, so every call carries the whole history, including encrypted reasoning. Items
//! go back as the provider made them: their private data keeps everything that the neutral items cannot
//! represent.

mod body;
mod decoder;
mod items;
mod usage;

use serde_json::Value;

use crate::protocol::bounded::Bounded;
use crate::protocol::wire_name::RESPONSES_WIRE;
use crate::protocol::{Decoder, DecoderContext, Objection, Protocol};
use crate::{Options, Prompt};
use decoder::ResponsesDecoder;

/// The protocol, which has no state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Responses;

impl Protocol for Responses {
    fn wire(&self) -> &'static str {
        RESPONSES_WIRE
    }

    fn path(&self) -> &'static str {
        "responses"
    }

    fn body(&self, model: &str, prompt: &Prompt, options: &Options) -> Value {
        body::render(model, prompt, options)
    }

    fn optional_fields(&self) -> &'static [&'static str] {
        &body::OPTIONAL_FIELDS
    }

    fn objection(&self, words: &str) -> Option<Objection> {
        let says = |needles: &[&str]| needles.iter().any(|needle| words.contains(needle));
        if says(&["items are not persisted"]) || (says(&["item with id", "item '"]) && says(&["not found"])) {
            return Some(Objection::ItemIds);
        }
        if says(&["encrypted content", "encrypted_content"]) {
            let is_unknown = says(&["not support", "unsupported", "not permitted", "unknown", "unexpected"]);
            return Some(if is_unknown { Objection::SealedReasoning } else { Objection::Private });
        }
        says(&["without its required"]).then_some(Objection::Private)
    }

    fn decoder(&self, context: DecoderContext) -> Box<dyn Decoder> {
        Box::new(Bounded::new(ResponsesDecoder::new(context)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objections_are_told_apart() {
        let check = |words: &str| Responses.objection(words);
        let persisted =
            "item with id 'rs_1' not found. items are not persisted when `store` is set to false.";
        assert_eq!(check(persisted), Some(Objection::ItemIds));
        let foreign = "invalid_encrypted_content the encrypted content gaaa could not be verified.";
        assert_eq!(check(foreign), Some(Objection::Private));
        let orphan = "item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item";
        assert_eq!(check(orphan), Some(Objection::Private));
        let sealed = "encrypted content is not supported with this model.";
        assert_eq!(check(sealed), Some(Objection::SealedReasoning));
        assert_eq!(check("model 'm' not found"), None);
    }
}
