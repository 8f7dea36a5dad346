//! Chat Completions: the wire that every local server and most gateways speak.

mod body;
mod calls;
mod decoder;
mod extras;
mod reasoning;
mod usage;

use serde_json::Value;

use crate::protocol::bounded::Bounded;
use crate::protocol::wire_name::CHAT_WIRE;
use crate::protocol::{Decoder, DecoderContext, Protocol};
use crate::{Options, Prompt};
use decoder::ChatDecoder;

/// The protocol, which has no state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Chat;

impl Protocol for Chat {
    fn wire(&self) -> &'static str {
        CHAT_WIRE
    }

    fn path(&self) -> &'static str {
        "chat/completions"
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

    fn decoder(&self, context: DecoderContext) -> Box<dyn Decoder> {
        Box::new(Bounded::new(ChatDecoder::new(context)))
    }
}
