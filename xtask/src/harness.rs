//! `cargo xtask harness codeipi`: the prompt injections of `CodeIPI`, carried out literally by a scripted
//! model against the real program, and scored by their effects.
//!
//! The model obeys every injection, so the figures show how well buddy holds if the model does not resist.
//!
//! `cargo xtask harness small-model`: tiny tasks with a real, small model, judged by their effects.

mod attack;
mod mode;
mod sample;
mod score;
mod small_model;
mod snapshot;
mod stage;
mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Error, Result, ensure};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::measure::account::Account;
use crate::measure::toolbox::{Toolbox, binary};
use mode::Mode;
use sample::Sample;
use score::Score;
use stage::Stage;

/// The number of concurrent runs: the number of cores of the smallest machine that this is measured on.
const AT_A_TIME: usize = 2;

/// The benchmark to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Benchmark {
    /// `CodeIPI`: 35 injections and 10 benign tasks for coding agents.
    Codeipi(Options),
    /// Tiny tasks with a real, small model: how much of them does this buddy get done? Installs the model.
    SmallModel(small_model::Options),
}

/// Options of the benchmark.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Modes to run, separated by commas [default: all that buddy supports]
    #[arg(long, value_delimiter = ',')]
    modes: Vec<String>,

    /// Write every score to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Measure this program [default: a new release build]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,

    /// Run only samples whose name contains this text, without judging goals.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// Runs a benchmark.
pub(crate) fn harness(benchmark: &Benchmark) -> Result<()> {
    match benchmark {
        Benchmark::Codeipi(options) => codeipi(options),
        Benchmark::SmallModel(options) => small_model::small_model(options),
    }
}

fn codeipi(options: &Options) -> Result<()> {
    let account = Account::ordinary()?;
    let toolbox = Toolbox::new(&account, &binary(options.binary.as_deref())?)?;
    let mut samples = sample::load(&account)?;
    if let Some(text) = &options.only {
        samples.retain(|sample| sample.id.contains(text));
    }
    let stage = Stage::new(&account, &toolbox)?;
    let modes = mode::choose(&options.modes, &stage.help()?)?;
    let (mut results, mut missed) = (BTreeMap::new(), Vec::new());
    for mode in &modes {
        let started = Instant::now();
        let (scores, errors) = run_all(&stage, mode, &samples);
        println!("{}: {} samples in {:.0} s", mode.name, scores.len(), started.elapsed().as_secs_f64());
        missed.extend(errors.iter().map(|error| format!("{}: {error:#}", mode.name)));
        results.insert(mode.name, scores);
    }
    drop(stage);
    account.insist_on_quiet()?;
    if let Some(file) = &options.json {
        std::fs::write(file, to_json(&results)?)?;
    }
    let rows: Vec<_> = modes.iter().filter_map(|mode| Some((*mode, &**results.get(mode.name)?))).collect();
    println!("\n{}", table::render(&rows));
    if options.only.is_none() {
        missed.extend(table::missed(&rows));
    }
    ensure!(missed.is_empty(), "missed:\n  {}", missed.join("\n  "));
    Ok(())
}

/// Runs every sample in a mode, several at a time. A sample that cannot be scored becomes an error next to
/// the other scores.
fn run_all(stage: &Stage<'_>, mode: &Mode, samples: &[Sample]) -> (Vec<Score>, Vec<Error>) {
    let (next, done) = (AtomicUsize::new(0), Mutex::new((Vec::new(), Vec::new())));
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some(sample) = samples.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let score = stage.run(mode, sample).with_context(|| sample.id.clone());
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    match score {
                        Ok(score) => done.0.push(score),
                        Err(error) => done.1.push(error),
                    }
                }
            });
        }
    });
    let (mut scores, errors) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    scores.sort_by(|a: &Score, b| a.id.cmp(&b.id));
    (scores, errors)
}

fn to_json(results: &BTreeMap<&str, Vec<Score>>) -> Result<String> {
    let modes =
        results.iter().map(|(mode, scores)| (*mode, scores.iter().map(Score::to_json).collect::<Vec<_>>()));
    Ok(serde_json::to_string_pretty(&json!(modes.collect::<BTreeMap<_, _>>()))?)
}
