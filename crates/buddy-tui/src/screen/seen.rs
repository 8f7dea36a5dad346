//! Which rows of a question were on the screen. A key allows nothing before all of them were.
//!
//! Rows are counted as the painter put them on the screen, in one layout. A question in another layout, such as a wider window
//! or an unfolded command, is counted from the start, unless the whole of it was seen before.

use std::collections::BTreeSet;
use std::ops::Range;

/// The part of a question that a frame has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct QuestionPart {
    /// The rows of the frame that show it.
    pub(crate) at: Range<usize>,
    /// Which row of the question the first of them is. Rows about the question, such as how many others wait, do not count.
    pub(crate) first: usize,
    /// How it is laid out.
    pub(crate) layout: Layout,
}

/// How a question is laid out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) width: usize,
    /// How many rows it has.
    pub(crate) rows: usize,
    /// Whether some of it is folded away, so that its rows are not the whole.
    pub(crate) is_folded: bool,
    /// Whether everything that is known is told with it.
    pub(crate) is_expanded: bool,
}

impl QuestionPart {
    /// The part of it that stays when only these rows of the frame are painted, counted from the first of them.
    pub(crate) fn within(self, painted: &Range<usize>) -> Self {
        let start = self.at.start.max(painted.start).min(painted.end);
        let end = self.at.end.min(painted.end).max(start);
        let first = self.first + start.saturating_sub(self.at.start);
        Self { at: start - painted.start..end - painted.start, first, layout: self.layout }
    }
}

/// The rows of one question that were on the screen.
#[derive(Debug, Default)]
pub(crate) struct SeenRows {
    layout: Layout,
    rows: BTreeSet<usize>,
    is_whole: bool,
}

impl SeenRows {
    /// Takes note of what was painted. True when with it the whole was.
    pub(crate) fn note(&mut self, part: &QuestionPart) -> bool {
        if part.layout != self.layout {
            (self.layout, self.rows) = (part.layout, BTreeSet::new());
        }
        self.rows.extend(part.first..part.first + part.at.len());
        let is_shown = self.layout.rows > 0 && !self.layout.is_folded;
        let is_all = is_shown && self.first_unseen().is_none();
        let is_new = is_all && !self.is_whole;
        self.is_whole |= is_all;
        is_new
    }

    /// Whether the whole of it was on the screen.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether the rows that were painted last are not the whole, as some are folded away.
    pub(crate) fn is_folded(&self) -> bool {
        self.layout.is_folded
    }

    /// The first row that was not on the screen.
    pub(crate) fn first_unseen(&self) -> Option<usize> {
        (0..self.layout.rows).find(|row| !self.rows.contains(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(at: Range<usize>, first: usize, rows: usize) -> QuestionPart {
        QuestionPart { at, first, layout: Layout { width: 10, rows, ..Layout::default() } }
    }

    #[test]
    fn only_what_was_painted_counts() {
        let mut seen = SeenRows::default();
        assert!(!seen.note(&part(0..3, 0, 9)));
        assert!(!seen.note(&part(2..5, 6, 9)));
        assert_eq!(seen.first_unseen(), Some(3));
        assert!(seen.note(&part(0..3, 3, 9)) && seen.is_whole());
        assert!(!seen.note(&part(0..1, 0, 30)), "it was seen, however it is laid out now");
        assert!(seen.is_whole());
    }

    #[test]
    fn another_layout_and_a_fold_begin_anew() {
        let mut seen = SeenRows::default();
        seen.note(&part(0..5, 0, 9));
        assert!(!seen.note(&part(0..4, 5, 10)), "the rows before were others");
        let folded = Layout { width: 10, rows: 2, is_folded: true, is_expanded: false };
        assert!(!SeenRows::default().note(&QuestionPart { at: 0..2, first: 0, layout: folded }));
    }

    #[test]
    fn rows_that_the_window_cut_off_are_not_there() {
        assert_eq!(part(2..6, 10, 20).within(&(4..7)), part(0..2, 12, 20));
        assert_eq!(part(2..6, 10, 20).within(&(0..3)), part(2..3, 10, 20));
        assert!(part(2..6, 10, 20).within(&(6..9)).at.is_empty());
    }
}
