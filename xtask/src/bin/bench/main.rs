//! Measures the release build: `bench BUDDY [--strict] [PART…]`, started by `cargo xtask bench`.
//!
//! Every figure has a reference figure of the machine itself, taken in the same run, because a figure alone
//! says more about the disk and the load than about buddy.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it measures programs that it starts, and prints what it found"
)]

mod appends;
mod decoder;
mod facts;
mod house;
mod jail;
mod judging;
mod long;
mod oneshot;
mod panes;
mod programs;
mod sample;
mod screen;
mod search;
mod ssh;
mod stream;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::table::Table;

/// A part, by its name.
type Measure<'a> = (&'a str, &'a dyn Fn(&mut Table) -> Result<()>);

fn main() -> Result<ExitCode> {
    let mut words = std::env::args().skip(1);
    let buddy = PathBuf::from(words.next().context("usage: bench BUDDY [--strict] [PART…]")?);
    let (options, parts): (Vec<String>, Vec<String>) = words.partition(|word| word.starts_with("--"));
    let is_strict = options.iter().any(|word| word == "--strict");
    let is_named = |part: &str| parts.iter().any(|wanted| wanted == part);
    // The part that takes an hour runs only if it is named.
    let is_wanted = |part: &str| is_named(part) || parts.is_empty() && part != "hour";
    // Next to the program, which is on a disk; a file system in memory would make every sync free.
    let place = buddy.parent().context("the program has no folder")?;
    let folder = tempfile::Builder::new().prefix("bench-").tempdir_in(place)?;
    let mut table = Table::default();
    let measures: [Measure<'_>; 13] = [
        ("programs", &|table| programs::measure(&buddy, table)),
        ("oneshot", &|table| oneshot::measure(&buddy, folder.path(), table)),
        ("jail", &|table| jail::measure(&buddy, folder.path(), table)),
        ("panes", &|table| panes::measure(&buddy, folder.path(), table)),
        ("stream", &|table| stream::measure(&buddy, folder.path(), table)),
        ("screen", &|table| screen::measure(&buddy, folder.path(), table)),
        ("hour", &|table| screen::hour(&buddy, folder.path(), table)),
        ("decoder", &|table| decoder::measure(table)),
        ("judging", &|table| judging::measure(table)),
        ("appends", &|table| appends::measure(folder.path(), table)),
        ("long", &|table| long::measure(folder.path(), table)),
        ("search", &|table| search::measure(folder.path(), table)),
        ("ssh", &|table| ssh::measure(table)),
    ];
    for (part, measure) in measures {
        if is_wanted(part) {
            measure(&mut table)?;
            table.print_new();
        }
    }
    table.print_misses();
    Ok(if is_strict && table.misses() > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
