//! Server-sent events by the WHATWG rules, as a pure push parser.
//!
//! It accepts LF, CR and CRLF in any mix, a byte order mark at the start, comments, unknown fields and events
//! of many data lines. Text is decoded per line, so a character split between chunks arrives whole, and
//! invalid UTF-8 becomes U+FFFD as the rules require. `id` and `retry` serve reconnection, which a model call
//! never does; they are dropped.
//!
//! This parser is our own because the crates that were measured are stream adaptors without a bound on the
//! event, and this one must be callable on plain bytes.

use std::borrow::Cow;

use crate::framing::{Framer, FramingError, MAX_EVENT_BYTES};
use crate::protocol::Frame;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The state between two chunks.
#[derive(Debug, Default)]
pub(crate) struct SseFramer {
    /// A line whose end has not arrived.
    line: Vec<u8>,
    /// Whether the last chunk ended in CR: an LF at the start of the next one belongs to it.
    after_carriage_return: bool,
    /// Whether the first line has been seen, so that a byte order mark can no longer come.
    begun: bool,
    /// The event's name so far.
    event: String,
    /// The event's data so far, each line with its LF.
    data: String,
}

impl Framer for SseFramer {
    fn push(&mut self, mut bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), FramingError> {
        if self.after_carriage_return && !bytes.is_empty() {
            self.after_carriage_return = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = memchr::memchr2(b'\r', b'\n', bytes) {
            let (head, tail) = bytes.split_at(end);
            self.end_line(head, frames)?;
            bytes = match tail {
                [b'\r'] => {
                    self.after_carriage_return = true;
                    &[]
                }
                [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
                [] => &[],
            };
        }
        self.check_size(bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }
}

impl SseFramer {
    fn end_line(&mut self, head: &[u8], frames: &mut Vec<Frame>) -> Result<(), FramingError> {
        self.check_size(head.len())?;
        if self.line.is_empty() {
            self.take_line(head, frames);
        } else {
            let mut line = std::mem::take(&mut self.line);
            line.extend_from_slice(head);
            self.take_line(&line, frames);
            line.clear();
            self.line = line;
        }
        Ok(())
    }

    fn take_line(&mut self, line: &[u8], frames: &mut Vec<Frame>) {
        let line = if self.begun { line } else { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) };
        self.begun = true;
        if line.is_empty() {
            return self.dispatch(frames);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => {
                let (field, value) = line.split_at(colon);
                let value = value.strip_prefix(b":").unwrap_or(value);
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match field {
            b"data" => {
                // One allocation per event: the text and a line end that only a further line keeps.
                self.data.reserve(value.len() + 1);
                self.data.push_str(&decoded(value));
                self.data.push('\n');
            }
            b"event" => self.event = decoded(value).into_owned(),
            _ => {}
        }
    }

    fn dispatch(&mut self, frames: &mut Vec<Frame>) {
        let event = std::mem::take(&mut self.event);
        if self.data.is_empty() {
            return;
        }
        let mut data = std::mem::take(&mut self.data);
        data.pop();
        frames.push(Frame { event, data });
    }

    fn check_size(&self, more: usize) -> Result<(), FramingError> {
        let size = self.line.len() + self.data.len() + more;
        if size > MAX_EVENT_BYTES { Err(FramingError) } else { Ok(()) }
    }
}

fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests;
