//! A text file as the editing tools see it: its text, and what of its form must stay.

use std::path::Path;

use buddy_protocol::ToolFailure;

use crate::tools::failure::target_failure;
use crate::tools::path_text::show_path;
use crate::tools::tool::Sight;

/// The largest file that is edited. What is larger is changed with commands.
pub(crate) const MAX_EDIT: u64 = 16 * 1024 * 1024;

/// The mark at the beginning of some files.
const BOM: &str = "\u{feff}";

/// A file's text with `\n` at the end of each line and without a byte order mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFile {
    pub(crate) text: String,
    has_bom: bool,
    /// Whether most lines end with `\r\n`.
    has_crlf: bool,
}

impl TextFile {
    /// Takes a text apart.
    pub(crate) fn new(content: &str) -> Self {
        let has_bom = content.starts_with(BOM);
        let text = content.strip_prefix(BOM).unwrap_or(content);
        let all = text.matches('\n').count();
        let with_return = text.matches("\r\n").count();
        let has_crlf = with_return * 2 > all;
        let text = if has_crlf { text.replace("\r\n", "\n") } else { text.to_owned() };
        Self { text, has_bom, has_crlf }
    }

    /// The content of the file when its text is this.
    pub(crate) fn content(&self, text: &str) -> String {
        let lines =
            if self.has_crlf { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text.to_owned() };
        if self.has_bom { format!("{BOM}{lines}") } else { lines }
    }

    /// Whether most lines end with `\r\n`.
    pub(crate) fn has_crlf(&self) -> bool {
        self.has_crlf
    }

    /// Reads a file that is to be edited.
    pub(crate) async fn read(sight: &Sight, path: &Path) -> Result<Self, ToolFailure> {
        let read = sight.target.read(&sight.bounds, path, MAX_EDIT).await;
        let file = read.map_err(|error| target_failure(&error))?;
        if file.truncated {
            let message =
                format!("`{}` has {} bytes, up to {MAX_EDIT} can be edited", show_path(path), file.size);
            return Err(
                ToolFailure::new("too_large", message).hint("change it with a command such as `sed -i`")
            );
        }
        let content = String::from_utf8(file.bytes).map_err(|_| {
            ToolFailure::new("binary", format!("`{}` is not a text in UTF-8", show_path(path)))
                .hint("change it with a command, or write it anew")
        })?;
        Ok(Self::new(&content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_a_file_stays() {
        for content in ["a\nb\n", "a\r\nb\r\n", "\u{feff}a\r\nb", "", "\u{feff}", "no end"] {
            let file = TextFile::new(content);
            assert!(!file.text.contains('\r'), "{content:?}");
            assert_eq!(file.content(&file.text), content);
        }
        assert_eq!(TextFile::new("a\r\nb\r\n").content("a\nc\n"), "a\r\nc\r\n");
    }

    #[test]
    fn a_file_with_few_returns_is_left_as_it_is() {
        let content = "a\nb\nc\r\nd\n";
        assert_eq!(TextFile::new(content).content(content), content);
    }
}
