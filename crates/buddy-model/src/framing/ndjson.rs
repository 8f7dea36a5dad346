//! One JSON value per line, as a pure push parser.
//!
//! Lines end with LF or CRLF; blank ones are dropped. Text is decoded per line, so a character split between
//! chunks arrives whole. A last line without a line end becomes a frame only when the bytes end.

use crate::framing::{Framer, FramingError, MAX_EVENT_BYTES};
use crate::protocol::Frame;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The state between two chunks.
#[derive(Debug, Default)]
pub(crate) struct NdjsonFramer {
    /// A line whose end has not arrived.
    line: Vec<u8>,
    /// Whether the first line has been seen, so that a byte order mark can no longer come.
    begun: bool,
}

impl Framer for NdjsonFramer {
    fn push(&mut self, mut bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), FramingError> {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (head, tail) = bytes.split_at(end);
            self.grow(head)?;
            self.end_line(frames);
            bytes = tail.strip_prefix(b"\n").unwrap_or(tail);
        }
        self.grow(bytes)
    }

    fn finish(&mut self, frames: &mut Vec<Frame>) {
        self.end_line(frames);
    }
}

impl NdjsonFramer {
    fn grow(&mut self, bytes: &[u8]) -> Result<(), FramingError> {
        if self.line.len() + bytes.len() > MAX_EVENT_BYTES {
            return Err(FramingError);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self, frames: &mut Vec<Frame>) {
        let line = if self.begun {
            &self.line[..]
        } else {
            self.line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.line)
        };
        self.begun = true;
        let data = String::from_utf8_lossy(line.trim_ascii()).into_owned();
        if !data.is_empty() {
            frames.push(Frame { event: String::new(), data });
        }
        self.line.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frames<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let (mut framer, mut frames) = (NdjsonFramer::default(), Vec::new());
        for chunk in chunks {
            framer.push(chunk, &mut frames).unwrap();
        }
        framer.finish(&mut frames);
        frames.into_iter().map(|frame| frame.data).collect()
    }

    #[test]
    fn lines_of_all_kinds() {
        assert_eq!(
            frames([&b"{\"a\":1}\n{\"b\":2}\r\n\r\n \n{\"c\":3}"[..]]),
            [r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#]
        );
        assert_eq!(frames(["\u{feff}{}\n".as_bytes()]), ["{}"]);
        assert_eq!(frames([&b""[..]]), [""; 0]);
        assert_eq!(frames([&b"\xff\n"[..]]), ["\u{fffd}"]);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let (mut framer, mut frames) = (NdjsonFramer::default(), Vec::new());
        let half = vec![b'x'; MAX_EVENT_BYTES / 2 + 1];
        assert_eq!(framer.push(&half, &mut frames), Ok(()));
        assert_eq!(framer.push(&half, &mut frames), Err(FramingError));
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same(text in "[ab{}ä€😀\r\n ]{0,40}", cut in 0_usize..160, next in 0_usize..160) {
            let bytes = text.as_bytes();
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            let (middle, tail) = tail.split_at(next.min(tail.len()));
            prop_assert_eq!(frames([head, middle, tail]), frames([bytes]));
        }
    }
}
