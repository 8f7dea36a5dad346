//! Framing: cuts bytes into frames, between transport and protocol.

mod framer;
mod ndjson;
mod sse;

pub use framer::{Framer, FramingError, MAX_EVENT_BYTES};
use ndjson::NdjsonFramer;
use sse::SseFramer;

/// The framing of a route's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Sse,
    /// One JSON value per line.
    Ndjson,
}

impl Framing {
    /// A framer for one answer.
    pub fn framer(self) -> Box<dyn Framer> {
        match self {
            Self::Sse => Box::new(SseFramer::default()),
            Self::Ndjson => Box::new(NdjsonFramer::default()),
        }
    }
}
