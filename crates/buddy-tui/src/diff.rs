//! A unified diff as rows.
//!
//! Readable without colours by its signs; with them, what changed within a line is marked too.

mod parse;
mod rows;
mod within;

pub(crate) use rows::{DiffHead, change_counts, changed_files, diff_rows, whole_diff_rows};

#[cfg(test)]
mod tests;
