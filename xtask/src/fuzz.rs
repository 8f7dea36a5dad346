//! `cargo xtask fuzz`: damaged input for the parsers, on the nightly toolchain that the fuzzer needs.

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::place;
use crate::run::{program, run};
use crate::tools;

/// The fuzz targets, one file each under `fuzz/fuzz_targets/`.
const TARGETS: &[&str] = &["answer", "arguments", "event"];

/// What to fuzz.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// `answer`, `arguments` or `event`; without it all of them, one after the other.
    target: Option<String>,

    /// How long each target runs.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { target: None, seconds: 60 }
    }
}

/// Runs one target or all.
pub(crate) fn fuzz(options: &Options) -> Result<()> {
    run(program("rustup").args(["run", "nightly", "cargo", "--version"]))
        .context("fuzzing needs a nightly toolchain: `rustup toolchain install nightly --profile minimal`")?;
    tools::fuzz()?;
    let targets = match &options.target {
        None => TARGETS.to_vec(),
        Some(name) => match TARGETS.iter().find(|known| *known == name) {
            Some(known) => vec![*known],
            None => bail!("there is no fuzz target `{name}`; there are {}", TARGETS.join(", ")),
        },
    };
    targets.into_iter().try_for_each(|target| fuzz_one(target, options.seconds))
}

fn fuzz_one(target: &str, seconds: u64) -> Result<()> {
    println!("fuzzing `{target}` for {seconds} s");
    let mut command = program("rustup");
    command
        .args(["run", "nightly", "cargo", "fuzz", "run", target])
        // A folder of our own for what the fuzzer finds, and the fixtures to start from.
        .args([&*format!("fuzz/corpus/{target}"), "crates/buddy-model/fixtures/chat"])
        .args(["--", "-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1"])
        .arg(format!("-max_total_time={seconds}"))
        .env("CARGO_TARGET_DIR", place::target()?.join("fuzz"))
        .env("PATH", tools::path()?)
        .env_remove("RUSTUP_TOOLCHAIN");
    std::fs::create_dir_all(place::root().join(format!("fuzz/corpus/{target}")))?;
    run(&mut command)
        .with_context(|| format!("`{target}` fell over; its input is under `fuzz/artifacts/{target}`"))
}
