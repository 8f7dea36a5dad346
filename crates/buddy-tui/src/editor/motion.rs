//! Ways over a text, as vim has them. Pure: a text and a place in it in, another place out.

use unicode_segmentation::UnicodeSegmentation;

/// A way to another place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Motion {
    Left,
    Right,
    /// To the start of the next word.
    Word,
    /// To the start of this word, or of the one before.
    WordBack,
    /// To the last letter of this word, or of the next one.
    WordEnd,
    LineStart,
    /// To the first letter of the line that is no space.
    FirstLetter,
    LineEnd,
}

impl Motion {
    /// The motion of a letter.
    pub(super) fn named(letter: char) -> Option<Self> {
        Some(match letter {
            'h' => Self::Left,
            'l' | ' ' => Self::Right,
            'w' => Self::Word,
            'b' => Self::WordBack,
            'e' => Self::WordEnd,
            '0' => Self::LineStart,
            '^' => Self::FirstLetter,
            '$' => Self::LineEnd,
            _ => return None,
        })
    }

    /// The place that it leads to.
    pub(super) fn from(self, text: &str, at: usize) -> usize {
        match self {
            Self::Left if at == line_start(text, at) => at,
            Self::Left => previous(text, at),
            Self::Right => next(text, at).min(line_end(text, at)),
            Self::Word => {
                let end = run_end(text, at);
                end + text.get(end..).map_or(0, |rest| rest.len() - rest.trim_start().len())
            }
            Self::WordBack => {
                let before = text.get(..at).unwrap_or_default().trim_end();
                let last = before.graphemes(true).next_back().map(kind);
                before
                    .grapheme_indices(true)
                    .rev()
                    .take_while(|(_, letter)| Some(kind(letter)) == last)
                    .last()
                    .map_or(0, |(place, _)| place)
            }
            Self::WordEnd => {
                let beyond = next(text, at);
                let rest = text.get(beyond..).unwrap_or_default();
                let start = beyond + rest.len() - rest.trim_start().len();
                if start == text.len() { at } else { previous(text, run_end(text, start)) }
            }
            Self::LineStart => line_start(text, at),
            Self::FirstLetter => {
                let (start, end) = (line_start(text, at), line_end(text, at));
                let line = text.get(start..end).unwrap_or_default();
                start + line.len() - line.trim_start().len()
            }
            Self::LineEnd => line_end(text, at),
        }
    }

    /// The range that a motion covers, from and to. The last letter of a word is part of it.
    pub(super) fn over(self, text: &str, at: usize) -> (usize, usize) {
        let to = self.from(text, at);
        match self {
            Self::WordEnd => (at, next(text, to)),
            // A word at the end of its line is cut without the end of the line.
            Self::Word => (at, to.min(line_end(text, at)).max(at)),
            _ => (at.min(to), at.max(to)),
        }
    }
}

/// Where the line starts that a place is in.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |place| place + 1)
}

/// Where the line ends that a place is in.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|after| after.find('\n')).map_or(text.len(), |place| at + place)
}

/// The place behind the character at a place.
pub(super) fn next(text: &str, at: usize) -> usize {
    at + text.get(at..).and_then(|after| after.graphemes(true).next()).map_or(0, str::len)
}

/// The place of the character before a place.
pub(super) fn previous(text: &str, at: usize) -> usize {
    at - text.get(..at).and_then(|before| before.graphemes(true).next_back()).map_or(0, str::len)
}

/// The class of a character: words are letters, or signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LetterKind {
    Space,
    Letter,
    Sign,
}

fn kind(character: &str) -> LetterKind {
    match character.chars().next() {
        Some(first) if first.is_whitespace() => LetterKind::Space,
        Some(first) if first.is_alphanumeric() || first == '_' => LetterKind::Letter,
        _ => LetterKind::Sign,
    }
}

/// Where the characters of one kind end that begin at a place.
fn run_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let first = rest.graphemes(true).next().map(kind);
    let run = rest.graphemes(true).take_while(|letter| Some(kind(letter)) == first);
    at + run.map(str::len).sum::<usize>()
}
