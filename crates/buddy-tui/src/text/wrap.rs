//! Lines broken into rows: at spaces where there are any, between wide characters, and inside a word only where it does
//! not fit into a row of its own. No row is wider than it may be: a character that is wider than a row is shown as a sign.
//!
//! A command to copy is like a word, spaces and all. Where it does not fit beside its sentence, it has a row of its own, without quotes. It breaks
//! only where a row is full, and nothing else is in its rows.
//!
//! Some terminals show letters that are joined to one, such as a family or a hand with a colour, beside each other. They get
//! the room for that, so that the end of a row is not lost there.

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::line::{Span, StyledLine};

/// The narrowest room for text beside an indent; what is narrower gives the indent up.
const LEAST_ROOM: usize = 8;

/// The last column in which the text of a printed line begins.
const LAST_TEXT_COLUMN: usize = 16;

/// The indent of a command that has no room for a wider one.
const SMALL_INDENT: &str = "  ";

/// Signs that end a sentence or a part of it. Behind a command with a row of its own the row does that.
const STOPS: [&str; 4] = [".", ",", ";", ":"];

/// The stand-in for a character that is wider than a row.
const TOO_WIDE: &str = "?";

/// The rows of a line, `width` columns each at most. The first begins with `first`, the others with `next`.
pub(crate) fn wrap(
    line: &StyledLine,
    width: usize,
    first: &StyledLine,
    next: &StyledLine,
) -> Vec<StyledLine> {
    let width = width.max(1);
    let has_room = |indent: &StyledLine| indent.width() + LEAST_ROOM.min(width) <= width;
    let none = StyledLine::default();
    let first = if has_room(first) { first.clone() } else { StyledLine::default() };
    rows_of(line, Rows::new(width, first, if has_room(next) { next } else { &none }))
}

fn rows_of(line: &StyledLine, mut rows: Rows<'_>) -> Vec<StyledLine> {
    for word in words(line) {
        rows.put(word);
    }
    rows.finish()
}

/// The rows of a line without an indent.
pub(crate) fn wrap_unindented(line: &StyledLine, width: usize) -> Vec<StyledLine> {
    let none = StyledLine::default();
    wrap(line, width, &none, &none)
}

/// The rows of a line, broken exactly where a row is full. Nothing is dropped, as text with a shape of its own needs it.
pub(crate) fn fold(line: &StyledLine, width: usize) -> Vec<StyledLine> {
    let none = StyledLine::default();
    let mut rows = Rows::new(width.max(1), StyledLine::default(), &none);
    for letter in line.graphemes() {
        rows.add(letter);
    }
    rows.finish()
}

/// The rows of a text for people: each of its lines is wrapped. The first row begins with `first`, all others with `next`.
pub(crate) fn wrap_text(
    text: &str,
    style: Style,
    width: usize,
    first: &StyledLine,
    next: &StyledLine,
) -> Vec<StyledLine> {
    wrap_lines(text.lines().map(|line| StyledLine::styled(line, style)), width, first, next)
}

/// The rows of a text that names commands to copy, else as [`wrap_text`] has them.
pub(crate) fn tell_text(
    text: &str,
    style: Style,
    width: usize,
    first: &StyledLine,
    next: &StyledLine,
) -> Vec<StyledLine> {
    wrap_lines(text.lines().map(|line| StyledLine::sentence(line, style)), width, first, next)
}

fn wrap_lines(
    lines: impl Iterator<Item = StyledLine>,
    width: usize,
    first: &StyledLine,
    next: &StyledLine,
) -> Vec<StyledLine> {
    let mut rows = Vec::new();
    for line in lines {
        let lead = if rows.is_empty() { first } else { next };
        rows.extend(wrap(&line, width, lead, next));
    }
    rows
}

/// The treatment of a command to copy that is wider than the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overlong {
    /// It is broken where a row is full.
    Broken,
    /// It stays one line: the terminal breaks it, and joins it again for whoever copies it.
    Whole,
}

/// The rows of lines that are printed one below the other. Rows that follow from one line are indented to its text.
pub(crate) fn wrap_printed(text: &str, width: usize, overlong: Overlong) -> Vec<StyledLine> {
    let rows = |line: &str| {
        let (width, next) = (width.max(1), find_hanging_indent(line));
        let has_room = next.width() + LEAST_ROOM.min(width) <= width;
        let next = if has_room { next } else { StyledLine::default() };
        let rows = Rows { overlong, ..Rows::new(width, StyledLine::default(), &next) };
        rows_of(&StyledLine::sentence(line, Style::new()), rows)
    };
    text.split('\n').flat_map(rows).collect()
}

/// The indent of the rows that follow from one line: up to its text.
pub(crate) fn find_hanging_indent(line: &str) -> StyledLine {
    StyledLine::plain(&" ".repeat(text_column(line)))
}

/// The column in which the text of a line begins: behind its indent and, in a list, behind its name or key.
fn text_column(line: &str) -> usize {
    let indent = line.chars().take_while(|letter| *letter == ' ').count();
    let mut spaces = 0;
    let letters =
        line.chars().enumerate().skip(indent).take(LAST_TEXT_COLUMN + 1 - indent.min(LAST_TEXT_COLUMN));
    for (column, letter) in letters {
        if letter != ' ' && spaces > 1 {
            return column;
        }
        spaces = if letter == ' ' { spaces + 1 } else { 0 };
    }
    indent
}

/// A text in about as many rows as there is room for.
pub(crate) struct ShortenedText {
    /// The first rows.
    pub(crate) head: Vec<StyledLine>,
    /// How many rows were left out behind them.
    pub(crate) left_out: usize,
    /// The last rows: the last sentence, if rows were left out.
    pub(crate) tail: Vec<StyledLine>,
}

/// Wraps a text to `most` rows, one of which is for a note that rows are missing. The last sentence says what to do next, so it stays
/// whole however many rows it needs; the rows before it are left out.
pub(crate) fn shorten_text(
    text: &str,
    style: Style,
    width: usize,
    (first, next): (&StyledLine, &StyledLine),
    most: usize,
) -> ShortenedText {
    let text = text.trim_end();
    let rows = tell_text(text, style, width, first, next);
    let (cause, step) = text.split_at(last_sentence(text));
    let mut head = tell_text(cause.trim_end(), style, width, first, next);
    if rows.len() <= most || head.is_empty() {
        return ShortenedText { head: rows, left_out: 0, tail: Vec::new() };
    }
    let tail = tell_text(step, style, width, next, next);
    let kept = most.saturating_sub(tail.len() + 1).max(1);
    // A note that one row is missing would take its place.
    let left_out = if head.len() <= kept + 1 { 0 } else { head.len() - kept };
    head.truncate(head.len() - left_out);
    ShortenedText { head, left_out, tail }
}

/// Where the last sentence of a text begins: on its last line, or else behind the last full stop or semicolon that is not in a quotation.
fn last_sentence(text: &str) -> usize {
    if let Some(end) = text.rfind('\n') {
        return end + 1;
    }
    let mut is_quoted = false;
    let mut begin = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((_, letter)) = letters.next() {
        is_quoted ^= letter == '`';
        if let (false, '.' | ';', Some((space, ' '))) = (is_quoted, letter, letters.peek()) {
            begin = space + 1;
        }
    }
    begin
}

/// A word with the spaces before it: it is broken only if it does not fit a row.
#[derive(Default)]
struct WrapWord<'a> {
    spaces: Vec<(&'a str, &'a Span)>,
    letters: Vec<(&'a str, &'a Span)>,
    /// The signs right behind a command to copy.
    tail: Vec<(&'a str, &'a Span)>,
    is_copied: bool,
}

fn words(line: &StyledLine) -> Vec<WrapWord<'_>> {
    let mut words: Vec<WrapWord<'_>> = Vec::new();
    let mut word = WrapWord::default();
    for (grapheme, span) in line.graphemes() {
        let is_wide = grapheme.width() > 1;
        let is_space = grapheme == " " && !span.is_copied();
        let goes_on = span.is_copied() == word.is_copied;
        let is_tail = word.is_copied && !span.is_copied() && !is_space;
        let is_broken = !word.is_copied && (is_wide || ends_wide(&word));
        if !word.letters.is_empty() && !is_tail && (is_space || is_broken || !goes_on) {
            words.push(std::mem::take(&mut word));
        }
        word.is_copied |= span.is_copied();
        let part = match (is_space, is_tail) {
            (true, _) => &mut word.spaces,
            (_, true) => &mut word.tail,
            _ => &mut word.letters,
        };
        part.push((grapheme, span));
    }
    words.push(word);
    words
}

fn ends_wide(word: &WrapWord<'_>) -> bool {
    word.letters.last().is_some_and(|(grapheme, _)| grapheme.width() > 1)
}

/// The most columns that a terminal takes for a grapheme.
fn room(grapheme: &str) -> usize {
    let apart: usize = grapheme.chars().filter_map(UnicodeWidthChar::width).sum();
    apart.max(grapheme.width())
}

fn room_of(letters: &[(&str, &Span)]) -> usize {
    letters.iter().map(|(grapheme, _)| room(grapheme)).sum()
}

struct Rows<'a> {
    width: usize,
    next: &'a StyledLine,
    row: StyledLine,
    used: usize,
    done: Vec<StyledLine>,
    /// Nothing but the indent is in the row.
    is_fresh: bool,
    /// A command has the row for itself.
    is_taken: bool,
    overlong: Overlong,
}

impl<'a> Rows<'a> {
    fn new(width: usize, row: StyledLine, next: &'a StyledLine) -> Self {
        let (done, used) = (Vec::new(), row.width());
        Self { width, next, used, row, done, is_fresh: true, is_taken: false, overlong: Overlong::Broken }
    }

    fn put(&mut self, word: WrapWord<'_>) {
        let letters = room_of(&word.letters) + room_of(&word.tail);
        let is_over = self.used + word.spaces.len() + letters > self.width;
        if word.is_copied && is_over {
            return self.put_alone(word);
        }
        if self.is_taken && letters == 0 {
            return;
        }
        if self.is_taken || !self.is_fresh && is_over {
            // The spaces at the break stand for it.
            self.turn();
        } else {
            for space in word.spaces {
                self.add(space);
            }
        }
        for letter in word.letters.into_iter().chain(word.tail) {
            self.add(letter);
        }
    }

    /// Puts a command on a row of its own, without quotes.
    fn put_alone(&mut self, word: WrapWord<'_>) {
        let mut letters = word.letters.as_slice();
        if let [("`", _), inner @ .., ("`", _)] = letters {
            letters = inner;
        }
        let wanted = room_of(letters);
        let is_blank = self.row.text().trim().is_empty();
        if !self.is_fresh || !is_blank {
            self.turn();
        }
        // Rather without its indent than broken.
        if self.used + wanted > self.width {
            let has_room = SMALL_INDENT.len() < self.used && SMALL_INDENT.len() + wanted <= self.width;
            self.row = StyledLine::plain(if has_room { SMALL_INDENT } else { "" });
            self.used = self.row.width();
        }
        for (grapheme, span) in letters {
            if self.overlong == Overlong::Broken && self.used + room(grapheme) > self.width && self.used > 0 {
                self.done.push(std::mem::take(&mut self.row));
                self.used = 0;
            }
            self.row.extend(grapheme, span);
            self.used += room(grapheme);
        }
        (self.is_fresh, self.is_taken) = (false, true);
        let is_stop = |(grapheme, _): &(&str, &Span)| STOPS.contains(grapheme);
        if !word.tail.iter().all(is_stop) {
            self.turn();
            word.tail.into_iter().for_each(|letter| self.add(letter));
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
        (self.is_fresh, self.is_taken) = (true, false);
    }

    fn finish(mut self) -> Vec<StyledLine> {
        self.done.push(self.row);
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, width: usize, rows: &[&str]) {
        let none = StyledLine::default();
        let wrapped = wrap(&StyledLine::plain(text), width, &none, &none);
        assert_eq!(wrapped.iter().map(StyledLine::text).collect::<Vec<_>>(), rows);
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
    fn the_last_sentence_stays_and_rows_before_it_go() {
        let check = |text: &str, most, head: &[&str], left_out, tail: &[&str]| {
            let none = StyledLine::default();
            let text = shorten_text(text, Style::new(), 10, (&none, &none), most);
            let shown = |rows: &[StyledLine]| rows.iter().map(StyledLine::text).collect::<Vec<_>>();
            assert_eq!(
                (shown(&text.head), text.left_out, shown(&text.tail)),
                (head_of(head), left_out, head_of(tail))
            );
        };
        check("why not. Do it.", 4, &["why not.", "Do it."], 0, &[]);
        let long = "a reason in many many many words and more; set `a; b. c` in x";
        check(long, 4, &["a reason"], 4, &["set `a; b.", "c` in x"]);
        check("one two three four five six\nlast line", 3, &["one two"], 2, &["last line"]);
        check("one two three four five six", 1, &["one two", "three four", "five six"], 0, &[]);
    }

    #[test]
    fn printed_lines_hang_below_their_text() {
        let check = |text: &str, rows: &[&str]| {
            assert_eq!(
                wrap_printed(text, 20, Overlong::Broken).iter().map(StyledLine::text).collect::<Vec<_>>(),
                rows
            );
        };
        check("one two three four five six", &["one two three four", "five six"]);
        check("  one two three four five", &["  one two three four", "  five"]);
        check("  y  Allow once, and only once", &["  y  Allow once, and", "     only once"]);
        check("  ✗ Run     a b c d e f", &["  ✗ Run     a b c d", "            e f"]);
        check("a\n\nb", &["a", "", "b"]);
    }

    #[test]
    fn a_command_to_copy_has_a_row_of_its_own_where_it_does_not_fit() {
        let check = |text: &str, width, overlong, rows: &[&str]| {
            assert_eq!(
                wrap_printed(text, width, overlong).iter().map(StyledLine::text).collect::<Vec<_>>(),
                rows
            );
        };
        let text = "  Undo it: `buddy undo id`, or leave it.";
        check(text, 40, Overlong::Broken, &[text]);
        check(text, 30, Overlong::Broken, &["  Undo it: `buddy undo id`, or", "  leave it."]);
        check(text, 24, Overlong::Broken, &["  Undo it:", "  buddy undo id", "  or leave it."]);
        check(text, 14, Overlong::Broken, &["  Undo it:", "buddy undo id", "  or leave it."]);
        check(text, 10, Overlong::Broken, &["  Undo it:", "buddy undo", " id", "  or leave", "  it."]);
        check(text, 10, Overlong::Whole, &["  Undo it:", "buddy undo id", "  or leave", "  it."]);
        let text = format!("  Resume with  {}", crate::to_copy("buddy resume ses_1"));
        check(&text, 33, Overlong::Broken, &["  Resume with  buddy resume ses_1"]);
        check(&text, 32, Overlong::Broken, &["  Resume with", "  buddy resume ses_1"]);
        check(&text, 19, Overlong::Broken, &["  Resume with", "buddy resume ses_1"]);
        check("(see `buddy undo id`)", 18, Overlong::Broken, &["(see", "buddy undo id", ")"]);
        check("`/resume 漢字`", 10, Overlong::Broken, &["/resume 漢", "字"]);
    }

    fn head_of(rows: &[&str]) -> Vec<String> {
        rows.iter().map(|row| (*row).to_owned()).collect()
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
        let rows = fold(&StyledLine::plain("a  b   漢字"), 4);
        assert_eq!(rows.iter().map(StyledLine::text).collect::<Vec<_>>(), ["a  b", "   ", "漢字"]);
    }

    #[test]
    fn indents_lead_each_row() {
        let rows = wrap(
            &StyledLine::plain("one two three four"),
            14,
            &StyledLine::plain("- "),
            &StyledLine::plain("  "),
        );
        assert_eq!(rows.iter().map(StyledLine::text).collect::<Vec<_>>(), ["- one two", "  three four"]);
        let rows = wrap(&StyledLine::plain("one"), 6, &StyledLine::plain("        "), &StyledLine::default());
        assert_eq!(rows.iter().map(StyledLine::text).collect::<Vec<_>>(), ["one"]);
    }
}
