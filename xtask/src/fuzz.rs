//! `cargo xtask fuzz`: damaged input for the parsers, on the nightly toolchain that the fuzzer needs.

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::place;
use crate::run::{program, run, search_path};
use crate::tools;

/// A fuzz target, a file of this name under `fuzz/fuzz_targets/`.
struct Target {
    name: &'static str,
    /// The inputs to start from.
    seeds: &'static str,
}

const TARGETS: &[Target] = &[
    Target { name: "answer", seeds: "crates/buddy-model/fixtures/chat" },
    Target { name: "responses", seeds: "crates/buddy-model/fixtures/responses" },
    Target { name: "messages", seeds: "crates/buddy-model/fixtures/messages" },
    Target { name: "ollama", seeds: "crates/buddy-model/fixtures/ollama" },
    Target { name: "arguments", seeds: "crates/buddy-model/fixtures/chat" },
    Target { name: "policy", seeds: "crates/buddy-policy/fixtures/commands" },
    Target { name: "event", seeds: "crates/buddy-model/fixtures/chat" },
    Target { name: "url", seeds: "crates/buddy-web/fixtures/url" },
];

/// Options of the fuzzer.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// One target, such as `messages` [default: all, one after the other]
    target: Option<String>,

    /// Stop each target after this many seconds.
    #[arg(long, default_value_t = 60)]
    seconds: u64,

    /// Stop each target after this many inputs [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    inputs: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self { target: None, seconds: 60, inputs: None }
    }
}

/// Runs one target or all.
pub(crate) fn fuzz(options: &Options) -> Result<()> {
    run(program("rustup").args(["run", "nightly", "cargo", "--version"]))
        .context("fuzzing needs a nightly toolchain: `rustup toolchain install nightly --profile minimal`")?;
    tools::fuzz()?;
    let is_wanted = |target: &&Target| options.target.as_ref().is_none_or(|name| name == target.name);
    let targets: Vec<&Target> = TARGETS.iter().filter(is_wanted).collect();
    if targets.is_empty() {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        bail!("there is no such fuzz target; there are {}", names.join(", "));
    }
    targets.into_iter().try_for_each(|target| fuzz_one(target, options))
}

/// Runs one target until the first of its bounds is reached.
fn fuzz_one(target: &Target, options: &Options) -> Result<()> {
    let Target { name, seeds } = target;
    let Options { seconds, inputs, .. } = options;
    let bound = inputs.map(|inputs| format!(" or {inputs} inputs"));
    println!("fuzzing `{name}` for {seconds} s{}", bound.unwrap_or_default());
    let mut command = program("rustup");
    command
        .args(["run", "nightly", "cargo", "fuzz", "run", name])
        // A folder for the fuzzer's own findings, and the inputs to start from.
        .args([&*format!("fuzz/corpus/{name}"), seeds])
        .args(["--", "-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1"])
        .arg(format!("-max_total_time={seconds}"))
        .args(inputs.map(|inputs| format!("-runs={inputs}")))
        .env("CARGO_TARGET_DIR", place::target()?.join("fuzz"))
        .env("PATH", search_path()?)
        .env_remove("RUSTUP_TOOLCHAIN");
    std::fs::create_dir_all(place::root().join(format!("fuzz/corpus/{name}")))?;
    run(&mut command)
        .with_context(|| format!("`{name}` fell over; its input is under `fuzz/artifacts/{name}`"))
}
