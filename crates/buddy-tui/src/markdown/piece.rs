//! The pieces that the blocks of a text are cut into.

/// A part of the text that will not change any more, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SettledPiece {
    /// The quotes and list items around it, the outermost first.
    pub(super) path: Vec<NestStep>,
    /// An empty row comes before it, within so many of the steps.
    pub(super) gap: Option<usize>,
    pub(super) part: BlockPart,
}

/// A quote or an item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NestStep {
    Quote,
    Item {
        mark: ItemMark,
        /// Nothing of the item was shown yet: its mark leads the next row.
        is_fresh: bool,
    },
}

/// The mark of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemMark {
    Bullet,
    Number { number: u64, delimiter: char },
    ToDo,
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BlockPart {
    /// Source of a paragraph, a heading or a table.
    Text(SourceText),
    Rule,
    /// A line of raw HTML.
    Html {
        line: String,
        /// It is not the first of its block.
        follows: bool,
    },
    /// A block of code begins, in the language named.
    CodeBegin(String),
    CodeLine(String),
    CodeEnd,
    /// An item without anything in it.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceText {
    pub(super) source: String,
    /// It goes on from the text before.
    pub(super) follows: Option<Joint>,
    /// The paragraph goes on after it.
    pub(super) is_cut: bool,
}

/// The break between two parts of a text that was too long to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    Space,
    Nothing,
}
