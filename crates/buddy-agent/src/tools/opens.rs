//! Files with secrets that a yes opens: what commands cannot read as long as nobody is asked, and can once a user allowed them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use buddy_exec::{Bounds, Target};

/// Where to look, and by which bounds.
pub(crate) struct Seals {
    pub(crate) target: Arc<dyn Target>,
    /// The directories that the call may work in, and the one that it runs in.
    pub(crate) roots: Vec<PathBuf>,
    /// The bounds of the call when nobody is asked.
    pub(crate) unasked: Bounds,
    /// Its bounds once a user allowed it.
    pub(crate) allowed: Bounds,
}

impl Seals {
    /// The files as they are now, the nearest first.
    pub(crate) async fn opened(&self) -> Vec<PathBuf> {
        let mut files = self.target.sealed(&self.unasked, &self.roots).await;
        if !files.is_empty() {
            let closed = self.target.sealed(&self.allowed, &self.roots).await;
            files.retain(|file| !closed.contains(file));
        }
        files
    }
}

/// Files by the names that people know in a directory.
pub(crate) fn named(files: &[PathBuf], cwd: &Path) -> Vec<String> {
    let name = |file: &PathBuf| file.strip_prefix(cwd).unwrap_or(file).to_string_lossy().into_owned();
    files.iter().map(name).collect()
}
