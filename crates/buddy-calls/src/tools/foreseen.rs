//! The facts about a change before it is made: its diff, or how much it is.

/// The facts about a change before it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Foreseen {
    /// The whole of it.
    Diff(String),
    /// How much it is.
    Extent(Extent),
}

/// How much a change is: files, and lines that are added and removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) files: usize,
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

impl Extent {
    /// That of a unified diff.
    pub(crate) fn of(diff: &str) -> Self {
        let mut extent = Self::default();
        // Lines of the hunk that are still to come, before and after. Outside of hunks, files begin.
        let (mut before, mut after) = (0_usize, 0_usize);
        for line in diff.lines() {
            let mark = line.chars().next();
            if before == 0 && after == 0 {
                extent.files += usize::from(line.starts_with("--- "));
                (before, after) = hunk(line).unwrap_or_default();
                continue;
            }
            let (is_removed, is_added) = (mark == Some('-'), mark == Some('+'));
            extent.removed += usize::from(is_removed);
            extent.added += usize::from(is_added);
            if mark != Some('\\') {
                before = before.saturating_sub(usize::from(!is_added));
                after = after.saturating_sub(usize::from(!is_removed));
            }
        }
        extent
    }

    /// The question about a change of this extent.
    pub(crate) fn added_to(self, question: &str) -> String {
        let lines = format!("(+{} −{})", self.added, self.removed);
        let files = if self.files == 1 { "1 file".to_owned() } else { format!("{} files", self.files) };
        match (question.contains('\n'), question.ends_with('?')) {
            (true, _) => format!("{files} {lines}\n{question}"),
            (false, true) => format!("{question} {files} {lines}"),
            (false, false) => format!("{question} {lines}"),
        }
    }
}

/// How many lines a hunk has before and after, by its first line.
fn hunk(line: &str) -> Option<(usize, usize)> {
    let (before, after) = line.strip_prefix("@@ -")?.split_once(" @@")?.0.split_once(" +")?;
    let count = |range: &str| range.split_once(',').map_or(Some(1), |(_, count)| count.parse().ok());
    Some((count(before)?, count(after)?))
}
