//! Paths as text.

use std::path::{Path, PathBuf};

/// A path as people and the model read it.
pub(crate) fn show_path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Files by the names that people know in a directory.
pub(crate) fn show_files(files: &[PathBuf], cwd: &Path) -> Vec<String> {
    let name = |file: &PathBuf| file.strip_prefix(cwd).unwrap_or(file).to_string_lossy().into_owned();
    files.iter().map(name).collect()
}
