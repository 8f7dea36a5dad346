//! A text of one or more lines, with a cursor between its letters. A letter is one to the reader: it can be several characters.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// A text and a cursor, which always stands at the boundary of a character.
#[derive(Debug, Default)]
pub(super) struct TextBuffer {
    text: String,
    cursor: usize,
}

impl TextBuffer {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Where the cursor is, in bytes.
    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    /// The text before the cursor.
    pub(super) fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    /// The text behind the cursor.
    pub(super) fn after(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    /// Puts another text in the place of this one, with the cursor at its end.
    pub(super) fn set(&mut self, text: String) {
        self.cursor = text.len();
        self.text = text;
    }

    /// Puts the cursor somewhere: at the last boundary up to this place.
    pub(super) fn go(&mut self, place: usize) {
        self.cursor = self.text.floor_char_boundary(place);
    }

    /// Types a character. The cursor goes behind the letter that it belongs to now.
    pub(super) fn insert_char(&mut self, character: char) {
        self.text.insert(self.cursor, character);
        self.right();
    }

    pub(super) fn insert_text(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Puts a text in the place of a part, with the cursor behind it.
    pub(super) fn replace(&mut self, part: Range<usize>, text: &str) {
        if self.text.get(part.clone()).is_some() {
            self.cursor = part.start + text.len();
            self.text.replace_range(part, text);
        }
    }

    pub(super) fn left(&mut self) {
        self.cursor = self.left_place();
    }

    pub(super) fn right(&mut self) {
        self.cursor = self.right_place();
    }

    pub(super) fn remove_left(&mut self) {
        self.replace(self.left_place()..self.cursor, "");
    }

    pub(super) fn remove_right(&mut self) {
        self.replace(self.cursor..self.right_place(), "");
    }

    pub(super) fn line_start(&mut self) {
        self.cursor = self.line_start_place();
    }

    pub(super) fn line_end(&mut self) {
        self.cursor += line_length(self.after());
    }

    /// One line up, to the same column or to the end of a shorter line. False on the first line.
    pub(super) fn line_up(&mut self) -> bool {
        let start = self.line_start_place();
        let Some(above) = start.checked_sub(1).and_then(|end| self.text.get(..end)) else { return false };
        let above_start = above.rfind('\n').map_or(0, |at| at + 1);
        self.cursor = above_start + self.column_place(above_start);
        true
    }

    /// One line down. False on the last line.
    pub(super) fn line_down(&mut self) -> bool {
        let Some(at) = self.after().find('\n') else { return false };
        let below_start = self.cursor + at + 1;
        self.cursor = below_start + self.column_place(below_start);
        true
    }

    /// How far the cursor's column is from the start of a line.
    fn column_place(&self, line_start: usize) -> usize {
        let own_line = self.text.get(self.line_start_place()..self.cursor).unwrap_or_default();
        let column = own_line.graphemes(true).count();
        let line = self.text.get(line_start..).unwrap_or_default();
        let line = line.get(..line_length(line)).unwrap_or_default();
        line.grapheme_indices(true).nth(column).map_or(line.len(), |(at, _)| at)
    }

    fn left_place(&self) -> usize {
        self.before().grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn right_place(&self) -> usize {
        self.cursor + self.after().graphemes(true).next().map_or(0, str::len)
    }

    fn line_start_place(&self) -> usize {
        self.before().rfind('\n').map_or(0, |at| at + 1)
    }
}

/// The bytes of the first line of a text, without its end: a text from elsewhere can have lines that end in two characters.
fn line_length(text: &str) -> usize {
    let line = text.split('\n').next().unwrap_or_default();
    if line.len() < text.len() { line.strip_suffix('\r').unwrap_or(line).len() } else { line.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes a step from where `|` stands, and compares where it stands then.
    #[track_caller]
    fn check(before: &str, step: impl FnOnce(&mut TextBuffer), after: &str) {
        let mut buffer = TextBuffer::default();
        buffer.set(before.replace('|', ""));
        buffer.go(before.find('|').unwrap());
        step(&mut buffer);
        assert_eq!(format!("{}|{}", buffer.before(), buffer.after()), after);
    }

    #[test]
    fn a_letter_is_one_step_however_many_characters_it_has() {
        check("a👩‍👩‍👧|b", TextBuffer::left, "a|👩‍👩‍👧b");
        check("a|👩‍👩‍👧b", TextBuffer::right, "a👩‍👩‍👧|b");
        check("|e\u{301}a", TextBuffer::remove_right, "|a");
        check("e|", |buffer| buffer.insert_char('\u{301}'), "e\u{301}|");
        check("a|\u{301}", |buffer| buffer.insert_char('e'), "ae\u{301}|");
        check("|", TextBuffer::left, "|");
        check("|", TextBuffer::remove_left, "|");
        check("a|", TextBuffer::remove_right, "a|");
    }

    #[test]
    fn a_column_is_kept_from_line_to_line() {
        let up = |buffer: &mut TextBuffer| assert!(buffer.line_up());
        let down = |buffer: &mut TextBuffer| assert!(buffer.line_down());
        check("漢字\nab|c", up, "漢字|\nabc");
        check("漢字x|\nabc", down, "漢字x\nabc|");
        check("long line|\nab\nc", down, "long line\nab|\nc");
        check("a\n\nb|", up, "a\n|\nb");
        check("a\r\nbcd|", up, "a|\r\nbcd");
        check("a|b", |buffer| assert!(!buffer.line_up() && !buffer.line_down()), "a|b");
    }

    #[test]
    fn a_line_has_two_ends() {
        check("a\nb|c\nd", TextBuffer::line_start, "a\n|bc\nd");
        check("a\nb|c\nd", TextBuffer::line_end, "a\nbc|\nd");
        check("a\nb|c\r\nd", TextBuffer::line_end, "a\nbc|\r\nd");
        check("a|b\r", TextBuffer::line_end, "ab\r|");
    }

    #[test]
    fn no_place_is_inside_a_character() {
        check("a漢|", |buffer| buffer.go(2), "a|漢");
        check("ab|", |buffer| buffer.go(99), "ab|");
        check("ab|", |buffer| buffer.replace(1..99, "x"), "ab|");
    }
}
