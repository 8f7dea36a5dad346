//! `cargo xtask harness small-model`: 20 tiny tasks for a small local model, judged by their effects.
//!
//! The model is real and answers differently from run to run, so every task runs several times. The table tells how
//! much of the work a build of buddy gets out of the same model; it sets no goal.

mod judge;
mod stage;
mod table;
mod task;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
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

    /// Serve this GGUF file [default: SmolLM2-135M-Instruct]
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,

    /// Use this chat template [default: the model's own; for SmolLM2-135M-Instruct that of this repository]
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,

    /// Run every task this often
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,

    /// Stop a run after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3600))]
    timeout: u32,

    /// Set a configuration key of buddy, such as `agent.gates.finish=false`; can be repeated
    #[arg(long = "setting", value_name = "KEY=VALUE")]
    settings: Vec<String>,

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
    let mut installed = install()?;
    if let Some(model) = &options.model {
        installed.model = std::path::absolute(model)?;
        installed.template = None;
    }
    if let Some(template) = &options.template {
        installed.template = Some(std::path::absolute(template)?);
    }
    let name = name(&installed.model)?;
    let serving = Serving { name, context: CONTEXT, threads: THREADS, batch: BATCH };
    let peer = Peer::start(&installed, &serving, &place::target()?.join("small-model"))?;
    let stage = Stage::new(&account, &toolbox, peer, name, &options.settings)?;
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

/// The name under which the server lists a model, by which buddy knows its family: that of its file.
fn name(model: &Path) -> Result<&str> {
    let name = model.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    ensure!(!name.is_empty() && name.chars().all(is_plain), "`{}` is no name of a model", model.display());
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_named_after_its_file() {
        assert_eq!(name(Path::new("/a/Qwen2.5-0.5B.Q4_1.gguf")).unwrap(), "Qwen2.5-0.5B.Q4_1");
        for path in ["/", "/a/it's.gguf", "/a/two words.gguf"] {
            assert!(name(Path::new(path)).is_err(), "{path}");
        }
    }
}
