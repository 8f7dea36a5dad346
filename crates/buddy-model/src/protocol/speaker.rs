//! Tracks which part of an answer is streaming, so that the texts of different parts stay apart.

use crate::Delta;

/// The part that streamed last: a content block or an output item.
#[derive(Debug, Default)]
pub(super) struct Speaker {
    part: Option<u64>,
}

impl Speaker {
    /// A piece of the part with this number, after a mark if another part came before. A piece without a
    /// number continues the last part.
    pub(super) fn say(&mut self, part: Option<u64>, piece: Delta) -> Vec<Delta> {
        let before = self.part;
        self.part = part.or(before);
        if before.is_some() && self.part != before { vec![Delta::Apart, piece] } else { vec![piece] }
    }
}
