//! Changes that are found by the lines around them.

use buddy_protocol::ToolFailure;

use crate::tools::closest::{find, hint_for_missing, squeezed};

/// One place of a file where lines change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// Lines after which the place is, from the `@@` lines.
    pub(super) anchors: Vec<String>,
    /// The lines as they are now.
    pub(super) old: Vec<String>,
    /// The lines as they will be.
    pub(super) new: Vec<String>,
    /// Whether the place is the end of the file.
    pub(super) is_at_end: bool,
}

/// How lines are compared: as they are first, then with less and less regard to white space.
const FORMS: &[fn(&str) -> String] =
    &[str::to_owned, |line| line.trim_end().to_owned(), |line| line.trim().to_owned(), squeezed];

/// Makes the changes one after another, each after the one before it.
pub(super) fn apply(hunks: &[Hunk], path: &str, text: &str) -> Result<String, ToolFailure> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut from = 0;
    for (at, hunk) in hunks.iter().enumerate() {
        let place = locate(hunk, &lines, from).ok_or_else(|| missing(hunk, path, at + 1, text))?;
        let end = place + hunk.old.len();
        lines.splice(place..end, hunk.new.iter().cloned());
        from = place + hunk.new.len();
    }
    let ends = text.is_empty() || text.ends_with('\n');
    let mut changed = lines.join("\n");
    if ends && !lines.is_empty() {
        changed.push('\n');
    }
    Ok(changed)
}

/// The first line of the place, at or after line `from`.
fn locate(hunk: &Hunk, lines: &[String], from: usize) -> Option<usize> {
    let mut from = from;
    for anchor in &hunk.anchors {
        from += find_lines(lines.get(from..)?, std::slice::from_ref(anchor))? + 1;
    }
    if hunk.old.is_empty() {
        return Some(if hunk.anchors.is_empty() { lines.len() } else { from });
    }
    if hunk.is_at_end {
        let last = lines.len().checked_sub(hunk.old.len()).filter(|last| *last >= from)?;
        return (find_lines(lines.get(last..)?, &hunk.old)? == 0).then_some(last);
    }
    // An anchor is often the first of the old lines as well.
    let near = find_lines(lines.get(from..)?, &hunk.old).map(|at| from + at);
    near.or_else(|| {
        let before = from.checked_sub(1).filter(|_| !hunk.anchors.is_empty())?;
        (find_lines(lines.get(before..)?, &hunk.old)? == 0).then_some(before)
    })
}

fn find_lines(lines: &[String], wanted: &[String]) -> Option<usize> {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    FORMS.iter().find_map(|form| find(&lines, &wanted, *form))
}

fn missing(hunk: &Hunk, path: &str, number: usize, text: &str) -> ToolFailure {
    let message = format!("change {number} of `{path}` does not fit: its old lines are not where it says");
    let wanted = if hunk.old.is_empty() { hunk.anchors.join("\n") } else { hunk.old.join("\n") };
    ToolFailure::new("patch_does_not_fit", message).hint(hint_for_missing(text, &wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(anchors: &[&str], old: &[&str], new: &[&str]) -> Hunk {
        let own = |lines: &[&str]| lines.iter().map(ToString::to_string).collect();
        Hunk { anchors: own(anchors), old: own(old), new: own(new), is_at_end: false }
    }

    #[test]
    fn lines_are_found_after_their_anchor_and_with_loose_white_space() {
        let text = "fn a() {\n    x();\n}\nfn b() {\n    x();\n}\n";
        let changed = apply(&[hunk(&["fn b() {"], &["x();"], &["    y();"])], "f", text).unwrap();
        assert_eq!(changed, "fn a() {\n    x();\n}\nfn b() {\n    y();\n}\n");
        let changed =
            apply(&[hunk(&["fn b() {"], &["fn b() {", "    x();"], &["fn b() {"])], "f", text).unwrap();
        assert_eq!(changed, "fn a() {\n    x();\n}\nfn b() {\n}\n");
    }

    #[test]
    fn lines_are_added_at_the_end_when_nothing_says_where() {
        assert_eq!(apply(&[hunk(&[], &[], &["b"])], "f", "a\n").unwrap(), "a\nb\n");
        assert_eq!(apply(&[hunk(&[], &[], &["b"])], "f", "a").unwrap(), "a\nb");
    }

    #[test]
    fn the_end_of_the_file_is_the_last_of_several_places() {
        let at_end = Hunk { is_at_end: true, ..hunk(&[], &["x"], &["y"]) };
        assert_eq!(apply(&[at_end], "f", "x\nx\n").unwrap(), "x\ny\n");
    }

    #[test]
    fn what_is_not_there_is_told_with_what_is() {
        let failure = apply(&[hunk(&[], &["let count = 4;"], &[])], "f", "let counter = 4;\n").unwrap_err();
        assert_eq!(failure.code, "patch_does_not_fit");
        assert!(failure.hint.unwrap().contains("1: let counter = 4;"));
    }
}
