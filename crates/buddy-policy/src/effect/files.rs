//! Effects on files, as a table: the words of a program that are read, written or removed.
//!
//! A row is data. It describes the effect of a program, or one use of it, on the files that its words name.
//! The rows stand in the files below by kind of program. Each row has example lines, which a test runs for
//! real on a scratch tree: the table must have announced every path that such a line changes. An option that
//! a row does not list could mean anything, so then every word counts as written.

mod archives;
mod brought;
mod compilers;
mod compressors;
mod copies;
mod git;
mod git_options;
mod keys;
mod outputs;
mod parse;
mod python_modules;
mod row;
mod runners;
mod touched;
mod untried;
mod weigh;

#[cfg(test)]
mod tests;

pub(crate) use brought::Brought;
pub(crate) use git::{GitPlace, stripped as git_words};
pub(crate) use row::FileRow;
pub(crate) use runners::{RUNNERS, passes_variables_on};
pub(crate) use touched::{Touched, WeighScope};
pub(crate) use untried::UNTRIED;
pub(crate) use weigh::{WeighOutcome, outcome};

/// Every row, in the order of the table.
pub(crate) fn rows() -> impl Iterator<Item = &'static FileRow> {
    [
        copies::ROWS,
        archives::ROWS,
        compressors::ROWS,
        outputs::ROWS,
        keys::ROWS,
        compilers::ROWS,
        python_modules::ROWS,
        git::ROWS,
    ]
    .into_iter()
    .flatten()
}
