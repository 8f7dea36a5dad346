//! The bytes that bring a terminal from its present rows to the wanted ones.
//!
//! Pure: rows in, bytes out. Finished rows are written once and belong to the terminal from then on. Below them stand the
//! *live rows* (the open end of an answer, what runs, the input), of which only what changed is written. Nothing above the
//! live rows is ever touched.
//!
//! The terminal must not wrap by itself while a painter is at work: a row that it takes for wider than the painter does is
//! clipped then, and no count of rows goes wrong.

use std::fmt::Write;

use super::seen::QuestionPart;
use crate::text::{StyledLine, TerminalLook, encode, encode_from};

/// Where changes begin and end for terminals that show them in one go.
const BEGIN: &str = "\u{1b}[?2026h";
const END: &str = "\u{1b}[?2026l";
/// Clears from the row of the cursor to the end of the screen. Not from its very corner: tmux keeps what is cleared from
/// there in its history.
const WIPE: &str = "\r\u{1b}[K\u{1b}[2G\u{1b}[J\r";

/// Rows below an answer that are as wide as the window, and one to spare.
const LONG_ROWS: usize = 4;
/// The fewest rows that are left open.
const LEAST_OPEN: usize = 2;

/// The live rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ScreenFrame {
    pub(crate) rows: Vec<StyledLine>,
    /// The row and the column that the cursor stands in.
    pub(crate) cursor: (usize, usize),
    /// The rows that show a question.
    pub(crate) question: Option<QuestionPart>,
}

/// Knows what the terminal shows.
#[derive(Debug)]
pub(crate) struct ScreenPainter {
    look: TerminalLook,
    columns: usize,
    height: usize,
    shown: ScreenFrame,
    /// Whether what is shown is not known any more, but for the row that the cursor is in.
    is_stale: bool,
    /// How many finished rows are in the window above the live ones, at least.
    finished: usize,
}

impl ScreenPainter {
    /// A painter for a terminal of this size, whose cursor is at the beginning of an empty row.
    pub(crate) fn new(look: TerminalLook, columns: usize, height: usize) -> Self {
        Self {
            look,
            columns: columns.max(1),
            height: height.max(1),
            shown: ScreenFrame::default(),
            is_stale: false,
            finished: 0,
        }
    }

    /// How many live rows may be as long as the window is wide. When it gets narrower these break, and as many rows as come
    /// of that leave it at its top: finished ones, if there are enough of them, which need not be painted any more.
    pub(crate) fn most_open(&self) -> usize {
        // The rules around the input and the status are as long as they can be.
        self.finished.saturating_sub(LONG_ROWS).min(self.height / 4).max(LEAST_OPEN)
    }

    pub(crate) fn set_look(&mut self, look: TerminalLook) {
        self.look = look;
        self.is_stale = true;
    }

    /// The part of a question that is on the screen.
    pub(crate) fn question(&self) -> Option<&QuestionPart> {
        self.shown.question.as_ref()
    }

    /// How many live rows fit.
    pub(crate) fn height(&self) -> usize {
        self.height
    }

    /// The terminal has another size now. One that got narrower has broken the live rows in parts, or cut them.
    pub(crate) fn resize(&mut self, columns: usize, height: usize) {
        let (columns, height) = (columns.max(1), height.max(1));
        if (columns, height) == (self.columns, self.height) {
            return;
        }
        if columns < self.columns && self.look.cuts_rows {
            self.shown.cursor.1 = self.shown.cursor.1.min(columns - 1);
        } else if columns < self.columns {
            let parts = |row: &StyledLine| row.width().div_ceil(columns).max(1);
            let (row, column) = self.shown.cursor;
            let above: usize = self.shown.rows.iter().take(row).map(parts).sum();
            self.shown.cursor = (above + column / columns, column % columns);
            // As many finished rows have left at the top.
            self.finished = self.finished.saturating_sub(self.shown.cursor.0 - row);
        }
        self.columns = columns;
        self.height = height;
        self.is_stale = true;
    }

    /// Paints the live rows anew, whatever is there.
    pub(crate) fn forget(&mut self) {
        self.is_stale = true;
    }

    /// The bytes that put `finished` above the live rows and make these look like `frame`.
    pub(crate) fn paint(&mut self, finished: &[StyledLine], frame: ScreenFrame) -> String {
        let frame = self.fitted(frame);
        if finished.is_empty() && !self.is_stale && frame == self.shown {
            return String::new();
        }
        let mut out = BEGIN.to_owned();
        let mut pen = self.pen(&mut out);
        let rows = finished.iter().chain(&frame.rows);
        for (index, row) in rows.enumerate() {
            let row = row.cut(self.columns, "");
            // A picture higher than the window would be drawn over the rows below it.
            let row = if row.drawn_rows() > self.height { row.undrawn() } else { row };
            match self.shown.rows.get(index) {
                Some(old) if *old == row => {}
                Some(old) => {
                    pen.go(&mut out, index);
                    encode_from(old, &row, &self.look, &mut out);
                }
                None => {
                    pen.go(&mut out, index);
                    out.push('\r');
                    encode(&row, &self.look, &mut out);
                }
            }
        }
        let total = finished.len() + frame.rows.len();
        if pen.bottom >= total {
            pen.go(&mut out, total);
            out.push_str(WIPE);
        }
        pen.go(&mut out, finished.len() + frame.cursor.0);
        let _ = write!(out, "\u{1b}[{}G{END}", frame.cursor.1 + 1);
        let room = self.height.saturating_sub(frame.rows.len());
        self.finished = self.finished.saturating_add(finished.len()).min(room);
        self.shown = frame;
        out
    }

    /// The bytes that take the live rows away. What comes next begins where they began.
    pub(crate) fn leave(&mut self) -> String {
        self.leave_with(&[])
    }

    /// The same, with these rows in their place.
    pub(crate) fn leave_with(&mut self, finished: &[StyledLine]) -> String {
        self.paint(finished, ScreenFrame::default())
    }

    /// Where the pen stands. Rows that are not known are wiped.
    fn pen(&mut self, out: &mut String) -> Pen {
        let at = self.shown.cursor.0;
        if !std::mem::take(&mut self.is_stale) {
            return Pen { at, bottom: self.shown.rows.len().max(1) - 1 };
        }
        self.shown.rows.clear();
        let mut pen = Pen { at, bottom: at };
        pen.go(out, 0);
        out.push_str(WIPE);
        Pen { at: 0, bottom: 0 }
    }

    /// The last rows of a frame that does not fit, such that the row with the cursor is among them.
    fn fitted(&self, mut frame: ScreenFrame) -> ScreenFrame {
        let shows = |part: &QuestionPart| {
            frame.rows.iter().skip(part.at.start).take(part.at.len()).all(|row| row.width() <= self.columns)
        };
        // Nobody has seen the part of a row beyond the window.
        frame.question = frame.question.take().filter(shows);
        for row in &mut frame.rows {
            if row.width() > self.columns {
                *row = row.cut(self.columns, "");
            }
        }
        frame.cursor.0 = frame.cursor.0.min(frame.rows.len().saturating_sub(1));
        frame.cursor.1 = frame.cursor.1.min(self.columns - 1);
        let excess = frame.rows.len().saturating_sub(self.height);
        let above = excess.min(frame.cursor.0);
        frame.question = frame.question.map(|part| part.within(&(above..above + self.height)));
        frame.rows.drain(..above);
        frame.cursor.0 -= above;
        frame.rows.truncate(self.height);
        frame
    }
}

/// A cursor that moves over rows, counted from the first live row.
struct Pen {
    at: usize,
    /// The last row that is there. Rows below it are made by ends of lines, at which the terminal scrolls.
    bottom: usize,
}

impl Pen {
    fn go(&mut self, out: &mut String, row: usize) {
        let reach = row.min(self.bottom);
        match reach.cmp(&self.at) {
            std::cmp::Ordering::Less => drop(write!(out, "\u{1b}[{}A", self.at - reach)),
            std::cmp::Ordering::Greater => drop(write!(out, "\u{1b}[{}B", reach - self.at)),
            std::cmp::Ordering::Equal => {}
        }
        for _ in reach..row {
            out.push_str("\r\n");
        }
        self.at = row;
        self.bottom = self.bottom.max(row);
    }
}

#[cfg(test)]
mod tests;
