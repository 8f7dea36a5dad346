//! A parser for unified diffs.
//!
//! Diffs come from tools and models: counts that are missing or wrong lose nothing.

use std::iter::Peekable;
use std::str::Lines;

/// A line of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DiffEntry<'a> {
    File(DiffFile<'a>),
    /// Where the next lines are: the first of them, and what is around.
    Place(Option<usize>, &'a str),
    Line(DiffLineKind, Option<usize>, &'a str),
    /// Anything else.
    Note(&'a str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiffFile<'a> {
    /// The old name, if the file existed.
    pub(super) old: Option<&'a str>,
    /// The new name, if the file still exists.
    pub(super) new: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiffLineKind {
    Same,
    Removed,
    Added,
}

pub(super) fn parse(diff: &str) -> Vec<DiffEntry<'_>> {
    let mut reader = DiffReader { lines: diff.lines().peekable(), hunk: None, entries: Vec::new() };
    while let Some(line) = reader.lines.next() {
        reader.read(line);
    }
    reader.entries
}

struct DiffReader<'a> {
    lines: Peekable<Lines<'a>>,
    hunk: Option<DiffHunk>,
    entries: Vec<DiffEntry<'a>>,
}

/// The lines that follow in a place.
#[derive(Clone, Copy, Default)]
struct DiffHunk {
    old: Option<usize>,
    new: Option<usize>,
    /// How many lines of each file are still to come.
    old_left: usize,
    new_left: usize,
}

impl<'a> DiffReader<'a> {
    fn read(&mut self, line: &'a str) {
        let is_expected = self.hunk.is_some_and(|hunk| hunk.old_left > 0 || hunk.new_left > 0);
        if is_expected && self.change(line) {
            return;
        }
        if let Some(place) = line.strip_prefix("@@") {
            self.place(place);
        } else if let (Some(old), Some(new)) = (line.strip_prefix("--- "), self.next_name()) {
            self.lines.next();
            self.file(old, new);
        } else if !self.change(line) && !is_plumbing(line) {
            self.entries.push(DiffEntry::Note(line));
        }
    }

    fn next_name(&mut self) -> Option<&'a str> {
        self.lines.peek().and_then(|line| line.strip_prefix("+++ "))
    }

    /// Takes a line of the files, if it is one.
    fn change(&mut self, line: &'a str) -> bool {
        let Some(hunk) = &mut self.hunk else { return false };
        let mut letters = line.chars();
        let kind = match letters.next() {
            Some(' ') => DiffLineKind::Same,
            // Some editors strip the space of an empty line.
            None if hunk.old_left > 0 && hunk.new_left > 0 => DiffLineKind::Same,
            Some('-') => DiffLineKind::Removed,
            Some('+') => DiffLineKind::Added,
            _ => return false,
        };
        let number = if kind == DiffLineKind::Removed { hunk.old } else { hunk.new };
        if kind != DiffLineKind::Added {
            hunk.old = hunk.old.map(|number| number.saturating_add(1));
            hunk.old_left = hunk.old_left.saturating_sub(1);
        }
        if kind != DiffLineKind::Removed {
            hunk.new = hunk.new.map(|number| number.saturating_add(1));
            hunk.new_left = hunk.new_left.saturating_sub(1);
        }
        self.entries.push(DiffEntry::Line(kind, number, letters.as_str()));
        true
    }

    /// Reads ` -1,2 +3,4 @@ around`, or whatever a model made of it.
    fn place(&mut self, place: &'a str) {
        let (ranges, around) = place.split_once("@@").unwrap_or(("", place));
        let range = |sign| ranges.split(' ').find_map(|part| range(part.strip_prefix(sign)?));
        let (old, new) = (range('-'), range('+'));
        self.hunk = Some(DiffHunk {
            old: old.map(|(start, _)| start),
            new: new.map(|(start, _)| start),
            old_left: old.map_or(0, |(_, count)| count),
            new_left: new.map_or(0, |(_, count)| count),
        });
        let start = new.or(old).map(|(start, _)| start.max(1));
        self.entries.push(DiffEntry::Place(start, around.trim()));
    }

    fn file(&mut self, old: &'a str, new: &'a str) {
        let name = |name: &'a str| {
            let name = name.split_once('\t').map_or(name, |(name, _)| name);
            (name != "/dev/null").then_some(name)
        };
        let (mut old, mut new) = (name(old), name(new));
        let bare = |name: Option<&'a str>, sign| name.map(|name| name.strip_prefix(sign));
        let (bare_old, bare_new) = (bare(old, "a/"), bare(new, "b/"));
        if bare_old != Some(None) && bare_new != Some(None) {
            (old, new) = (bare_old.flatten(), bare_new.flatten());
        }
        self.hunk = None;
        self.entries.push(DiffEntry::File(DiffFile { old, new }));
    }
}

/// `3,4` or `3`.
fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// Lines that say nothing which the names of the files do not.
fn is_plumbing(line: &str) -> bool {
    ["diff --git ", "index ", "new file mode", "deleted file mode", "similarity index", "==="]
        .iter()
        .any(|start| line.starts_with(start))
        || line.is_empty()
}
