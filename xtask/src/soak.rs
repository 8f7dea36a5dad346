//! `cargo xtask soak`: the release build under output without end, on a large file, and killed over and over.

mod flood;
mod kills;
mod large;
mod stage;

use anyhow::Result;
use clap::Args;

use crate::bench::build_release;
use stage::Stage;

/// How hard to try.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Gigabytes of output that one command prints; 0 leaves the flood out.
    #[arg(long, default_value_t = 10)]
    gigabytes: u64,

    /// How often a run is killed at a random moment; 0 leaves the kills out.
    #[arg(long, default_value_t = 100)]
    kills: u32,

    /// Gigabytes of the file that is read, searched and patched; 0 leaves it out.
    #[arg(long, default_value_t = 1)]
    file_gigabytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { gigabytes: 10, kills: 100, file_gigabytes: 1 }
    }
}

/// Runs them all.
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
