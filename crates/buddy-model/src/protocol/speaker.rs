//! Which part of an answer speaks, so that what different parts say is told apart while it streams.

use crate::Delta;

/// The part that spoke last: a content block, an output item.
#[derive(Debug, Default)]
pub(super) struct Speaker {
    part: Option<u64>,
}

impl Speaker {
    /// A piece of what the part of this number says, behind a mark where another one spoke before. A piece without a number
    /// goes on with the part that spoke last.
    pub(super) fn say(&mut self, part: Option<u64>, piece: Delta) -> Vec<Delta> {
        let before = self.part;
        self.part = part.or(before);
        if before.is_some() && self.part != before { vec![Delta::Apart, piece] } else { vec![piece] }
    }
}
