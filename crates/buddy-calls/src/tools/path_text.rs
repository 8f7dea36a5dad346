//! Paths as text.

use std::path::Path;

/// A path as people and the model read it.
pub(crate) fn show_path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
