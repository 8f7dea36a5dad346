//! The rows of `/diff`: the changes of all files, placed like the diffs of calls.

use super::calls::DIFF_INDENT;
use crate::diff::{DiffHead, render_diff};
use crate::text::{StyledLine, TerminalLook};

/// In a narrower window the lines begin where names do.
const NARROW: usize = 60;
/// The column in which all text begins.
const TEXT_INDENT: usize = 2;
/// The beginning of the part about one file.
const FILE_HEAD: &str = "diff --git ";

/// The rows of a diff of several files: names where all text begins, lines where those of a call stand.
pub(super) fn render_changes(diff: &str, look: &TerminalLook, columns: usize) -> Vec<StyledLine> {
    let indent = if columns < NARROW { TEXT_INDENT } else { DIFF_INDENT };
    let rows = |file: &str, head| render_diff(file, look, columns.saturating_sub(indent), (usize::MAX, head));
    let indented = |row: StyledLine, indent: usize| {
        let mut line = StyledLine::plain(&" ".repeat(indent));
        line.append(row);
        line
    };
    let mut all = Vec::new();
    for file in each_file(diff) {
        let (whole, lines) = (rows(file, DiffHead::Shown), rows(file, DiffHead::Hidden).len());
        let heads = whole.len().saturating_sub(lines);
        let place = |at: usize| if at < heads { TEXT_INDENT } else { indent };
        all.extend(whole.into_iter().enumerate().map(|(at, row)| indented(row, place(at))));
    }
    all
}

/// The parts of a diff that are about one file each. Lines of a file begin with a sign, so none of them begins one.
fn each_file(diff: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = diff.match_indices(FILE_HEAD).map(|(at, _)| at).collect();
    starts.retain(|at| *at == 0 || diff.as_bytes().get(at - 1) == Some(&b'\n'));
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let ends = starts.iter().skip(1).copied().chain([diff.len()]);
    starts
        .iter()
        .zip(ends)
        .filter_map(|(start, end)| diff.get(*start..end))
        .filter(|file| !file.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_begin_where_all_text_does() {
        let file = |name: &str| {
            format!(
                "diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-one\n+diff --git two\n"
            )
        };
        let diff = format!("{}{}", file("a.txt"), file("b.txt"));
        let rows = |columns| -> Vec<String> {
            render_changes(&diff, &TerminalLook::plain(), columns).iter().map(StyledLine::text).collect()
        };
        // The number of a line ends in column 8, its sign is in column 10.
        let lines = ["        1 − one", "        1 + diff --git two"];
        assert_eq!(rows(80), ["  a.txt  +1 −1", lines[0], lines[1], "  b.txt  +1 −1", lines[0], lines[1]]);
        assert!(rows(40).iter().all(|row| row.starts_with("  ")), "{:?}", rows(40));
    }
}
