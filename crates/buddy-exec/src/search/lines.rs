//! Matching lines, with those around them, cut to a readable length.

use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchedLine {
    /// Counted from 1.
    pub number: u64,
    /// Without its line end; a long line is cut around the match.
    pub text: String,
    /// Whether it matches, or is context.
    pub is_match: bool,
}

/// Collects the lines of one file.
pub(super) struct Collector<'m> {
    pub(super) matcher: &'m RegexMatcher,
    /// The most lines that match.
    pub(super) limit: usize,
    /// The longest line, in characters.
    pub(super) max_line: usize,
    pub(super) lines: Vec<MatchedLine>,
    pub(super) matches: usize,
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.matches += 1;
        let at = self.matcher.find(found.bytes()).ok().flatten().map_or(0, |found| found.start());
        let text = cut(found.bytes(), at, self.max_line);
        self.lines.push(MatchedLine { number: found.line_number().unwrap_or(0), text, is_match: true });
        Ok(self.matches < self.limit)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let text = cut(context.bytes(), 0, self.max_line);
        self.lines.push(MatchedLine { number: context.line_number().unwrap_or(0), text, is_match: false });
        Ok(true)
    }
}

/// The part of a line around byte `at`, at most `most` characters of it.
pub(crate) fn cut(line: &[u8], at: usize, most: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // A character has at most four bytes, so this is enough on both sides.
    let from = at.saturating_sub(most / 4);
    let window = line.get(from..).unwrap_or_default();
    let (window, rest) = window.split_at(window.len().min(most * 4));
    let text = String::from_utf8_lossy(window);
    let is_cut_before = from > 0;
    let text = if is_cut_before { text.trim_start_matches('\u{fffd}') } else { &text };
    let kept: String = text.chars().take(most).collect();
    let is_cut_after = !rest.is_empty() || kept.len() < text.len();
    format!("{}{kept}{}", if is_cut_before { "…" } else { "" }, if is_cut_after { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_its_match() {
        let line = format!("{}needle{}\n", "é".repeat(500), "x".repeat(500));
        let text = cut(line.as_bytes(), 1_000, 40);
        assert!(text.starts_with("…é") && text.ends_with("x…") && text.contains("needle"), "{text}");
        assert!(text.chars().count() <= 42);
        assert_eq!(cut(b"short\r\n", 0, 40), "short");
    }
}
