//! Measures the release build: `bench BUDDY [--strict]`, started by `cargo xtask bench`.
//!
//! Every figure stands beside one of the machine itself, taken in the same run, because a figure alone says more about
//! the disk and the load than about buddy.
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
mod search;
mod ssh;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::table::Table;

fn main() -> Result<ExitCode> {
    let mut words = std::env::args().skip(1);
    let buddy = PathBuf::from(words.next().context("usage: bench BUDDY [--strict]")?);
    let is_strict = words.any(|word| word == "--strict");
    // Beside the program, which is on a disk; a file system in memory would make every sync free.
    let place = buddy.parent().context("the program has no folder")?;
    let folder = tempfile::Builder::new().prefix("bench-").tempdir_in(place)?;
    let mut table = Table::default();
    programs::measure(&buddy, &mut table)?;
    oneshot::measure(&buddy, folder.path(), &mut table)?;
    jail::measure(&buddy, folder.path(), &mut table)?;
    panes::measure(&buddy, folder.path(), &mut table)?;
    decoder::measure(&mut table)?;
    judging::measure(&mut table)?;
    appends::measure(folder.path(), &mut table)?;
    long::measure(folder.path(), &mut table)?;
    search::measure(folder.path(), &mut table)?;
    ssh::measure(&mut table)?;
    table.print();
    Ok(if is_strict && table.misses() > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
