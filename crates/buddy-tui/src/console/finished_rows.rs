//! The rows of something that is finished: of which kind they are, and the text that they show a part of.

use crate::text::StyledLine;

/// The kind of rows. Different kinds are kept apart by an empty row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowKind {
    Person,
    Message,
    Thought,
    Call,
    Note,
    /// A warning, a failure or a summary, which stands alone.
    Notice,
    /// A question to the user at the end of a turn.
    Question,
}

impl RowKind {
    pub(super) fn is_apart_from(self, next: Self) -> bool {
        !matches!(
            (self, next),
            (Self::Call, Self::Call) | (Self::Message, Self::Message) | (Self::Note, Self::Note)
        )
    }
}

/// A finished item as rows.
#[derive(Debug)]
pub(super) struct FinishedRows {
    pub(super) kind: RowKind,
    pub(super) rows: Vec<StyledLine>,
    /// All of what the rows show a part of.
    pub(super) folded: Option<FoldedText>,
}

/// A text of which the rows show a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoldedText {
    /// The call that the text belongs to.
    pub(super) heading: String,
    pub(super) text: String,
}

impl FoldedText {
    pub(super) fn new(heading: impl Into<String>, text: &str) -> Self {
        Self { heading: heading.into(), text: text.to_owned() }
    }
}
