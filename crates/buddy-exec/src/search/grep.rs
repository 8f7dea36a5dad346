//! Searching the text of files, with ripgrep's own searcher.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use rustix::fs::{FileType, Mode, OFlags, fstat, openat};

use super::first::First;
use super::lines::{Collector, MatchedLine};
use super::pattern::{MAX_PATTERN, name_pattern};
use super::walk::{Missed, Stop, Walk, WalkEntry};
use crate::TargetError;
use crate::files::View;

/// Memory that one compiled pattern may take. Patterns that need more are refused; all others run in linear time.
const PATTERN_BYTES: usize = 10 * 1024 * 1024;
/// The longest line that is searched. A file with a longer one is skipped and counted.
const LINE_BYTES: usize = 8 * 1024 * 1024;

/// A query for text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepQuery {
    /// A regular expression, for single lines.
    pub pattern: String,
    /// Whether capital and small letters are the same.
    pub ignore_case: bool,
    /// Only in files whose path matches.
    pub names: Option<String>,
    /// Lines of context before and after each match.
    pub context: usize,
    /// The most lines that match, or the most files when lines are not wanted.
    pub limit: usize,
    /// The longest line given, in characters.
    pub max_line: usize,
    /// Only which files match, without lines.
    pub files_only: bool,
    /// Whether files that `.gitignore` names are searched too.
    pub with_ignored: bool,
}

/// The result of a search for text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrepResult {
    /// Files with matches, in order.
    pub files: Vec<FileMatches>,
    /// Whether there are more matches.
    pub truncated: bool,
    /// The number of files that were searched.
    pub searched: u64,
    /// Files that could not be searched to their end, and directories that could not be read.
    pub skipped: u64,
    /// Files that were not searched because they can hold secrets.
    pub sealed: u64,
}

/// The matches in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileMatches {
    /// Relative to the directory of the search; for a single file its name.
    pub path: PathBuf,
    /// Lines that match and their context; empty when only files are wanted.
    pub lines: Vec<MatchedLine>,
}

/// Searches a file, or the files below a directory.
pub(crate) fn grep(
    view: &View,
    path: &Path,
    query: &GrepQuery,
    stop: &Stop,
) -> Result<GrepResult, TargetError> {
    let top = view.open_directory(path);
    let search = Search {
        view,
        query,
        matcher: matcher(query)?,
        names: query.names.as_deref().map(name_pattern).transpose()?,
        first: First::new(query.limit),
        searched: AtomicU64::new(0),
        skipped: AtomicU64::new(0),
        sealed: AtomicU64::new(0),
        top: top.as_ref().map(|top| top.real.clone()).unwrap_or_default(),
        stop,
    };
    let missed = match top {
        Ok(top) => {
            let walk = Walk { view, top: &top, with_ignored: query.with_ignored, stop };
            walk.run(|| {
                let mut searcher = search.searcher();
                let search = &search;
                move |found: &WalkEntry<'_>| search.found(&mut searcher, found)
            })
        }
        Err(TargetError::NotADirectory { .. }) => {
            let (file, _) = view.open_file(path)?;
            let name = PathBuf::from(path.file_name().unwrap_or_default());
            search.file(&mut search.searcher(), file, name);
            Missed::default()
        }
        Err(error) => return Err(error),
    };
    Ok(search.into_result(missed))
}

pub(crate) fn matcher(query: &GrepQuery) -> Result<RegexMatcher, TargetError> {
    let bad = |reason: String| TargetError::BadPattern { reason };
    if query.pattern.is_empty() || query.pattern.len() > MAX_PATTERN {
        return Err(bad(format!("a pattern has 1 to {MAX_PATTERN} bytes")));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(query.ignore_case).multi_line(true).line_terminator(Some(b'\n'));
    builder.size_limit(PATTERN_BYTES).dfa_size_limit(PATTERN_BYTES);
    builder.build(&query.pattern).map_err(|error| bad(error.to_string()))
}

/// A search in progress.
struct Search<'a> {
    view: &'a View,
    query: &'a GrepQuery,
    matcher: RegexMatcher,
    names: Option<GlobMatcher>,
    first: First<Vec<MatchedLine>>,
    searched: AtomicU64,
    skipped: AtomicU64,
    sealed: AtomicU64,
    /// The directory of the search, without links.
    top: PathBuf,
    stop: &'a Stop,
}

impl Search<'_> {
    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .memory_map(MmapChoice::never())
            .heap_limit(Some(LINE_BYTES))
            .line_number(!self.query.files_only)
            .before_context(self.query.context)
            .after_context(self.query.context)
            .build()
    }

    fn found(&self, searcher: &mut Searcher, found: &WalkEntry<'_>) {
        let is_wanted = found.kind == FileType::RegularFile
            && self.names.as_ref().is_none_or(|names| names.is_match(found.path))
            && self.first.wants(found.path);
        if !is_wanted {
            return;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = openat(found.directory, found.name.as_c_str(), flags, Mode::empty());
        let Some((file, stat)) = opened.ok().and_then(|file| fstat(&file).ok().map(|stat| (file, stat)))
        else {
            self.skipped.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if !is_file || self.view.hides_object((stat.st_dev, stat.st_ino)) {
            return;
        }
        if self.view.seals(&self.top.join(found.path), &stat) {
            self.sealed.fetch_add(1, Ordering::Relaxed);
        } else {
            self.file(searcher, File::from(file), found.path.to_owned());
        }
    }

    fn file(&self, searcher: &mut Searcher, file: File, path: PathBuf) {
        // One more than the limit, to know whether there are more.
        let limit = if self.query.files_only { 1 } else { self.query.limit.saturating_add(1) };
        let max_line = self.query.max_line;
        let mut collector =
            Collector { matcher: &self.matcher, limit, max_line, lines: Vec::new(), matches: 0 };
        let reader = Stoppable { file, stop: self.stop };
        self.searched.fetch_add(1, Ordering::Relaxed);
        if searcher.search_reader(&self.matcher, reader, &mut collector).is_err() {
            self.skipped.fetch_add(1, Ordering::Relaxed);
        }
        if collector.matches > 0 {
            self.first.add(path, collector.matches, collector.lines);
        }
    }

    fn into_result(self, missed: Missed) -> GrepResult {
        let (results, is_cut) = self.first.into_results();
        let mut truncated = is_cut || missed.is_cut;
        let mut left = self.query.limit;
        let mut files = Vec::new();
        for (path, mut lines) in results {
            if left == 0 {
                truncated = true;
                break;
            }
            if self.query.files_only {
                left -= 1;
                lines.clear();
            } else {
                truncated |= take_matches(&mut lines, &mut left);
            }
            files.push(FileMatches { path, lines });
        }
        let skipped = self.skipped.into_inner() + missed.unreadable;
        let (searched, sealed) = (self.searched.into_inner(), self.sealed.into_inner());
        GrepResult { files, truncated, searched, skipped, sealed }
    }
}

/// Cuts the lines after the remaining number of matches. Returns true when there were more.
pub(crate) fn take_matches(lines: &mut Vec<MatchedLine>, left: &mut usize) -> bool {
    for at in 0..lines.len() {
        if !lines.get(at).is_some_and(|line| line.is_match) {
            continue;
        }
        if *left == 0 {
            lines.truncate(at);
            return true;
        }
        *left -= 1;
    }
    false
}

/// A file that ends with an error when the search is to stop.
struct Stoppable<'a> {
    file: File,
    stop: &'a Stop,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            return Err(io::Error::other("the search was stopped"));
        }
        self.file.read(buffer)
    }
}
