//! The bounds of one answer, enforced while it streams, the same on every wire.
//!
//! A server that never stops must not exhaust the client's memory or disk. Each wire's decoder is wrapped in
//! [`Bounded`], which measures input and output. Beyond a bound the answer is [`WireError::TooLarge`]: it is
//! not retried, and none of its calls becomes an item.

use serde_json::Value;

use crate::protocol::{Decoder, Frame, Progress, WireError};
use crate::{Arguments, Delta, MAX_ARGUMENTS_BYTES, Reply, ReplyItem};

/// The maximum text and reasoning of one answer. The longest answers of today's models have about half a
/// megabyte.
pub const MAX_SAID_BYTES: usize = 8 * 1024 * 1024;

/// The maximum size of one answer: text, reasoning, arguments and the provider's own data together.
pub const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// The maximum number of parts of one answer. Each becomes an item in the log, so a server that starts a part
/// with every letter would fill the disk with items.
pub const MAX_PARTS: usize = 1024;

/// The maximum bytes of frames for one answer, whatever they contain. A token takes a few hundred bytes on
/// the wire, so this is far beyond any answer below the other bounds.
pub const MAX_STREAM_BYTES: usize = 256 * 1024 * 1024;

/// A decoder that enforces the bounds.
#[derive(Debug)]
pub(crate) struct Bounded<D> {
    inner: D,
    read: usize,
    said: usize,
    parts: usize,
    voice: Option<Voice>,
    /// Bytes of arguments, by the call's position in the answer.
    arguments: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Text,
    Reasoning,
}

impl<D: Decoder> Bounded<D> {
    pub(crate) fn new(inner: D) -> Self {
        Self { inner, read: 0, said: 0, parts: 0, voice: None, arguments: Vec::new() }
    }

    fn measured(&mut self, deltas: Vec<Delta>) -> Result<Vec<Delta>, WireError> {
        for delta in &deltas {
            match delta {
                Delta::Text(text) => self.say(Voice::Text, text)?,
                Delta::Reasoning(text) => self.say(Voice::Reasoning, text)?,
                Delta::Apart => self.voice = None,
                Delta::ToolArguments { index, text, .. } => self.argue(*index, text)?,
                Delta::Restarted { .. } | Delta::Finished(_) => {}
            }
        }
        Ok(deltas)
    }

    fn say(&mut self, voice: Voice, text: &str) -> Result<(), WireError> {
        if self.voice != Some(voice) {
            self.voice = Some(voice);
            grow(&mut self.parts, 1, MAX_PARTS)?;
        }
        grow(&mut self.said, text.len(), MAX_SAID_BYTES)
    }

    fn argue(&mut self, index: usize, text: &str) -> Result<(), WireError> {
        if index >= MAX_PARTS {
            return Err(WireError::TooLarge);
        }
        if self.arguments.len() <= index {
            self.arguments.resize(index + 1, 0);
        }
        self.arguments.get_mut(index).map_or(Ok(()), |bytes| grow(bytes, text.len(), MAX_ARGUMENTS_BYTES))
    }
}

impl<D: Decoder> Decoder for Bounded<D> {
    fn step(&mut self, frame: Frame) -> Result<Vec<Delta>, WireError> {
        grow(&mut self.read, frame.data.len(), MAX_STREAM_BYTES)?;
        let deltas = self.inner.step(frame)?;
        self.measured(deltas)
    }

    fn progress(&self) -> Progress {
        self.inner.progress()
    }

    fn whole(&mut self, body: &Value) -> Result<Vec<Delta>, WireError> {
        let deltas = self.inner.whole(body)?;
        self.measured(deltas)
    }

    /// Not everything in a reply has streamed before: some servers send it only at the end.
    fn finish(&mut self) -> Result<Reply, WireError> {
        let reply = self.inner.finish()?;
        let mut said = 0;
        for item in &reply.items {
            match item {
                ReplyItem::Text { text, .. } | ReplyItem::Reasoning { text, .. } => {
                    grow(&mut said, text.len(), MAX_SAID_BYTES)?;
                }
                ReplyItem::ToolCall { arguments: Arguments::Broken { raw, .. }, .. } => {
                    grow(&mut 0, raw.len(), MAX_ARGUMENTS_BYTES)?;
                }
                // Longer ones were not parsed as an object.
                ReplyItem::ToolCall { .. } => {}
            }
        }
        if reply.items.len() > MAX_PARTS { Err(WireError::TooLarge) } else { Ok(reply) }
    }
}

/// Adds to a count and fails beyond its bound.
pub(crate) fn grow(count: &mut usize, more: usize, bound: usize) -> Result<(), WireError> {
    *count = count.saturating_add(more);
    if *count > bound { Err(WireError::TooLarge) } else { Ok(()) }
}

/// The approximate memory of a value.
pub(crate) fn weight(value: &Value) -> usize {
    /// The overhead of a value besides its text.
    const OVERHEAD: usize = 8;
    OVERHEAD
        + match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(weight).sum(),
            Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + weight(value)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}
