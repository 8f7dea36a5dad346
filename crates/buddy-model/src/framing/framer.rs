//! The port of a framer: bytes in, frames out, with a bound on each.

use crate::Frame;

/// Cuts one answer into frames. Pure: the same bytes give the same frames, however they are split into
/// chunks.
pub trait Framer: Send {
    /// Takes the next bytes and appends the completed frames. Takes no more after an error.
    fn push(&mut self, bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), FramingError>;

    /// Ends the input and appends a last frame that needs no terminator. By default there is none.
    fn finish(&mut self, _frames: &mut Vec<Frame>) {}
}

/// The maximum size of a frame; a larger one ends the call. A whole answer of a model is well below a
/// megabyte, so this bounds memory against a server that never ends its line.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// A frame beyond [`MAX_EVENT_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("one event of the answer is larger than {} MiB", MAX_EVENT_BYTES / 1024 / 1024)]
pub struct FramingError;
