//! `cargo xtask bench`: builds the release programs and runs the benchmark with them.

use anyhow::Result;
use clap::Args;

use crate::place;
use crate::run::{cargo, program, run};

/// Options of the benchmark.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Fail if a goal is missed.
    #[arg(long)]
    strict: bool,

    /// Parts to measure, such as `panes` [default: all]
    parts: Vec<String>,
}

/// Runs the benchmark.
pub(crate) fn bench(options: &Options) -> Result<()> {
    build_release(&["--package", "xtask", "--bin", "bench", "--features", "xtask/bench"])?;
    build_release(&["--package", "buddy"])?;
    let release = place::target()?.join("release");
    let mut bench = program(&release.join("bench").to_string_lossy());
    bench.arg(release.join("buddy"));
    if options.strict {
        bench.arg("--strict");
    }
    bench.args(&options.parts);
    run(&mut bench)
}

/// Builds the release programs one by one, so that features of one do not leak into another.
pub(crate) fn build_release(words: &[&str]) -> Result<()> {
    run(cargo(&["build", "--release", "--locked", "--quiet"])?.args(words))
}
