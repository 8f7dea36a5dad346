//! The prompts of before, in a file of the user's own: one JSON string a line, the newest last.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::config::replace;

/// How many entries are kept.
const KEPT: usize = 5_000;
/// From how many lines on the file is written anew with those that are kept.
const MOST_LINES: usize = 2 * KEPT;
/// A longer text is not kept: it was pasted.
const MAX_BYTES: usize = 16 * 1024;

/// The file.
pub(super) struct HistoryFile {
    path: PathBuf,
}

impl HistoryFile {
    pub(super) fn new(data: &Path) -> Self {
        Self { path: data.join("history") }
    }

    /// The entries, the oldest first. A line that cannot be read is left out.
    pub(super) fn read(&self) -> Vec<String> {
        let text = std::fs::read(&self.path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let mut entries: Vec<String> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let is_long = entries.len() > MOST_LINES;
        let excess = entries.len().saturating_sub(KEPT);
        entries.drain(..excess);
        if is_long {
            let lines: String =
                entries.iter().filter_map(|entry| Some(serde_json::to_string(entry).ok()? + "\n")).collect();
            let _ = replace(&self.path, &lines);
        }
        entries
    }

    /// Adds an entry, in one write, as several conversations share the file. Losing one is no reason to stop.
    pub(super) fn add(&self, text: &str) {
        if text.len() > MAX_BYTES {
            return;
        }
        let Ok(line) = serde_json::to_string(text) else { return };
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path);
        let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        if let Err(error) = written {
            tracing::warn!(%error, "what was sent cannot be kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_in_order_and_the_file_stays_small() {
        let home = tempfile::tempdir().unwrap();
        let file = HistoryFile::new(home.path());
        assert!(file.read().is_empty());
        file.add("one\ntwo");
        file.add(&"x".repeat(MAX_BYTES + 1));
        file.add("three");
        assert_eq!(file.read(), ["one\ntwo", "three"]);
        let lines = (0..=MOST_LINES).map(|number| format!("\"{number}\"\nnot json"));
        let many = lines.collect::<Vec<_>>().join("\n");
        std::fs::write(&file.path, many).unwrap();
        assert_eq!(file.read().len(), KEPT);
        assert_eq!(std::fs::read_to_string(&file.path).unwrap().lines().count(), KEPT);
    }
}
