//! The files of the project, read once.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Folders without any of the project's own files.
const SKIPPED: &[&str] = &[".git", "target", "node_modules", "corpus", "artifacts", "coverage"];
/// Larger files are data; the rules apply to text that people write.
const MAX_BYTES: u64 = 1 << 20;

/// A file of the project.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Its path below the root, with slashes.
    pub(crate) path: String,
    /// Its text; empty for data.
    pub(crate) text: String,
}

/// All files of the project, in the order of their paths.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: Vec<SourceFile>,
}

impl Tree {
    /// Reads everything below a folder.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.walk(root, "")?;
        tree.files.sort_by(|first, second| first.path.cmp(&second.path));
        Ok(tree)
    }

    fn walk(&mut self, folder: &Path, prefix: &str) -> Result<()> {
        let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let kind = entry.file_type()?;
            // In a linked worktree the file `.git` contains a path of this machine.
            if SKIPPED.contains(&&*name) {
                continue;
            }
            if kind.is_dir() {
                self.walk(&entry.path(), &format!("{prefix}{name}/"))?;
            } else if kind.is_file() {
                let text = match entry.metadata()?.len() {
                    0..=MAX_BYTES => fs::read(entry.path())?,
                    _ => Vec::new(),
                };
                let text = String::from_utf8(text).unwrap_or_default();
                self.files.push(SourceFile { path: format!("{prefix}{name}"), text });
            }
        }
        Ok(())
    }

    /// Rust sources that people wrote.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &SourceFile> {
        self.files
            .iter()
            .filter(|file| Path::new(&file.path).extension().is_some_and(|extension| extension == "rs"))
    }

    /// A made-up tree.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file =
            |(path, text): &(&str, &str)| SourceFile { path: (*path).to_owned(), text: (*text).to_owned() };
        Self { files: files.iter().map(file).collect() }
    }
}

impl SourceFile {
    /// Whether it holds streams or records that tests compare with the code: they quote other programs.
    pub(crate) fn is_fixture(&self) -> bool {
        self.path.split('/').any(|part| part == "fixtures" || part == "snapshots")
    }

    /// The `//!` lines at the top.
    pub(crate) fn module_docs(&self) -> impl Iterator<Item = &str> {
        let is_head = |line: &&str| line.starts_with("//!") || line.starts_with("#!") || line.is_empty();
        self.text.lines().take_while(is_head).filter(|line| line.starts_with("//!"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_output_and_history_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["src/a.rs", "target/debug/b.rs", ".git/config", "fuzz/corpus/c"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        let tree = Tree::read(folder.path()).unwrap();
        assert_eq!(tree.files.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["src/a.rs"]);
    }
}
