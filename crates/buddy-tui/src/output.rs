//! The output of a command or tool, for showing.
//!
//! Colours and other sequences of the program are dropped, a progress bar that paints over itself is shown in its last state,
//! and what is held is bounded: the first lines, the last ones, and how many there were in between.

use std::collections::VecDeque;

use vte::{Params, Parser, Perform};

use crate::text::{Paint, StyledLine, TerminalLook, expand_tabs, fold};
use crate::trouble::find_trouble;

/// How many columns a tab leads to a multiple of in a terminal.
const TAB: usize = 8;
/// The longest line that is held, in bytes. Programs that write longer ones write them for programs.
const LONGEST_LINE: usize = 4 * 1024;
/// How many rows a line takes at most where it is folded.
const LINE_ROWS: usize = 3;

/// Output that comes in pieces.
pub(crate) struct ShownOutput {
    parser: Parser,
    lines: OutputLines,
}

impl ShownOutput {
    /// Output of which the first `head` lines and the last `tail` are held.
    pub(crate) fn new(head: usize, tail: usize) -> Self {
        let lines = OutputLines { most_head: head, most_tail: tail.max(1), ..OutputLines::default() };
        Self { parser: Parser::new(), lines }
    }

    /// Adds the next piece, which may end in the middle of a sequence.
    pub(crate) fn push(&mut self, text: &str) {
        self.parser.advance(&mut self.lines, text.as_bytes());
    }

    /// How many lines there are, the one that is not finished included.
    pub(crate) fn line_count(&self) -> usize {
        self.lines.ended + usize::from(!self.lines.line.text.is_empty())
    }

    /// The first and the last lines, and how many were left out between them.
    pub(crate) fn folded(&self, look: &TerminalLook, width: usize) -> Vec<StyledLine> {
        let width = width.max(1);
        let mark = look.sign("…", "...");
        let shown = |line: &Held| fold(&line.shown(mark).cut(width.saturating_mul(LINE_ROWS), mark), width);
        let mut rows: Vec<StyledLine> = self.lines.head.iter().flat_map(shown).collect();
        if self.lines.left_out > 0 {
            let ending = if self.lines.left_out == 1 { "" } else { "s" };
            let text = format!("{mark} {} line{ending} left out", self.lines.left_out);
            rows.push(StyledLine::styled(&text, look.style(Paint::Dim)).cut(width, ""));
        }
        rows.extend(self.lines.tail.iter().chain(self.lines.open()).flat_map(shown));
        rows.iter().map(StyledLine::trimmed).collect()
    }

    /// The first line that says why it failed and those that follow it, `most` of them, and how many others there are. Only lines that
    /// are held are looked at.
    pub(crate) fn telling_trouble(
        &self,
        look: &TerminalLook,
        width: usize,
        most: usize,
    ) -> (Vec<StyledLine>, usize) {
        let lines: Vec<&Held> =
            self.lines.head.iter().chain(&self.lines.tail).chain(self.lines.open()).collect();
        let lines: Vec<&Held> = lines.into_iter().filter(|line| !line.text.trim().is_empty()).collect();
        let texts: Vec<&str> = lines.iter().map(|line| line.text.trim_end()).collect();
        let first = find_trouble(&texts);
        let first = first.min(lines.len().saturating_sub(most));
        let mark = look.sign("…", "...");
        let chosen: Vec<&Held> = lines.iter().skip(first).take(most).copied().collect();
        let shown = chosen.iter().map(|line| line.shown(mark).cut(width.max(1), mark).trimmed());
        let more = (lines.len() + self.lines.left_out).saturating_sub(chosen.len());
        (shown.collect(), more)
    }

    /// The last rows, `limit` at most, of a program that still runs.
    pub(crate) fn tail(&self, look: &TerminalLook, width: usize, limit: usize) -> Vec<StyledLine> {
        let lines = self.lines.head.iter().chain(&self.lines.tail).chain(self.lines.open());
        let mut rows: Vec<StyledLine> = Vec::new();
        let lines: Vec<&Held> = lines.collect();
        for line in lines.into_iter().rev() {
            if rows.len() >= limit {
                break;
            }
            rows.extend(fold(&line.shown(look.sign("…", "...")), width.max(1)).into_iter().rev());
        }
        rows.truncate(limit);
        rows.iter().rev().map(StyledLine::trimmed).collect()
    }
}

/// A line as far as it is held.
#[derive(Default)]
struct Held {
    text: String,
    is_cut: bool,
}

impl Held {
    fn shown(&self, mark: &str) -> StyledLine {
        let text = expand_tabs(&self.text, TAB);
        StyledLine::plain(if self.is_cut { text + mark } else { text }.trim_end())
    }
}

/// The lines so far.
#[derive(Default)]
struct OutputLines {
    most_head: usize,
    most_tail: usize,
    head: Vec<Held>,
    tail: VecDeque<Held>,
    /// How many lines were dropped between head and tail.
    left_out: usize,
    /// How many lines have ended.
    ended: usize,
    line: Held,
    /// The program went back to the start of the line: what it writes next is the line.
    is_returned: bool,
}

impl OutputLines {
    fn open(&self) -> Option<&Held> {
        Some(&self.line).filter(|line| !line.text.is_empty())
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        self.is_returned = false;
        self.ended = self.ended.saturating_add(1);
        if self.head.len() < self.most_head {
            self.head.push(line);
            return;
        }
        self.tail.push_back(line);
        if self.tail.len() > self.most_tail {
            self.tail.pop_front();
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    fn add(&mut self, letter: char) {
        if std::mem::take(&mut self.is_returned) {
            self.line = Held::default();
        }
        if self.line.text.len() >= LONGEST_LINE {
            self.line.is_cut = true;
        } else {
            self.line.text.push(letter);
        }
    }

    fn go_back(&mut self) {
        if !self.line.is_cut {
            self.line.text.pop();
        }
    }
}

impl Perform for OutputLines {
    fn print(&mut self, letter: char) {
        self.add(letter);
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\n' => self.end_line(),
            b'\r' => self.is_returned = true,
            b'\t' => self.add('\t'),
            8 => self.go_back(),
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, _intermediates: &[u8], _ignore: bool, action: char) {
        let first = params.iter().next().and_then(|param| param.first()).copied().unwrap_or(0);
        match (action, first) {
            // To the first column.
            ('G', 0 | 1) => self.is_returned = true,
            // The rest of the line is erased, or all of it.
            ('K', 0) if self.is_returned => self.line = Held::default(),
            ('K', 2) => self.line = Held::default(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
