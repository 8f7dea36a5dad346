//! `cargo xtask soak`: the release build under endless output, on a large file, and killed repeatedly.

mod flood;
mod kills;
mod large;
mod stage;

use anyhow::Result;
use clap::Args;

use crate::bench::build_release;
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
}

impl Default for Options {
    fn default() -> Self {
        Self { gigabytes: 10, kills: 100, file_gigabytes: 1 }
    }
}

/// Runs all parts.
pub(crate) fn soak(options: &Options) -> Result<()> {
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
