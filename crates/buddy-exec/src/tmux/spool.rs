//! The spool of a pane: its stream in numbered files on its host, kept there until long after it was read, so
//! that a follower that went away can continue. This part is pure: it knows the position of the stream in the
//! spool.

use crate::mark::{Sight, look_for};

/// The script that takes the stream of a pane into its spool. It keeps at most eight files of at
/// most 8 MiB.
pub(super) const RELAY: &str = include_str!("scripts/relay.sh");

/// The script that prints a spool from a position, and continues as it grows.
pub(super) const FOLLOW: &str = include_str!("scripts/follow.sh");

/// The longest line behind a mark.
const MAX_LINE_BYTES: usize = 32;

/// A position in the stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Position {
    /// The number of a file.
    pub(super) file: u64,
    /// Bytes of it.
    pub(super) offset: u64,
}

/// A piece of a follower's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Bytes(Vec<u8>),
    /// A part in between is lost.
    Gap,
    /// There will be no more.
    End,
}

/// Parses the output of a follower.
#[derive(Debug)]
pub(super) struct Reading {
    mark: Vec<u8>,
    position: Position,
    /// Bytes that may be the beginning of a mark with its line.
    held: Vec<u8>,
}

impl Reading {
    /// Begins at a position, with the mark that the follower was given.
    pub(super) fn new(mark: &str, position: Position) -> Self {
        Self { mark: mark.as_bytes().to_vec(), position, held: Vec::new() }
    }

    /// The position after the bytes so far.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// Takes output of the follower.
    pub(super) fn push(&mut self, printed: &[u8]) -> Vec<Part> {
        let mut parts = Vec::new();
        self.held.extend_from_slice(printed);
        loop {
            let at = match look_for(&self.mark, &self.held) {
                Sight::At(at) => at,
                Sight::NotBefore(done) => {
                    self.pass(done, &mut parts);
                    return parts;
                }
            };
            self.pass(at, &mut parts);
            let line = self.held.get(self.mark.len()..).unwrap_or_default();
            let line = line.get(..line.len().min(MAX_LINE_BYTES)).unwrap_or_default();
            let Some(length) = memchr::memchr(b'\n', line) else { return parts };
            let word = String::from_utf8_lossy(line.get(..length).unwrap_or_default()).trim().to_owned();
            self.held.drain(..=self.mark.len() + length);
            parts.extend(self.turn(&word));
        }
    }

    /// Goes to the position that a mark names.
    fn turn(&mut self, word: &str) -> Option<Part> {
        let Ok(file) = word.parse() else { return Some(Part::End) };
        let is_next = self.position.file.checked_add(1) == Some(file);
        self.position = Position { file, offset: 0 };
        (!is_next).then_some(Part::Gap)
    }

    fn pass(&mut self, count: usize, parts: &mut Vec<Part>) {
        if count > 0 {
            self.position.offset += count as u64;
            parts.push(Part::Bytes(self.held.drain(..count).collect()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the bytes, the places of other parts in them, and the last position, regardless of how the
    /// output is cut.
    fn check(printed: &[u8], text: &str, others: &[(usize, Part)], position: Position) {
        for size in 1..=printed.len() {
            let mut reading = Reading::new("MARK", Position { file: 3, offset: 10 });
            let (mut bytes, mut found) = (Vec::new(), Vec::new());
            for part in printed.chunks(size).flat_map(|piece| reading.push(piece)) {
                match part {
                    Part::Bytes(more) => bytes.extend(more),
                    other => found.push((bytes.len(), other)),
                }
            }
            assert_eq!(String::from_utf8_lossy(&bytes), text, "in pieces of {size}");
            assert_eq!(found, others, "in pieces of {size}");
            assert_eq!(reading.position(), position, "in pieces of {size}");
        }
    }

    #[test]
    fn the_position_is_counted_from_the_last_mark() {
        check(b"abc", "abc", &[], Position { file: 3, offset: 13 });
        check(b"abMARK 4\ncde", "abcde", &[], Position { file: 4, offset: 3 });
    }

    #[test]
    fn a_number_that_is_left_out_is_a_gap() {
        check(b"abMARK 6\nc", "abc", &[(2, Part::Gap)], Position { file: 6, offset: 1 });
    }

    #[test]
    fn the_end_is_told_and_what_only_looks_like_a_mark_is_not_one() {
        check(b"aMARMAR\nMARK end\n", "aMARMAR\n", &[(8, Part::End)], Position { file: 3, offset: 18 });
    }
}
