//! The changed parts within a line.

use similar::{Algorithm, ChangeTag, capture_diff_slices};
use unicode_segmentation::UnicodeSegmentation;

/// The longest lines that are compared, in bytes.
const LONGEST_LINE: usize = 500;

/// A line against its other version: its pieces, each with whether it is different. `None` where little is the same, as marks
/// all over would say nothing.
pub(super) fn marked<'a>(text: &'a str, other: &'a str) -> Option<Vec<(&'a str, bool)>> {
    if text.len().max(other.len()) > LONGEST_LINE {
        return None;
    }
    let words: Vec<&str> = text.split_word_bounds().collect();
    let others: Vec<&str> = other.split_word_bounds().collect();
    let changes = capture_diff_slices(Algorithm::Myers, &words, &others);
    let mut pieces = Vec::new();
    let mut same = 0;
    for change in changes.iter().flat_map(|change| change.iter_changes(&words, &others)) {
        match change.tag() {
            ChangeTag::Equal => {
                same += change.value().trim().len();
                pieces.push((change.value(), false));
            }
            ChangeTag::Delete => pieces.push((change.value(), true)),
            ChangeTag::Insert => {}
        }
    }
    let longest = text.trim().len().max(other.trim().len());
    (same > 0 && same * 3 >= longest).then_some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, other: &str, changed: Option<&[&str]>) {
        let pieces = marked(text, other);
        let found = pieces.as_ref().map(|pieces| {
            pieces.iter().filter(|(_, is_changed)| *is_changed).map(|(piece, _)| *piece).collect::<Vec<_>>()
        });
        assert_eq!(found.as_deref(), changed);
        if let Some(pieces) = pieces {
            assert_eq!(pieces.into_iter().map(|(piece, _)| piece).collect::<String>(), text);
        }
    }

    #[test]
    fn words_that_changed_are_found() {
        check("let count = 1;", "let total = 1;", Some(&["count"]));
        check("call(a, b)", "call(a, b, c)", Some(&[]));
        check("call(a, b, 漢字)", "call(a, b)", Some(&[",", " ", "漢", "字"]));
    }

    #[test]
    fn lines_with_little_in_common_are_not_marked() {
        check("entirely different", "nothing alike here", None);
        check("", "x", None);
        check(&"a ".repeat(400), &"a ".repeat(399), None);
    }
}
