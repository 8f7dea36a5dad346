//! Lines of an input, bounded, to be read beside other things: a read that is given up loses nothing.

use std::io;

use buddy_protocol::MAX_IMAGES_BYTES;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// The longest line, in bytes: all the images that a prompt may have, in base64, and its text with the escapes of JSON.
pub(super) const MAX_LINE: usize = MAX_IMAGES_BYTES / 3 * 4 + 8 * 1024 * 1024;

/// An input, read by lines.
pub(super) struct BoundedLines<R> {
    input: R,
    /// The longest line, in bytes.
    longest: usize,
    line: Vec<u8>,
    /// Whether the line that is being read is longer than what is kept of it.
    is_too_long: bool,
    /// How many lines were read.
    number: u64,
}

/// A line and its number, from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NumberedLine {
    pub(super) number: u64,
    /// None where it was too long.
    pub(super) bytes: Option<Vec<u8>>,
}

impl<R: AsyncBufRead + Unpin> BoundedLines<R> {
    pub(super) fn new(input: R, longest: usize) -> Self {
        Self { input, longest, line: Vec::new(), is_too_long: false, number: 0 }
    }

    /// The next line; none at the end of the input.
    pub(super) async fn next(&mut self) -> io::Result<Option<NumberedLine>> {
        loop {
            // The one wait, and what was read before it is kept here.
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                let is_rest = !self.line.is_empty() || self.is_too_long;
                return Ok(is_rest.then(|| self.taken()));
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            let used = end.map_or(available.len(), |end| end + 1);
            if self.is_too_long || self.line.len() + piece.len() > self.longest {
                self.is_too_long = true;
                self.line.clear();
            } else {
                self.line.extend_from_slice(piece);
            }
            self.input.consume(used);
            if end.is_some() {
                return Ok(Some(self.taken()));
            }
        }
    }

    fn taken(&mut self) -> NumberedLine {
        self.number += 1;
        let line = std::mem::take(&mut self.line);
        let is_too_long = std::mem::take(&mut self.is_too_long);
        NumberedLine { number: self.number, bytes: (!is_too_long).then_some(line) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: usize = 100;

    async fn lines(input: &[u8]) -> Vec<Option<Vec<u8>>> {
        // A small buffer, so that lines come in pieces.
        let mut lines = BoundedLines::new(tokio::io::BufReader::with_capacity(7, input), LONGEST);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            assert_eq!(line.number, found.len() as u64 + 1);
            found.push(line.bytes);
        }
        found
    }

    #[tokio::test]
    async fn lines_come_whole_and_the_last_needs_no_end() {
        let found = lines(b"one\n\na line that is longer than the buffer\nlast").await;
        let expected: [&[u8]; 4] = [b"one", b"", b"a line that is longer than the buffer", b"last"];
        assert_eq!(found, expected.map(|line| Some(line.to_vec())));
    }

    #[tokio::test]
    async fn what_is_too_long_is_left_out_and_the_next_line_is_read() {
        let long = [b'x'; LONGEST + 1];
        let input = [&long[..], b"\nnext\n", &long[..LONGEST], b"\n", &long[..]].concat();
        let found = lines(&input).await;
        assert_eq!(found.len(), 4);
        assert_eq!((&found[0], &found[1], &found[3]), (&None, &Some(b"next".to_vec()), &None));
        assert_eq!(found[2].as_ref().map(Vec::len), Some(LONGEST));
    }
}
