//! Pushed text as lines.

use super::piece::Joint;
use super::prose;
use crate::text::expand_tabs;

/// The most bytes of a line before it is cut. It bounds memory, and the text that is read again for each token.
const LONGEST_LINE: usize = 4 * 1024;
/// How long a text may be that a line under it makes a heading, in bytes. A longer one may be shown in parts before that line
/// comes.
pub(super) const LONGEST_HEADING: usize = 120;
/// How long each further part of a line of text is at least.
const NEXT_PART: usize = 24;
/// How many columns a tab leads to a multiple of.
const TAB: usize = 4;

/// The text that is not a whole line yet.
#[derive(Debug, Clone, Default)]
pub(super) struct UnreadSource {
    rest: String,
    /// The rest belongs to a line of which a part was already given.
    joint: Option<Joint>,
}

/// A line, or the next part of one that was too long.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GivenLine {
    pub(super) text: String,
    /// How it goes on from the part before.
    pub(super) joint: Option<Joint>,
    /// It is a part of a text which nothing that follows changes.
    pub(super) is_settled: bool,
}

impl UnreadSource {
    pub(super) fn push(&mut self, text: &str) {
        self.rest.push_str(text);
    }

    /// Whether a part of the line was given already.
    pub(super) fn is_in_line(&self) -> bool {
        self.joint.is_some()
    }

    /// The next part of a long line of text, where it can be cut.
    pub(super) fn next_part(&mut self) -> Option<GivenLine> {
        let is_first = self.joint.is_none();
        if is_first && !prose::is_prose(&self.rest) {
            return None;
        }
        let end = prose::cut(&self.rest, if is_first { LONGEST_HEADING } else { NEXT_PART })?;
        let after = self.rest.split_off(end + 1);
        let text = std::mem::replace(&mut self.rest, after);
        Some(GivenLine { text: cleaned(&text), joint: self.joint.replace(Joint::Space), is_settled: true })
    }

    /// The next whole line, or the part of a long one that is decided.
    pub(super) fn next(&mut self) -> Option<GivenLine> {
        let end = self.rest.bytes().take(LONGEST_LINE + 1).position(|byte| byte == b'\n');
        match end {
            Some(end) => {
                let after = self.rest.split_off(end + 1);
                let line = std::mem::replace(&mut self.rest, after);
                Some(GivenLine { text: cleaned(&line), joint: self.joint.take(), is_settled: false })
            }
            None if self.rest.len() > LONGEST_LINE => Some(self.cut()),
            None => None,
        }
    }

    /// The rest, as the last line.
    pub(super) fn last(&mut self) -> Option<GivenLine> {
        let line = std::mem::take(&mut self.rest);
        let joint = self.joint.take();
        (!line.is_empty()).then(|| GivenLine { text: cleaned(&line), joint, is_settled: false })
    }

    /// The last line as far as it came, unless it consists of signs alone: a `-` may become a list, a rule or the line
    /// under a title, and showing all of them in turn would flicker.
    pub(super) fn hold_back_signs(&mut self) {
        let is_sign = |letter: char| letter.is_ascii_digit() || " -=*+_#>`~|:.)".contains(letter);
        if self.joint.is_none() && self.rest.chars().all(is_sign) {
            self.rest.clear();
        }
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.rest.len()
    }

    fn cut(&mut self) -> GivenLine {
        let whole = self.rest.floor_char_boundary(LONGEST_LINE);
        let space = self.rest.bytes().take(whole).rposition(|byte| byte == b' ');
        let (end, next) = match space.filter(|space| *space > whole / 2) {
            Some(space) => (space + 1, Joint::Space),
            None => (whole, Joint::Nothing),
        };
        let after = self.rest.split_off(end);
        let text = std::mem::replace(&mut self.rest, after);
        GivenLine { text: cleaned(&text), joint: self.joint.replace(next), is_settled: false }
    }
}

/// The line without its end, with spaces for tabs.
fn cleaned(line: &str) -> String {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    expand_tabs(line, TAB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_and_tabs_lead_to_columns() {
        let mut source = UnreadSource::default();
        source.push("a\r");
        assert_eq!(source.next(), None);
        source.push("\n-\tb\nc");
        let lines: Vec<String> = std::iter::from_fn(|| source.next()).map(|given| given.text).collect();
        assert_eq!(lines, ["a", "-   b"]);
        assert_eq!(source.last().map(|given| given.text).as_deref(), Some("c"));
    }

    #[test]
    fn a_long_line_is_cut_at_a_space_and_held_no_longer() {
        let mut source = UnreadSource::default();
        source.push(&"word ".repeat(2_000));
        let first = source.next().unwrap();
        assert_eq!((first.joint, first.text.ends_with("word ")), (None, true));
        assert_eq!(source.next().unwrap().joint, Some(Joint::Space));
        assert_eq!(source.next(), None);
        assert!(source.held() <= LONGEST_LINE);
    }
}
