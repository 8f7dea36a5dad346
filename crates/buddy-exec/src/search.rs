//! Searching below a directory: for text in files (`grep`) and for files by name (`glob`).
//!
//! A walk stays beneath the directory where it begins, goes through no link, and never shows hidden files.
//! Results come in the order of their paths, and a limit keeps the first of them, regardless of the order of
//! the threads.

mod first;
mod glob;
mod grep;
mod lines;
mod pattern;
mod walk;

pub(crate) use glob::glob;
pub use glob::{GlobQuery, GlobResult};
pub use grep::{FileMatches, GrepQuery, GrepResult};
pub(crate) use grep::{grep, matcher, take_matches};
pub use lines::MatchedLine;
pub(crate) use lines::cut;
pub(crate) use pattern::name_pattern;
pub(crate) use walk::Stop;
