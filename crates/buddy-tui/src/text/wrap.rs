//! Lines broken into rows: at spaces where there are any, between wide characters, and inside a word only where it does
//! not fit into a row of its own. No row is wider than it may be: a character that is wider than a row is shown as a sign.
//!
//! Some terminals show letters that are joined to one, such as a family or a hand with a colour, beside each other. They get
//! the room for that, so that the end of a row is not lost there.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::line::{Line, Span};

/// The narrowest room for text beside an indent; what is narrower gives the indent up.
const LEAST_ROOM: usize = 8;

/// The stand-in for a character that is wider than a row.
const TOO_WIDE: &str = "?";

/// The rows of a line, `width` columns each at most. The first begins with `first`, the others with `next`.
pub(crate) fn wrap(line: &Line, width: usize, first: &Line, next: &Line) -> Vec<Line> {
    let width = width.max(1);
    let has_room = |indent: &Line| indent.width() + LEAST_ROOM.min(width) <= width;
    let none = Line::default();
    let first = if has_room(first) { first.clone() } else { Line::default() };
    let mut rows = Rows::new(width, first, if has_room(next) { next } else { &none });
    for word in words(line) {
        rows.put(word);
    }
    rows.finish()
}

/// The rows of a line, broken exactly where a row is full. Nothing is dropped, as text with a shape of its own needs it.
pub(crate) fn fold(line: &Line, width: usize) -> Vec<Line> {
    let none = Line::default();
    let mut rows = Rows::new(width.max(1), Line::default(), &none);
    for letter in line.graphemes() {
        rows.add(letter);
    }
    rows.finish()
}

/// A word with the spaces before it: it is broken only if it does not fit a row.
#[derive(Default)]
struct Word<'a> {
    spaces: Vec<(&'a str, &'a Span)>,
    letters: Vec<(&'a str, &'a Span)>,
}

fn words(line: &Line) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    let mut word = Word::default();
    for (grapheme, span) in line.graphemes() {
        let is_wide = grapheme.width() > 1;
        let is_space = grapheme == " ";
        let is_new = !word.letters.is_empty() && (is_space || is_wide || ends_wide(&word));
        if is_new {
            words.push(std::mem::take(&mut word));
        }
        if is_space { &mut word.spaces } else { &mut word.letters }.push((grapheme, span));
    }
    words.push(word);
    words
}

fn ends_wide(word: &Word<'_>) -> bool {
    word.letters.last().is_some_and(|(grapheme, _)| grapheme.width() > 1)
}

/// The most columns that a terminal takes for a grapheme.
fn room(grapheme: &str) -> usize {
    let apart: usize = grapheme.chars().filter_map(UnicodeWidthChar::width).sum();
    apart.max(grapheme.width())
}

struct Rows<'a> {
    width: usize,
    next: &'a Line,
    row: Line,
    used: usize,
    done: Vec<Line>,
    /// Nothing but the indent is in the row.
    is_fresh: bool,
}

impl<'a> Rows<'a> {
    fn new(width: usize, row: Line, next: &'a Line) -> Self {
        Self { width, next, used: row.width(), row, done: Vec::new(), is_fresh: true }
    }

    fn put(&mut self, word: Word<'_>) {
        let letters: usize = word.letters.iter().map(|(grapheme, _)| room(grapheme)).sum();
        if !self.is_fresh && self.used + word.spaces.len() + letters > self.width {
            // The spaces at the break stand for it.
            self.turn();
        } else {
            for space in word.spaces {
                self.add(space);
            }
        }
        for letter in word.letters {
            self.add(letter);
        }
    }

    fn add(&mut self, (grapheme, span): (&str, &Span)) {
        if room(grapheme) <= self.width {
            self.add_whole(grapheme, span);
            return;
        }
        // Some scripts join any number of letters to one grapheme.
        for letter in grapheme.chars() {
            let mut bytes = [0; 4];
            let is_narrow = letter.width().unwrap_or(0) <= self.width;
            self.add_whole(if is_narrow { letter.encode_utf8(&mut bytes) } else { TOO_WIDE }, span);
        }
    }

    fn add_whole(&mut self, grapheme: &str, span: &Span) {
        let columns = room(grapheme);
        if self.used + columns > self.width && !self.is_fresh {
            self.turn();
        }
        self.row.extend(grapheme, span);
        self.used += columns;
        self.is_fresh = false;
    }

    fn turn(&mut self) {
        self.done.push(std::mem::replace(&mut self.row, self.next.clone()));
        self.used = self.next.width();
        self.is_fresh = true;
    }

    fn finish(mut self) -> Vec<Line> {
        self.done.push(self.row);
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, width: usize, rows: &[&str]) {
        let none = Line::default();
        let wrapped = wrap(&Line::plain(text), width, &none, &none);
        assert_eq!(wrapped.iter().map(Line::text).collect::<Vec<_>>(), rows);
    }

    #[test]
    fn words_stay_whole_where_they_fit() {
        check("", 10, &[""]);
        check("one two three", 20, &["one two three"]);
        check("one two three", 8, &["one two", "three"]);
        check("one two three", 7, &["one two", "three"]);
        check("abcdefghij", 4, &["abcd", "efgh", "ij"]);
        check("a abcdefghij", 4, &["a", "abcd", "efgh", "ij"]);
        check("  indented text", 10, &["  indented", "text"]);
    }

    #[test]
    fn wide_characters_break_between_each_other_and_never_in_two() {
        check("漢字漢字", 5, &["漢字", "漢字"]);
        check("a漢字", 2, &["a", "漢", "字"]);
        check("漢", 1, &["?"]);
        check("👍🏽👍🏽👍🏽", 8, &["👍🏽👍🏽", "👍🏽"]);
    }

    #[test]
    fn a_fold_keeps_every_space() {
        let rows = fold(&Line::plain("a  b   漢字"), 4);
        assert_eq!(rows.iter().map(Line::text).collect::<Vec<_>>(), ["a  b", "   ", "漢字"]);
    }

    #[test]
    fn indents_lead_each_row() {
        let rows = wrap(&Line::plain("one two three four"), 14, &Line::plain("- "), &Line::plain("  "));
        assert_eq!(rows.iter().map(Line::text).collect::<Vec<_>>(), ["- one two", "  three four"]);
        let rows = wrap(&Line::plain("one"), 6, &Line::plain("        "), &Line::default());
        assert_eq!(rows.iter().map(Line::text).collect::<Vec<_>>(), ["one"]);
    }
}
