//! Finding files by their names.

use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::first::First;
use super::pattern::name_pattern;
use super::walk::{Stop, Walk};
use crate::TargetError;
use crate::files::View;

/// A query for names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobQuery {
    /// The pattern, such as `src/**/*.rs`. Without a slash it is for the last name alone, at any depth.
    pub pattern: String,
    /// The most paths.
    pub limit: usize,
    /// Whether files that `.gitignore` names are found too.
    pub with_ignored: bool,
}

/// The result of a search for names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GlobResult {
    /// Files and links, relative to the directory of the search, in order.
    pub paths: Vec<PathBuf>,
    /// Whether there are more.
    pub truncated: bool,
    /// Directories that could not be read.
    pub unreadable: u64,
}

/// Finds files below a directory.
pub(crate) fn glob(
    view: &View,
    path: &Path,
    query: &GlobQuery,
    stop: &Stop,
) -> Result<GlobResult, TargetError> {
    let pattern = name_pattern(&query.pattern)?;
    let top = view.open_directory(path)?;
    let walk = Walk { view, top: &top, with_ignored: query.with_ignored, stop };
    let first = First::new(query.limit);
    let missed = walk.run(|| {
        |found: &super::walk::WalkEntry<'_>| {
            if found.kind != FileType::Directory && pattern.is_match(found.path) && first.wants(found.path) {
                first.add(found.path.to_owned(), 1, ());
            }
        }
    });
    let (results, is_cut) = first.into_results();
    let is_cut = is_cut || results.len() > query.limit;
    let paths = results.into_iter().map(|(path, ())| path).take(query.limit).collect();
    Ok(GlobResult { paths, truncated: is_cut || missed.is_cut, unreadable: missed.unreadable })
}
