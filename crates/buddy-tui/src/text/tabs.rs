//! Tabs as the spaces they stand for.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The text of one line with each tab led to the next multiple of `size` columns.
pub(crate) fn expand_tabs(text: &str, size: usize) -> String {
    if !text.contains('\t') {
        return text.to_owned();
    }
    let size = size.max(1);
    let mut expanded = String::with_capacity(text.len() + size);
    let mut column = 0;
    for grapheme in text.graphemes(true) {
        if grapheme == "\t" {
            let spaces = size - column % size;
            expanded.extend(std::iter::repeat_n(' ', spaces));
            column += spaces;
        } else {
            expanded.push_str(grapheme);
            column += grapheme.width();
        }
    }
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_lead_to_columns() {
        assert_eq!(expand_tabs("a\tb\t\tc", 4), "a   b       c");
        assert_eq!(expand_tabs("漢\tb", 4), "漢  b");
        assert_eq!(expand_tabs("1234\t5", 8), "1234    5");
    }
}
