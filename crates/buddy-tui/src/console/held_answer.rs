//! An answer that a letter gives, held back until that letter stands alone.

use std::time::{Duration, Instant};

use buddy_protocol::Answer;

use crate::editor::EditorKey;

/// How long a key must stand alone: people who type are faster than that.
pub(super) const ALONE: Duration = Duration::from_millis(250);

/// An answer that is sent unless another letter follows.
#[derive(Debug)]
pub(super) struct HeldAnswer {
    pub(super) key: EditorKey,
    pub(super) answer: Answer,
    pub(super) until: Instant,
}

impl HeldAnswer {
    pub(super) fn new(key: EditorKey, answer: Answer, now: Instant) -> Self {
        Self { key, answer, until: now + ALONE }
    }

    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// The letter that the card shows for its key.
    pub(super) fn label(&self) -> Option<char> {
        self.key.letter().map(|letter| match letter {
            '1' => 'y',
            '2' => 'a',
            '4' => 'd',
            letter => letter,
        })
    }
}
