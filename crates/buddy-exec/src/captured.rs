//! The captured part of one output stream: its beginning, its end, and its length.

use crate::tail::{Tail, head_cut, tail_cut};

/// The beginning and the end of an output stream.
///
/// When no bytes were left out, `head` and `tail` follow each other without a gap. Otherwise neither of them
/// begins or ends inside a UTF-8 character at the gap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The last bytes, without those that are already in `head`.
    pub tail: Vec<u8>,
    /// Bytes that the command wrote in all.
    pub total: u64,
    /// Lines that the command wrote in all; one without an end counts.
    pub lines: u64,
}

impl Captured {
    /// Bytes that are in neither part.
    pub fn omitted(&self) -> u64 {
        self.total.saturating_sub((self.head.len() + self.tail.len()) as u64)
    }

    /// Both parts as text, with a line between them that says how much was left out. Bytes that are not UTF-8
    /// are replaced by U+FFFD.
    pub fn text(&self) -> String {
        let omitted = self.omitted();
        if omitted == 0 {
            let whole = [self.head.as_slice(), self.tail.as_slice()].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(&self.tail);
        format!("{head}{}{tail}", gap_line(omitted))
    }
}

/// The line that stands for omitted bytes, in texts and in logs.
pub(crate) fn gap_line(bytes: u64) -> String {
    format!("\n… {bytes} bytes left out …\n")
}

/// A [`Captured`] in the making.
#[derive(Debug)]
pub(crate) struct Capture {
    head: Vec<u8>,
    head_cap: usize,
    tail: Tail,
    total: u64,
    line_ends: u64,
    /// Whether the last line has no end yet.
    is_open: bool,
}

impl Capture {
    pub(crate) fn new(keep_head: usize, keep_tail: usize) -> Self {
        Self {
            head: Vec::new(),
            head_cap: keep_head,
            tail: Tail::new(keep_tail),
            total: 0,
            line_ends: 0,
            is_open: false,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.line_ends += bytes.split(|byte| *byte == b'\n').count().saturating_sub(1) as u64;
        self.is_open = bytes.last().map_or(self.is_open, |byte| *byte != b'\n');
        let into_head = bytes.len().min(self.head_cap - self.head.len());
        let (head, rest) = bytes.split_at(into_head);
        self.head.extend_from_slice(head);
        self.tail.push(rest);
    }

    pub(crate) fn finish(self) -> Captured {
        let lines = self.line_ends + u64::from(self.is_open);
        let mut captured = Captured { head: self.head, tail: self.tail.into_vec(), total: self.total, lines };
        if captured.omitted() > 0 {
            let keep = head_cut(&captured.head, captured.head.len());
            captured.head.truncate(keep);
            let skip = tail_cut(&captured.tail);
            captured.tail.drain(..skip);
        }
        captured
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(keep_head: usize, keep_tail: usize, pushes: &[&[u8]]) -> Captured {
        let mut capture = Capture::new(keep_head, keep_tail);
        for push in pushes {
            capture.push(push);
        }
        capture.finish()
    }

    #[test]
    fn short_output_is_whole() {
        let captured = capture(4, 4, &[b"abc", b"def"]);
        assert_eq!((captured.text().as_str(), captured.omitted()), ("abcdef", 0));
    }

    #[test]
    fn a_character_across_the_seam_is_whole_when_nothing_is_omitted() {
        assert_eq!(capture(2, 4, &["a€b".as_bytes()]).text(), "a€b");
    }

    #[test]
    fn the_middle_is_left_out_and_counted() {
        let captured = capture(2, 3, &[b"0123", b"456789"]);
        assert_eq!(captured.text(), "01\n… 5 bytes left out …\n789");
        assert_eq!((captured.omitted(), captured.total), (5, 10));
    }

    #[test]
    fn lines_that_are_left_out_are_counted() {
        let lines = |pushes: &[&[u8]]| capture(2, 2, pushes).lines;
        assert_eq!(
            [lines(&[]), lines(&[b"a"]), lines(&[b"a", b"\n"]), lines(&[b"a\nb\n", b"c\nd"])],
            [0, 1, 1, 4]
        );
    }

    #[test]
    fn no_character_is_split_at_either_cut() {
        let captured = capture(4, 4, &["€€".as_bytes(), "xxxxxxxx".as_bytes(), "€€".as_bytes()]);
        assert_eq!(captured.text(), "€\n… 14 bytes left out …\n€");
    }

    #[test]
    fn invalid_bytes_are_replaced_and_the_rest_is_kept() {
        let captured = capture(64, 0, &[b"a\xFF\xFEb", b"\xE2\x82", b"\xAC"]);
        assert_eq!(captured.text(), "a\u{FFFD}\u{FFFD}b€");
    }

    #[test]
    fn nothing_kept_is_still_counted() {
        let captured = capture(0, 0, &[b"abc"]);
        assert_eq!(captured.omitted(), 3);
    }
}
