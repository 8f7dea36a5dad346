//! Where empty rows are: blocks are apart by one, those of one list only where the text has one between them.

/// The state since the last piece that decides about an empty row before the next.
#[derive(Debug, Clone, Default)]
pub(super) struct Spacing {
    has_begun: bool,
    /// An empty line came.
    pub(super) has_blank: bool,
    /// The next item of a list began.
    pub(super) is_sibling: bool,
    /// How many of the blocks around are still the same.
    common: usize,
}

impl Spacing {
    /// After a piece inside of so many blocks.
    pub(super) fn after(depth: usize) -> Self {
        Self { has_begun: true, has_blank: false, is_sibling: false, common: depth }
    }

    /// Only so many of the blocks around are left.
    pub(super) fn leave(&mut self, depth: usize) {
        self.common = self.common.min(depth);
    }

    /// Within how many of the blocks around an empty row comes next, if one does. The blocks are told by whether they are
    /// items.
    pub(super) fn gap(&self, is_item: &[bool]) -> Option<usize> {
        let is_in_list = is_item.iter().take(self.common).any(|is_item| *is_item);
        let is_apart = self.has_blank || !(self.is_sibling || is_in_list);
        (self.has_begun && is_apart).then_some(self.common)
    }
}
