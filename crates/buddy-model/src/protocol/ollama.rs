//! Ollama's own wire: the only one that can set its context size, thinking and time in memory.

mod body;
mod decoder;

use serde_json::Value;
use url::Url;

use crate::protocol::bounded::Bounded;
use crate::protocol::wire_name::OLLAMA_WIRE;
use crate::protocol::{Decoder, DecoderContext, Protocol};
use crate::{Endpoint, Options, Prompt};
use decoder::OllamaDecoder;

/// The protocol, which has no state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ollama;

impl Protocol for Ollama {
    fn wire(&self) -> &'static str {
        OLLAMA_WIRE
    }

    fn path(&self) -> &'static str {
        "api/chat"
    }

    fn url(&self, endpoint: &Endpoint) -> Url {
        endpoint.join_beside(self.path())
    }

    fn body(&self, model: &str, prompt: &Prompt, options: &Options) -> Value {
        body::render(model, prompt, options)
    }

    fn optional_fields(&self) -> &'static [&'static str] {
        &["think", "keep_alive"]
    }

    fn alias(&self, field: &str) -> Option<&'static str> {
        // `"llama3.2" does not support thinking`
        (field == "think").then_some("thinking")
    }

    fn decoder(&self, context: DecoderContext) -> Box<dyn Decoder> {
        Box::new(Bounded::new(OllamaDecoder::new(context)))
    }
}
