//! Unified diffs, as `diff -u` and `git diff` make them.

use buddy_protocol::ToolFailure;

use super::change::{Change, Edit, Hunks, bad};
use crate::tools::closest::hint_for_missing;

/// The name in the place of a file that does not exist.
const NOTHING: &str = "/dev/null";

/// Reads a diff of any number of files.
pub(super) fn parse(text: &str) -> Result<Vec<Change>, ToolFailure> {
    let mut changes = Vec::new();
    let mut section = Section::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if section.takes(line) {
            continue;
        }
        if line.starts_with("diff --git ") || (line.starts_with("--- ") && section.old.is_some()) {
            changes.extend(std::mem::take(&mut section).finish()?);
        }
        if let Some(path) = line.strip_prefix("--- ") {
            let Some(new) = lines.next_if(|next| next.starts_with("+++ ")) else {
                return Err(bad(format!("`{line}` is not followed by a `+++` line")));
            };
            section.old = Some(file_name(path)?);
            section.new = Some(file_name(new.strip_prefix("+++ ").unwrap_or_default())?);
        } else if let Some(path) = line.strip_prefix("rename from ") {
            section.rename_from = Some(path.to_owned());
        } else if let Some(path) = line.strip_prefix("rename to ") {
            section.rename_to = Some(path.to_owned());
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return Err(bad("binary changes cannot be applied".to_owned()));
        } else if line.starts_with("@@ ") {
            section.begin_hunk(line)?;
        }
    }
    changes.extend(section.finish()?);
    Ok(changes)
}

/// Applies the diff of one file.
pub(super) fn apply(diff: &str, path: &str, text: &str) -> Result<String, ToolFailure> {
    let patch =
        diffy::Patch::from_str(diff).map_err(|error| bad(format!("the diff of `{path}`: {error}")))?;
    diffy::apply(text, &patch).map_err(|error| {
        let old = |line: &str| line.strip_prefix(' ').or(line.strip_prefix('-')).map(str::to_owned);
        let lines: Vec<String> = diff.lines().skip(3).map_while(old).collect();
        let message = format!("the diff of `{path}` does not fit: {error}");
        ToolFailure::new("patch_does_not_fit", message).hint(hint_for_missing(text, &lines.join("\n")))
    })
}

/// The part of a diff that is about one file.
#[derive(Default)]
struct Section {
    old: Option<String>,
    new: Option<String>,
    rename_from: Option<String>,
    rename_to: Option<String>,
    hunks: String,
    /// Lines of the hunk that are still to come, of the old side and of the new.
    left: (usize, usize),
}

impl Section {
    /// Takes a line of a hunk that is not complete yet. Whatever it looks like, it is no header.
    fn takes(&mut self, line: &str) -> bool {
        let is_mark = line.starts_with('\\') && !self.hunks.is_empty();
        if self.left == (0, 0) && !is_mark {
            return false;
        }
        let (old, new) = match line.chars().next() {
            Some(' ') | None => (1, 1),
            Some('-') => (1, 0),
            Some('+') => (0, 1),
            _ => (0, 0),
        };
        self.left = (self.left.0.saturating_sub(old), self.left.1.saturating_sub(new));
        self.hunks.push_str(if line.is_empty() { " " } else { line });
        self.hunks.push('\n');
        true
    }

    fn begin_hunk(&mut self, line: &str) -> Result<(), ToolFailure> {
        let mut words = line.split(' ').skip(1);
        let mut count = |sign: char| -> Option<usize> {
            let range = words.next()?.strip_prefix(sign)?;
            range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok())
        };
        let (old, new) = (count('-'), count('+'));
        let (Some(old), Some(new)) = (old, new) else {
            return Err(bad(format!("`{line}` is not the head of a change")));
        };
        self.left = (old, new);
        self.hunks.push_str(line);
        self.hunks.push('\n');
        Ok(())
    }

    fn finish(self) -> Result<Option<Change>, ToolFailure> {
        if self.left != (0, 0) {
            return Err(bad("the last change of a file is cut off".to_owned()));
        }
        let (Some(old), Some(new)) = (&self.old, &self.new) else {
            return Ok(match (self.rename_from, self.rename_to) {
                (Some(path), to @ Some(_)) => {
                    let hunks = Hunks::ByContent(Vec::new());
                    Some(Change { path, edit: Edit::Update { to, hunks } })
                }
                _ => None,
            });
        };
        if self.hunks.is_empty() {
            return Err(bad(format!("the diff of `{new}` has no changes")));
        }
        let diff = format!("--- {old}\n+++ {new}\n{}", self.hunks);
        let (old, new) = bare(old, new);
        if old == NOTHING {
            let content = apply(&diff, &new, "")?;
            return Ok(Some(Change { path: new, edit: Edit::Add { content } }));
        }
        if new == NOTHING {
            return Ok(Some(Change { path: old, edit: Edit::Delete }));
        }
        let to = self.rename_to.or_else(|| (old != new).then_some(new));
        let hunks = Hunks::Unified(diff);
        Ok(Some(Change { path: self.rename_from.unwrap_or(old), edit: Edit::Update { to, hunks } }))
    }
}

/// The name in a `---` or `+++` line, without the time that may follow it.
fn file_name(text: &str) -> Result<String, ToolFailure> {
    let name = text.split('\t').next().unwrap_or(text).trim();
    match name {
        "" => Err(bad("a file in the diff has no name".to_owned())),
        name if name.starts_with('"') => Err(bad(format!("the quoted name {name} is not understood"))),
        name => Ok(name.to_owned()),
    }
}

/// Both names without the `a/` and `b/` that git puts before them.
fn bare(old: &str, new: &str) -> (String, String) {
    let strip = |name: &str, prefix: &str| match name {
        NOTHING => Some(NOTHING.to_owned()),
        name => name.strip_prefix(prefix).map(str::to_owned),
    };
    match (strip(old, "a/"), strip(new, "b/")) {
        (Some(old), Some(new)) => (old, new),
        _ => (old.to_owned(), new.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_look_like_headers_belong_to_their_hunk() {
        let diff = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- old comment\n+++ new comment\n keep\n";
        let changes = parse(diff).unwrap();
        assert_eq!(changes.len(), 1);
        let Edit::Update { hunks, .. } = &changes[0].edit else { panic!() };
        assert_eq!(
            super::super::perform::apply(hunks, "x.sql", "-- old comment\nkeep\n").unwrap(),
            "++ new comment\nkeep\n"
        );
    }

    #[test]
    fn renames_and_files_without_a_last_line_end_are_understood() {
        let diff = "diff --git a/a b/b\nsimilarity index 90%\nrename from a\nrename to b\n--- a/a\n+++ b/b\n@@ -1 +1 @@\n\
                    -x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n\
                    diff --git a/c b/d\nrename from c\nrename to d\n";
        let changes = parse(diff).unwrap();
        let Edit::Update { to, hunks } = &changes[0].edit else { panic!() };
        assert_eq!((changes[0].path.as_str(), to.as_deref()), ("a", Some("b")));
        assert_eq!(super::super::perform::apply(hunks, "a", "x").unwrap(), "y");
        assert_eq!(changes[1].path, "c");
    }

    #[test]
    fn broken_diffs_are_refused() {
        for diff in ["--- a\n", "--- a\n+++ b\n@@ nonsense @@\n", "--- a\n+++ b\n@@ -1,5 +1,5 @@\n x\n"] {
            assert_eq!(parse(diff).unwrap_err().code, "bad_patch", "{diff}");
        }
    }
}
