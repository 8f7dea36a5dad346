//! A change as a unified diff, for people and the model.

use similar::TextDiff;

/// Lines of context around each change.
const CONTEXT: usize = 3;

/// The difference between two texts. One side empty means that the file was made or removed.
pub(crate) fn unified(path: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(CONTEXT).header(path, path).to_string()
}
