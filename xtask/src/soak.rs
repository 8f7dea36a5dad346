//! `cargo xtask soak`: the release build under endless output, on a large file, and killed repeatedly; the store through power cuts
//! and with every possible end missing.

mod flood;
mod kills;
mod large;
mod stage;

use anyhow::Result;
use clap::Args;

use crate::bench::build_release;
use crate::run::{cargo, run};
use stage::Stage;

/// Options of the soak test.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Gigabytes of output of one command; 0 skips the flood
    #[arg(long, default_value_t = 10)]
    gigabytes: u64,

    /// Number of runs to kill at a random moment; 0 skips the kills
    #[arg(long, default_value_t = 100)]
    kills: u32,

    /// Gigabytes of the file to read, search and patch; 0 skips it
    #[arg(long, default_value_t = 1)]
    file_gigabytes: u64,

    /// Number of power cuts during writes to the store; 0 skips these and the cut files
    #[arg(long, default_value_t = 50)]
    power_cuts: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { gigabytes: 10, kills: 100, file_gigabytes: 1, power_cuts: 50 }
    }
}

/// The tests of the store that have more cases than the ordinary tests have time for.
const STORE_TESTS: [&str; 2] = ["power::", "truncation::"];

/// Runs all parts.
pub(crate) fn soak(options: &Options) -> Result<()> {
    if options.power_cuts > 0 {
        let words = ["test", "--package", "buddy-store", "--test", "it", "--"];
        let mut command = cargo(&[&words[..], &STORE_TESTS[..]].concat())?;
        run(command.env("BUDDY_SOAK_ROUNDS", options.power_cuts.to_string()))?;
    }
    if options.gigabytes == 0 && options.file_gigabytes == 0 && options.kills == 0 {
        return Ok(());
    }
    build_release(&["--package", "buddy"])?;
    build_release(&["--package", "buddy-testkit", "--bin", "scripted-model"])?;
    if options.gigabytes > 0 {
        flood::flood(&Stage::new("flood", &flood::script(options.gigabytes))?, options.gigabytes)?;
    }
    if options.file_gigabytes > 0 {
        let stage = Stage::new("large", &large::script(options.file_gigabytes))?;
        large::large(&stage, options.file_gigabytes)?;
    }
    if options.kills > 0 {
        kills::kills(&Stage::new("kills", &kills::script())?, options.kills)?;
    }
    Ok(())
}
