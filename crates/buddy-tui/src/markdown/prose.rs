//! Where a long line of text can be cut before all of it is there.
//!
//! A paragraph often comes as one long line. What stands before a space that is outside of everything that signs could
//! still open or close looks the same whatever follows, and need not wait for the end of the line.

/// Whether a line is text, or an item of a list with text in it, as far as its beginning tells.
pub(super) fn is_prose(line: &str) -> bool {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let text = without_mark(text);
    let text = text.strip_prefix("**").or_else(|| text.strip_prefix(['*', '`'])).unwrap_or(text);
    indent < 4 && text.starts_with(char::is_alphanumeric)
}

fn without_mark(text: &str) -> &str {
    let bullet = text.strip_prefix(['-', '*', '+']);
    let digits = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let number = digits.strip_prefix(['.', ')']).filter(|_| digits.len() < text.len());
    bullet.or(number).and_then(|text| text.strip_prefix(' ')).unwrap_or(text)
}

/// The place of the first space after so many bytes at which the line can be cut. It depends on nothing behind it but the
/// next letter.
pub(super) fn cut(line: &str, least: usize) -> Option<usize> {
    let mut signs = Signs::default();
    let mut letters = line.char_indices().take_while(|(_, letter)| *letter != '\n').peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next)?;
        let is_between = letter == ' ' && next.is_alphanumeric() && signs.before.is_some_and(ends_word);
        if is_between && at >= least && signs.are_closed() {
            return Some(at);
        }
        signs.take(letter, next);
    }
    None
}

fn ends_word(letter: char) -> bool {
    letter.is_alphanumeric() || ".,;:!?)*".contains(letter)
}

/// The signs that are open so far. Where they are not simple, nothing counts as closed any more.
#[derive(Default)]
struct Signs {
    before: Option<char>,
    /// The sign of a run that is under way, how long it is, and what stood before it.
    run: Option<(char, usize, Option<char>)>,
    /// Emphasis: signs and how many.
    open: Vec<(char, usize)>,
    /// The signs that close the code that is open.
    code: Option<usize>,
    brackets: usize,
    /// Inside of an address after a link's text: what closes it.
    until: Option<char>,
    is_escaped: bool,
    is_unclear: bool,
}

impl Signs {
    fn are_closed(&self) -> bool {
        !self.is_unclear
            && self.open.is_empty()
            && self.code.is_none()
            && self.brackets == 0
            && self.until.is_none()
    }

    fn take(&mut self, letter: char, next: char) {
        let is_sign = matches!(letter, '*' | '_' | '~' | '`');
        if std::mem::take(&mut self.is_escaped) {
            // A sign of its own.
        } else if letter == '\\' && self.code.is_none() {
            self.is_escaped = true;
        } else if is_sign {
            let (_, count, before) = self.run.take().unwrap_or((letter, 0, self.before));
            self.run = Some((letter, count + 1, before));
            if next != letter {
                self.run = None;
                self.end_run(letter, count + 1, before, next);
            }
        } else if self.code.is_none() {
            self.other(letter, next);
        }
        self.before = Some(letter);
    }

    fn end_run(&mut self, sign: char, count: usize, before: Option<char>, next: char) {
        if sign == '`' {
            self.code = match self.code {
                None => Some(count),
                Some(opened) if opened == count => None,
                opened => opened,
            };
            return;
        }
        if self.code.is_some() {
            return;
        }
        // It need not be an address after all.
        self.is_unclear |= self.until.is_some();
        let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        let is_space = |letter: Option<char>| letter.is_none_or(char::is_whitespace);
        let is_edge = next.is_whitespace() || next.is_ascii_punctuation();
        let opens = !is_word(before) && is_word(Some(next)) || is_space(before) && !next.is_whitespace();
        let closes = is_word(before) && !is_word(Some(next)) || !is_space(before) && is_edge;
        let is_plain = is_space(before) && next.is_whitespace()
            || sign == '_' && is_word(before) && is_word(Some(next))
            || closes && self.open.is_empty() && (is_word(before) || next.is_whitespace());
        if closes && self.open.last() == Some(&(sign, count)) {
            self.open.pop();
        } else if opens {
            self.open.push((sign, count));
        } else if !is_plain {
            self.is_unclear = true;
        }
    }

    fn other(&mut self, letter: char, next: char) {
        if let Some(end) = self.until {
            // The first one opens the address.
            let is_opening = letter == '(' && self.before == Some(']');
            self.is_unclear |= matches!(letter, '(' | '<') && !is_opening;
            self.until = (letter != end).then_some(end);
            return;
        }
        match letter {
            '|' | '\t' => self.is_unclear = true,
            // A tag may break the line.
            '<' => self.is_unclear |= !next.is_whitespace(),
            '[' => self.brackets += 1,
            ']' => {
                self.brackets = self.brackets.saturating_sub(1);
                self.until = (next == '(').then_some(')');
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, before: Option<&str>) {
        assert_eq!(cut(line, 10).map(|at| line.split_at(at).0), before);
    }

    #[test]
    fn a_line_is_cut_at_the_first_space_that_nothing_reaches_over() {
        check("one two three four", Some("one two three"));
        check("one two three", None);
        check("one two three ", None);
        check("one two three  four five six", Some("one two three  four"));
        check("a **strong and long** word", Some("a **strong and long**"));
        check("a `code with *stars` word, and more", Some("a `code with *stars` word,"));
        check("a [text of a link](with an address) word", Some("a [text of a link](with an address)"));
        check("snake_case_name is whole", Some("snake_case_name"));
        check("2 * 3 * 4 * 5 * 6", Some("2 * 3 * 4 *"));
        check("one two three (four) five", Some("one two three (four)"));
    }

    #[test]
    fn what_may_still_be_closed_is_not_cut() {
        for line in [
            "a **strong word and more",
            "a `code word and more",
            "see [a text and more",
            "a | b | c d e f",
            "a <br> line and more",
        ] {
            check(line, None);
        }
        check("one\ntwo three four five", None);
    }

    #[test]
    fn text_and_items_with_text_are_prose() {
        for line in ["word", "**word**", "`code`", "- word", "12. word", "  * word", "漢字"] {
            assert!(is_prose(line), "{line}");
        }
        for line in ["# word", "> word", "```", "    word", "- [ ] word", "| a |", "<p>", "-     word", ""] {
            assert!(!is_prose(line), "{line}");
        }
    }
}
