//! A question line by line: what is higher than the window is shown a part at a time.
//!
//! A line allows nothing before the last part was printed.

use std::time::Instant;

use buddy_protocol::AskId;

use crate::text::{Overlong, StyledLine, wrap_printed};
use crate::visible::visible;

/// Rows of a window that are not for a question: the line that is typed, and the one before.
const SPARE_ROWS: usize = 2;

/// A question, and how much of it was shown.
#[derive(Debug)]
pub(in crate::console) struct Pages {
    pub(in crate::console) ask: AskId,
    /// Since when the part that is shown is there.
    pub(in crate::console) since: Instant,
    parts: Vec<String>,
    /// Which of them is shown.
    at: usize,
}

impl Pages {
    /// A question that is printed whole, as for a program that reads it.
    pub(in crate::console) fn whole(ask: AskId, text: String, now: Instant) -> Self {
        Self { ask, since: now, parts: vec![text], at: 0 }
    }

    /// A question for a terminal of so many columns and rows.
    pub(in crate::console) fn new(
        ask: AskId,
        text: &str,
        (columns, rows): (usize, usize),
        now: Instant,
    ) -> Self {
        Self { ask, since: now, parts: parts(text, columns, rows), at: 0 }
    }

    /// The part that is shown, without the end of its last line.
    pub(in crate::console) fn text(&self) -> String {
        let page = self.parts.get(self.at).cloned().unwrap_or_default();
        if !self.has_more() {
            return page;
        }
        format!("{page}\npart {} of {}: y shows the next, d denies ", self.at + 1, self.parts.len())
    }

    /// Whether there are parts that were not shown.
    pub(in crate::console) fn has_more(&self) -> bool {
        self.at + 1 < self.parts.len()
    }

    /// Goes to the next part. False when the last one is shown.
    pub(in crate::console) fn turn(&mut self, now: Instant) -> bool {
        let is_turned = self.has_more();
        if is_turned {
            self.at += 1;
            self.since = now;
        }
        is_turned
    }
}

/// The parts of a text, each of which fits the window beside the line that says how to go on.
fn parts(text: &str, columns: usize, rows: usize) -> Vec<String> {
    let height = rows.saturating_sub(SPARE_ROWS).max(1);
    let all: Vec<String> =
        wrap_printed(&visible(text), columns.max(1), Overlong::Broken).iter().map(StyledLine::text).collect();
    // The end of the last line is where the answer is typed.
    let mut parts: Vec<String> = all.chunks(height).map(|rows| rows.join("\n")).collect();
    if let Some(last) = parts.last_mut().filter(|last| text.ends_with(' ') && !last.ends_with(' ')) {
        last.push(' ');
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_fits_is_printed_as_it_is() {
        assert_eq!(parts("a\nb -- approve? ", 80, 24), ["a\nb -- approve? "]);
    }

    #[test]
    fn every_row_is_on_one_part_and_no_part_is_higher_than_the_window() {
        let lines: Vec<String> = (0..50).map(|number| format!("echo {number} {}", "x".repeat(30))).collect();
        let text = format!("{}\nlast -- approve? [y/n] ", lines.join("\n"));
        for (columns, rows) in [(80, 24), (20, 5), (7, 3), (1, 1), (200, 40)] {
            let parts = parts(&text, columns, rows);
            let most = parts.iter().map(|part| part.split('\n').count()).max().unwrap();
            assert!(most <= rows.saturating_sub(SPARE_ROWS).max(1), "{columns} x {rows}: {most}");
            let letters =
                |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
            assert_eq!(letters(&parts.concat()), letters(&text), "{columns} x {rows}");
        }
    }
}
