//! Finds the private lines in the streams of a call, and passes on the rest byte for byte. Pure.

use crate::mark::{Sight, look_for};

/// The most bytes that are kept from before the first mark.
const NOISE_BYTES: usize = 4 * 1024;
/// The longest private line.
const LINE_BYTES: usize = 1024;

/// The content of a private line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    /// The command runs.
    Started,
    /// It was not started: the obstacle, and the error.
    Refused { what: String, how: String },
    /// All its processes are gone.
    Exited { code: i32, signal: i32, leftovers: u32, survivors: u32, was_stopped: bool },
    /// A line that cannot be parsed.
    Garbled,
}

/// One stream: private lines in it, and the command's own output between them.
#[derive(Debug)]
pub(super) struct Marks {
    start: Vec<u8>,
    end: Vec<u8>,
    held: Vec<u8>,
    place: MarkPlace,
    noise: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkPlace {
    Before,
    Within,
    After,
}

impl Marks {
    pub(super) fn new(start: &str, end: &str) -> Self {
        let (start, end) = (start.as_bytes().to_vec(), end.as_bytes().to_vec());
        Self { start, end, held: Vec::new(), place: MarkPlace::Before, noise: Vec::new() }
    }

    /// The text before the first mark, for people: messages of the client itself.
    pub(super) fn noise(&self) -> String {
        let said =
            [self.noise.as_slice(), if self.place == MarkPlace::Before { &self.held } else { &[] }].concat();
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Whether the last private line came, after which no output is the command's.
    pub(super) fn is_over(&self) -> bool {
        self.place == MarkPlace::After
    }

    /// Takes bytes, gives the command's output to `pass`, and returns the private lines.
    pub(super) fn take(&mut self, bytes: &[u8], mut pass: impl FnMut(&[u8])) -> Vec<Word> {
        let mut words = Vec::new();
        self.held.extend_from_slice(bytes);
        loop {
            let mark = match self.place {
                MarkPlace::Before => &self.start,
                MarkPlace::Within => &self.end,
                MarkPlace::After => {
                    self.held.clear();
                    return words;
                }
            };
            let at = match look_for(mark, &self.held) {
                Sight::At(at) => at,
                Sight::NotBefore(done) => {
                    self.release(done, &mut pass);
                    return words;
                }
            };
            let line_at = at + mark.len();
            let rest = self.held.get(line_at..).unwrap_or_default();
            let Some(length) = rest.iter().position(|&byte| byte == b'\n') else {
                if rest.len() > LINE_BYTES {
                    self.place = MarkPlace::After;
                    words.push(Word::Garbled);
                }
                self.release(at, &mut pass);
                return words;
            };
            let word = parse(rest.get(..length).unwrap_or_default());
            self.release(at, &mut pass);
            self.held.drain(..=line_at - at + length);
            self.place = if word == Word::Started { MarkPlace::Within } else { MarkPlace::After };
            words.push(word);
        }
    }

    /// The end of the stream: bytes that were held back in case they were a mark are the command's
    /// own.
    pub(super) fn finish(&mut self, mut pass: impl FnMut(&[u8])) {
        let held = self.held.len();
        self.release(held, &mut pass);
    }

    fn release(&mut self, count: usize, pass: &mut impl FnMut(&[u8])) {
        let bytes: Vec<u8> = self.held.drain(..count).collect();
        match self.place {
            MarkPlace::Before => {
                let room = NOISE_BYTES.saturating_sub(self.noise.len());
                self.noise.extend(bytes.iter().take(room));
            }
            MarkPlace::Within if !bytes.is_empty() => pass(&bytes),
            MarkPlace::Within | MarkPlace::After => {}
        }
    }
}

fn parse(line: &[u8]) -> Word {
    let text = String::from_utf8_lossy(line);
    let (what, rest) = text.split_once(' ').unwrap_or((&text, ""));
    if what == "started" {
        return Word::Started;
    }
    if what != "exited" {
        return Word::Refused { what: what.to_owned(), how: rest.to_owned() };
    }
    let numbers: Vec<i32> = rest.split(' ').filter_map(|word| word.parse().ok()).collect();
    match numbers.as_slice() {
        &[code, signal, leftovers, survivors, stopped] => Word::Exited {
            code,
            signal,
            leftovers: u32::try_from(leftovers).unwrap_or(0),
            survivors: u32::try_from(survivors).unwrap_or(0),
            was_stopped: stopped == 1,
        },
        _ => Word::Garbled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &[u8] = b"motd\nSTARTstarted 42\nerr STARTX ENX\nENDexited 3 0 1 0 1\nlater";

    /// Feeds the stream in pieces of every size: the result must not depend on how it is cut.
    #[test]
    fn lines_are_found_however_the_stream_is_cut() {
        for size in 1..STREAM.len() {
            let mut marks = Marks::new("START", "END");
            let (mut passed, mut words) = (Vec::new(), Vec::new());
            for piece in STREAM.chunks(size) {
                words.extend(marks.take(piece, |bytes| passed.extend_from_slice(bytes)));
            }
            marks.finish(|bytes| passed.extend_from_slice(bytes));
            assert_eq!(String::from_utf8_lossy(&passed), "err STARTX ENX\n", "{size}");
            let exited = Word::Exited { code: 3, signal: 0, leftovers: 1, survivors: 0, was_stopped: true };
            assert_eq!(words, [Word::Started, exited], "{size}");
            assert_eq!(marks.noise(), "motd\n");
        }
    }

    #[test]
    fn a_refusal_ends_it() {
        let mut marks = Marks::new("START", "END");
        let words = marks.take(b"STARTprogram missing\nSTARTstarted 1\n", |_| panic!("nothing is passed"));
        assert_eq!(words, [Word::Refused { what: "program".into(), how: "missing".into() }]);
    }

    #[test]
    fn near_marks_are_passed_on_at_the_end() {
        let mut marks = Marks::new("START", "END");
        let mut passed = Vec::new();
        marks.take(b"STARTstarted 1\nxEN", |bytes| passed.extend_from_slice(bytes));
        marks.finish(|bytes| passed.extend_from_slice(bytes));
        assert_eq!(passed, b"xEN");
    }
}
