//! How bytes become frames: the axis between transport and protocol.

mod ndjson;
mod sse;

use crate::Frame;
use ndjson::NdjsonFramer;
use sse::SseFramer;

/// Largest frame that is kept; a larger one ends the call. A whole answer of a model is well below a megabyte, so this
/// bounds memory against a server that never ends its line.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// Which framing a route's answers have.
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

/// Cuts one answer into frames. Pure: the same bytes give the same frames however they were split.
pub trait Framer: Send {
    /// Takes the next bytes and appends the frames they complete. After an error it takes no more.
    fn push(&mut self, bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), FramingError>;

    /// The bytes have ended: appends the frame that needed no more. By default there is none.
    fn finish(&mut self, _frames: &mut Vec<Frame>) {}
}

/// A frame beyond [`MAX_EVENT_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("one event of the answer is larger than {} MiB", MAX_EVENT_BYTES / 1024 / 1024)]
pub struct FramingError;
