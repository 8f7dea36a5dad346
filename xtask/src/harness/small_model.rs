//! `cargo xtask harness small-model`: 20 tiny tasks for a small local model, judged by their effects.
//!
//! The model is real and answers differently from run to run, so every task runs several times. The table tells how
//! much of the work a build of buddy gets out of the same model; it sets no goal.

mod judge;
mod stage;
mod table;
mod task;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;

use crate::local_model::{Peer, Serving, install};
use crate::measure::account::Account;
use crate::measure::toolbox::{Toolbox, binary};
use crate::place;
use judge::Judged;
use stage::Stage;

/// The whole context window of the model.
const CONTEXT: usize = 8192;
/// Threads of the server. Two would wait for each other wherever another program has one of their cores.
const THREADS: usize = 1;
/// Tokens that the server takes at once. It notices a client that has gone only between two of these.
const BATCH: usize = 256;

/// Options of the benchmark.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Measure this program [default: a new release build]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,

    /// Run every task this often
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,

    /// Stop a run after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3600))]
    timeout: u32,

    /// Write every run to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Run only tasks whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// Runs every task, prints each run and the table.
pub(crate) fn small_model(options: &Options) -> Result<()> {
    let mut tasks = task::load()?;
    if let Some(text) = &options.only {
        tasks.retain(|task| task.id.contains(text));
    }
    let account = Account::ordinary()?;
    let toolbox = Toolbox::new(&account, &binary(options.binary.as_deref())?)?;
    let serving = Serving { name: stage::MODEL, context: CONTEXT, threads: THREADS, batch: BATCH };
    let peer = Peer::start(&install()?, &serving, &place::target()?.join("small-model"))?;
    let stage = Stage::new(&account, &toolbox, peer)?;
    stage.warm_up().context("cannot warm up")?;
    let mut judged = Vec::new();
    for run in 1..=options.runs {
        for task in &tasks {
            let one =
                stage.run(task, run, options.timeout).with_context(|| format!("{} ({run})", task.id))?;
            println!("{}", one.line());
            judged.push(one);
        }
    }
    drop(stage);
    account.insist_on_quiet()?;
    if let Some(file) = &options.json {
        let runs: Vec<_> = judged.iter().map(Judged::to_json).collect();
        std::fs::write(file, serde_json::to_string_pretty(&json!(runs))?)?;
    }
    println!("\n{}", table::render(&judged));
    Ok(())
}
