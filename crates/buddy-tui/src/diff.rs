//! A unified diff as rows.
//!
//! Readable without colours by its signs; with them, what changed within a line is marked too.

mod parse;
mod rows;
mod within;

pub(crate) use rows::{DiffHead, changed_files, count_changes, render_diff, render_whole_diff};

#[cfg(test)]
mod tests;
