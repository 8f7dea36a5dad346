//! An answer that is being written.

use super::blocks::BlockReader;
use super::paint::MarkdownPainter;
use super::source::{GivenLine, UnreadSource};
use crate::text::{StyledLine, TerminalLook};

/// Markdown that comes in pieces.
///
/// Finished text is held no longer, and the open rest is bounded.
#[derive(Clone, Default)]
pub(crate) struct Markdown {
    source: UnreadSource,
    blocks: BlockReader,
    painter: MarkdownPainter,
}

impl Markdown {
    /// Adds the next piece of the text.
    pub(crate) fn push(&mut self, text: &str) {
        self.source.push(text);
        while let Some(given) = self.source.next() {
            self.blocks.line(&given);
        }
    }

    /// The first rows of an open line of text that will not change any more, so that no more than `keep` stay open where
    /// that is possible.
    pub(crate) fn settled(&mut self, look: &TerminalLook, width: usize, keep: usize) -> Vec<StyledLine> {
        let mut rows = Vec::new();
        while self.open(look, width, keep.saturating_add(1)).len() > keep
            && let Some(part) = self.next_part()
        {
            self.blocks.line(&part);
            rows.extend(self.finished(look, width));
        }
        rows
    }

    fn next_part(&mut self) -> Option<GivenLine> {
        let is_open =
            if self.source.is_in_line() { self.blocks.is_in_parts() } else { self.blocks.is_between() };
        if is_open { self.source.next_part() } else { None }
    }

    /// The rows that were finished since the last call and will not change any more.
    pub(crate) fn finished(&mut self, look: &TerminalLook, width: usize) -> Vec<StyledLine> {
        let pieces = self.blocks.take();
        pieces.into_iter().flat_map(|piece| self.painter.rows(piece, look, width)).collect()
    }

    /// The last rows, `limit` at most, of what is not given out yet. They may look different with the next piece of text.
    pub(crate) fn open(&self, look: &TerminalLook, width: usize, limit: usize) -> Vec<StyledLine> {
        let mut rest = self.clone();
        rest.source.hold_back_signs();
        let mut rows = rest.finish(look, width);
        rows.drain(..rows.len().saturating_sub(limit));
        rows
    }

    /// All rows that are left.
    pub(crate) fn finish(mut self, look: &TerminalLook, width: usize) -> Vec<StyledLine> {
        if let Some(given) = self.source.last() {
            self.blocks.line(&given);
        }
        self.blocks.end();
        self.finished(look, width)
    }

    /// How many bytes of the text are held.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.source.held() + self.blocks.held()
    }
}
