//! A line of styled text.
//!
//! A [`Span`] cannot hold a control, bidi or invisible character, wherever its text comes from: whatever would steer a
//! terminal is shown as an escape instead. So everything that is painted is safe by its type.

use std::sync::Arc;

use anstyle::Style;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::picture::Picture;
use super::to_copy::parts;
use crate::visible::visible;

/// How many columns a tab takes.
const TAB: &str = "    ";

/// A piece of a line in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    text: String,
    style: Style,
    /// Where it leads; the terminal makes it a link where it can.
    link: Option<Arc<str>>,
    /// Whether it is a command to copy, which rows do not break while they can hold it.
    is_copied: bool,
}

impl Span {
    /// A span of this text, cleaned. Ends of lines are shown as a space.
    pub(crate) fn new(text: &str, style: Style) -> Self {
        let is_clean = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        let text =
            if is_clean { text.to_owned() } else { visible(&text.replace('\t', TAB).replace('\n', " ")) };
        Self { text, style, link: None, is_copied: false }
    }

    /// The same span as a link. An address with anything but printable ASCII in it is no link.
    pub(crate) fn linked(mut self, address: &str) -> Self {
        let is_printable = address.bytes().all(|byte| (0x21..0x7f).contains(&byte));
        self.link = (is_printable && !address.is_empty()).then(|| address.into());
        self
    }

    /// The same span as a command to copy.
    pub(crate) fn copied(self) -> Self {
        Self { is_copied: true, ..self }
    }

    pub(super) fn is_copied(&self) -> bool {
        self.is_copied
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    pub(crate) fn link(&self) -> Option<&str> {
        self.link.as_deref()
    }

    /// The same style and link with another text, which comes from a span and is clean.
    pub(super) fn with_clean(&self, text: &str) -> Self {
        Self { text: text.to_owned(), style: self.style, link: self.link.clone(), is_copied: self.is_copied }
    }

    fn is_like(&self, other: &Self) -> bool {
        self.style == other.style && self.link == other.link && self.is_copied == other.is_copied
    }
}

/// A line: spans side by side.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StyledLine {
    spans: Vec<Span>,
    /// The picture on this row and those above it.
    picture: Option<Picture>,
    /// Whether a prompt of the user begins here, which terminals can jump to.
    is_prompt: bool,
}

impl StyledLine {
    /// A line in the terminal's own style.
    pub(crate) fn plain(text: &str) -> Self {
        Self::styled(text, Style::new())
    }

    /// A line in one style.
    pub(crate) fn styled(text: &str, style: Style) -> Self {
        Self::from(Span::new(text, style))
    }

    /// A line of a sentence in one style, in which commands are to be copied.
    pub(crate) fn sentence(text: &str, style: Style) -> Self {
        let mut line = Self::default();
        for (part, is_copied) in parts(text) {
            let span = Span::new(&part, style);
            line.push(if is_copied { span.copied() } else { span });
        }
        line
    }

    /// A hint: dim, with the words in backticks as they are, to be typed or copied.
    pub(crate) fn hint(text: &str, dim: Style) -> Self {
        let mut line = Self::default();
        for (place, part) in text.split('`').enumerate() {
            let is_typed = place % 2 == 1;
            line.push(if is_typed { Span::new(part, Style::new()).copied() } else { Span::new(part, dim) });
        }
        line
    }

    /// The rows of a picture.
    pub(crate) fn picture(picture: Picture) -> Vec<Self> {
        let mut rows = vec![Self::default(); picture.rows()];
        if let Some(last) = rows.last_mut() {
            last.picture = Some(picture);
        }
        rows
    }

    /// The line as the beginning of a prompt.
    #[must_use]
    pub(crate) fn marked_as_prompt(mut self) -> Self {
        self.is_prompt = true;
        self
    }

    pub(super) fn is_prompt(&self) -> bool {
        self.is_prompt
    }

    /// The line without what is drawn on it.
    #[must_use]
    pub(crate) fn undrawn(mut self) -> Self {
        self.picture = None;
        self
    }

    /// On how many rows something is drawn that ends on it; none for a line of text.
    pub(crate) fn drawn_rows(&self) -> usize {
        self.picture.as_ref().map_or(0, Picture::rows)
    }

    /// The picture on it.
    pub(super) fn drawn(&self) -> Option<&Picture> {
        self.picture.as_ref()
    }

    /// The line with one more piece.
    #[must_use]
    pub(crate) fn and(mut self, text: &str, style: Style) -> Self {
        self.push(Span::new(text, style));
        self
    }

    /// The line with another one behind it.
    #[must_use]
    pub(crate) fn and_line(mut self, other: Self) -> Self {
        self.append(other);
        self
    }

    /// Adds a span, to the last one if they look alike.
    pub(crate) fn push(&mut self, span: Span) {
        match self.spans.last_mut() {
            _ if span.text.is_empty() => {}
            Some(last) if last.is_like(&span) => last.text.push_str(&span.text),
            _ => self.spans.push(span),
        }
    }

    /// Adds text that comes from a span, in its style. Nothing is allocated where the last span looks alike, as this is
    /// done for every grapheme that is wrapped.
    pub(super) fn extend(&mut self, text: &str, like: &Span) {
        match self.spans.last_mut() {
            Some(last) if last.is_like(like) => last.text.push_str(text),
            _ => self.push(like.with_clean(text)),
        }
    }

    /// Adds the spans of another line.
    pub(crate) fn append(&mut self, other: Self) {
        for span in other.spans {
            self.push(span);
        }
    }

    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The text alone.
    pub(crate) fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// How many columns it takes.
    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|span| span.text.width()).sum()
    }

    /// Its graphemes, each with its span.
    pub(crate) fn graphemes(&self) -> impl Iterator<Item = (&str, &Span)> {
        self.spans.iter().flat_map(|span| span.text.graphemes(true).map(move |grapheme| (grapheme, span)))
    }

    /// The line without spaces at its end.
    #[must_use]
    pub(crate) fn trimmed(&self) -> Self {
        self.cut(self.text().trim_end_matches(' ').width(), "")
    }

    /// The line, cut to `width` columns with `mark` at its end if it is longer.
    #[must_use]
    pub(crate) fn cut(&self, width: usize, mark: &str) -> Self {
        if self.width() <= width {
            return self.clone();
        }
        let room = width.saturating_sub(mark.width());
        let mut cut = Self { is_prompt: self.is_prompt, ..Self::default() };
        let mut taken = 0;
        for (grapheme, span) in self.graphemes() {
            taken += grapheme.width();
            if taken > room {
                break;
            }
            cut.extend(grapheme, span);
        }
        if mark.width() <= width {
            let style = cut.spans.last().map(Span::style).unwrap_or_default();
            cut.push(Span::new(mark, style));
        }
        cut
    }
}

impl From<Span> for StyledLine {
    fn from(span: Span) -> Self {
        let mut line = Self::default();
        line.push(span);
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_span_steers_a_terminal() {
        let span = Span::new("a\u{1b}[2J\tb\nc\u{202e}", Style::new());
        assert_eq!(span.text(), "a\\u{1b}[2J    b c\\u{202e}");
        assert_eq!(Span::new("x", Style::new()).linked("http://a\u{1b}\\b").link(), None);
        assert_eq!(Span::new("x", Style::new()).linked("http://a/b").link(), Some("http://a/b"));
    }

    #[test]
    fn lines_are_cut_by_columns_and_say_so() {
        let check =
            |text: &str, width, cut: &str| assert_eq!(StyledLine::plain(text).cut(width, "…").text(), cut);
        check("hello", 5, "hello");
        check("hello!", 5, "hell…");
        check("漢字漢字", 5, "漢字…");
        check("漢字", 1, "…");
        check("ab", 0, "");
        check("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3, "👩‍👩‍👧‍👦…");
    }

    #[test]
    fn spaces_at_the_end_go_whatever_their_style() {
        let line = StyledLine::plain(" a ").and("  ", Style::new().bold());
        assert_eq!(line.trimmed(), StyledLine::plain(" a"));
        assert_eq!(StyledLine::plain("  ").trimmed(), StyledLine::default());
    }

    #[test]
    fn alike_pieces_are_one_span() {
        let line = StyledLine::plain("a").and("b", Style::new()).and("c", Style::new().bold());
        assert_eq!(line.spans().len(), 2);
        assert_eq!((line.text().as_str(), line.width()), ("abc", 3));
    }
}
