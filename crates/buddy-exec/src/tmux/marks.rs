//! Marks in the stream of a pane: pure, and the only place that knows how they look.
//!
//! A mark is `ESC ] 133 ; kind ; nonce ; status BEL`, as terminals know it from prompts, so that they show
//! nothing of it. The nonce of a mark decides whether it is genuine; that check is not made here.

use std::mem::take;

/// The beginning of every mark.
const START: &[u8] = b"\x1b]133;";
/// The end of every mark.
const END: u8 = 7;
/// The longest mark. Longer sequences are text.
const MAX_BYTES: usize = 96;

/// The meaning of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The hooks are set up.
    Ready,
    /// The output of a command begins.
    Begun,
    /// A command has ended, and a prompt follows.
    Prompt,
    /// The shell of the pane ends, with this status.
    Exit,
    /// The shell of the pane may have ended.
    Died,
}

/// A mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) kind: Kind,
    pub(super) nonce: String,
    pub(super) status: Option<i32>,
    /// The mark as it stood in the stream, in case it is not genuine.
    pub(super) raw: Vec<u8>,
}

/// A piece of the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(Vec<u8>),
    Mark(Mark),
}

/// Finds marks in a stream that comes in chunks. Holds back at most one mark.
#[derive(Debug, Default)]
pub(super) struct Marks {
    held: Vec<u8>,
}

impl Marks {
    /// Takes a chunk and returns the pieces that are whole.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Vec<Piece> {
        self.held.extend_from_slice(chunk);
        let stream = take(&mut self.held);
        let mut pieces = Vec::new();
        let mut rest = stream.as_slice();
        let mut text_from = rest;
        while let Some(at) = memchr::memchr(START[0], rest) {
            let candidate = rest.get(at..).unwrap_or_default();
            match read(candidate) {
                Read::Mark(mark) => {
                    let before = text_from.len() - candidate.len();
                    text(&mut pieces, text_from.get(..before).unwrap_or_default());
                    rest = candidate.get(mark.raw.len()..).unwrap_or_default();
                    text_from = rest;
                    pieces.push(Piece::Mark(mark));
                }
                Read::Unfinished => {
                    let before = text_from.len() - candidate.len();
                    text(&mut pieces, text_from.get(..before).unwrap_or_default());
                    self.held = candidate.to_vec();
                    return pieces;
                }
                Read::Text => rest = candidate.get(1..).unwrap_or_default(),
            }
        }
        text(&mut pieces, text_from);
        pieces
    }
}

fn text(pieces: &mut Vec<Piece>, bytes: &[u8]) {
    if !bytes.is_empty() {
        pieces.push(Piece::Text(bytes.to_vec()));
    }
}

enum Read {
    Mark(Mark),
    /// It may become a mark.
    Unfinished,
    Text,
}

fn read(candidate: &[u8]) -> Read {
    let shared = candidate.len().min(START.len());
    if candidate.get(..shared) != START.get(..shared) {
        return Read::Text;
    }
    let window = candidate.get(..candidate.len().min(MAX_BYTES)).unwrap_or_default();
    match memchr::memchr(END, window) {
        Some(end) => {
            let raw = candidate.get(..=end).unwrap_or_default();
            parse(raw).map_or(Read::Text, Read::Mark)
        }
        None if candidate.len() < MAX_BYTES => Read::Unfinished,
        None => Read::Text,
    }
}

fn parse(raw: &[u8]) -> Option<Mark> {
    let body = raw.get(START.len()..raw.len().checked_sub(1)?)?;
    let body = std::str::from_utf8(body).ok()?;
    // A mark that was cut off by another is none; that other one is looked at next.
    if body.contains('\x1b') {
        return None;
    }
    let mut fields = body.split(';');
    let kind = match fields.next()? {
        "S" => Kind::Ready,
        "C" => Kind::Begun,
        "D" => Kind::Prompt,
        "E" => Kind::Exit,
        "X" => Kind::Died,
        _ => return None,
    };
    let nonce = fields.next().unwrap_or_default().to_owned();
    let status = fields.next().and_then(|status| status.parse().ok());
    Some(Mark { kind, nonce, status, raw: raw.to_vec() })
}

/// Undoes the terminal's change to the ends of lines: each line feed of a program comes as carriage return
/// and line feed.
#[derive(Debug, Default)]
pub(super) struct LineEnds {
    is_return_held: bool,
}

impl LineEnds {
    pub(super) fn push(&mut self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len() + 1);
        for &byte in text {
            if take(&mut self.is_return_held) && byte != b'\n' {
                out.push(b'\r');
            }
            if byte == b'\r' {
                self.is_return_held = true;
            } else {
                out.push(byte);
            }
        }
        out
    }

    /// The bytes still held at the end of the stream.
    pub(super) fn finish(&mut self) -> &'static [u8] {
        if take(&mut self.is_return_held) { b"\r" } else { b"" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = (Kind, String, Option<i32>);

    /// The text and the marks, with the marks by kind, nonce and status.
    fn check(stream: &[u8], step: usize) -> (Vec<u8>, Vec<Found>) {
        let mut marks = Marks::default();
        let (mut text, mut found) = (Vec::new(), Vec::new());
        for chunk in stream.chunks(step) {
            for piece in marks.push(chunk) {
                match piece {
                    Piece::Text(bytes) => text.extend(bytes),
                    Piece::Mark(mark) => found.push((mark.kind, mark.nonce, mark.status)),
                }
            }
        }
        (text, found)
    }

    #[test]
    fn marks_are_found_however_the_stream_is_cut() {
        let stream = b"a\x1b[1mb\x1b]133;C;n1\x07out\r\n\x1b]133;D;n1;42\x07$ \x1b]0;title\x07";
        for step in 1..=stream.len() {
            let (text, marks) = check(stream, step);
            assert_eq!(text, b"a\x1b[1mbout\r\n$ \x1b]0;title\x07", "{step}");
            assert_eq!(marks, [(Kind::Begun, "n1".into(), None), (Kind::Prompt, "n1".into(), Some(42))]);
        }
    }

    #[test]
    fn near_marks_are_text() {
        for fake in [
            &b"\x1b]133;Z;n\x07"[..],
            b"\x1b]134;D;n;0\x07",
            b"]133;D;n;0\x07",
            b"\x1b]133;\xff\xfe\x07",
            &[b"\x1b]133;D;".as_slice(), &[b'x'; 200], b"\x07"].concat(),
            &b"\x1b\x1b\x1b]13\x07"[..],
        ] {
            for step in [1, 3, 500] {
                assert_eq!(check(&[fake, b"end"].concat(), step), ([fake, b"end"].concat(), vec![]));
            }
        }
    }

    #[test]
    fn a_mark_right_after_a_broken_one_is_found() {
        let (text, marks) = check(b"\x1b]133;\x1b]133;D;n;0\x07", 4);
        assert_eq!((text.as_slice(), marks.len()), (&b"\x1b]133;"[..], 1));
    }

    #[test]
    fn line_ends_come_back_as_they_were_written() {
        for written in ["a\nb\n", "a\r\nb", "\r\r\n\n", "progress\r50%\r", "", "\r"] {
            let shown = written.replace('\n', "\r\n");
            for step in 1..=shown.len().max(1) {
                let mut ends = LineEnds::default();
                let mut back: Vec<u8> =
                    shown.as_bytes().chunks(step).flat_map(|chunk| ends.push(chunk)).collect();
                back.extend(ends.finish());
                assert_eq!(back, written.as_bytes(), "{written:?} in steps of {step}");
            }
        }
    }
}
