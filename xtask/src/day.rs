//! `cargo xtask day`: an ordinary day of a developer, step by step: which steps work, and how many approvals
//! they need.
//!
//! A scripted model drives the real program in the default mode. The chore answers every ask with yes.

mod registry;
mod report;
mod repository;
mod steps;
mod talk;
mod undo;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::measure::account::Account;
use crate::measure::listener::Listener;
use crate::measure::model::ScriptedModel;
use crate::measure::toolbox::{Toolbox, binary};
use registry::Registries;
use report::DoneStep;
use repository::{Remote, Repository};
use talk::Question;
use undo::RepositoryState;

/// The host of the documentation: none of the registries.
const DOCS: &str = "127.0.0.5";
/// The most questions that a day may take.
const MOST_QUESTIONS: usize = 5;

/// Options of the day.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Measure this program [default: a new release build]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,

    /// Print the table and leave `docs/reference/day.md` unchanged.
    #[arg(long)]
    dry_run: bool,

    /// Work in this permission mode, and leave the page unchanged [default: buddy's default]
    #[arg(long, value_name = "MODE")]
    permission_mode: Option<String>,
}

/// Runs the day. Fails if a step failed or if the default mode asked more often than it may.
pub(crate) fn day(options: &Options) -> Result<()> {
    let account = Account::ordinary()?;
    let toolbox = Toolbox::new(&account, &binary(options.binary.as_deref())?)?;
    let docs = Listener::start(DOCS)?;
    let registries = Registries::start(account.base().join("registry"))?;
    let repository =
        Repository::new(&account, &toolbox, &registries).context("cannot make the repository")?;
    let remote = Remote::start(&repository)?;
    let steps = steps::steps(docs.address());
    let calls = steps.iter().map(|step| vec![step.call.clone()]).collect();
    let model = ScriptedModel::start(calls, Vec::new())?;
    let morning = RepositoryState::look(&repository)?;
    let mut questions = talk::talk(&repository, &model, options.permission_mode.as_deref())?;
    let outputs = model.outputs();
    let mut done = Vec::new();
    for (at, step) in steps.into_iter().enumerate() {
        let output = outputs.iter().find(|output| output.turn == at).map(|output| &*output.text);
        let failure = match report::failure(output) {
            None if !repository.proves(step.proof)? => {
                Some("it said so, but the effect is missing".to_owned())
            }
            failure => failure,
        };
        let (own, others) = questions.into_iter().partition(|question: &Question| question.step == at);
        questions = others;
        done.push(DoneStep { step, questions: own, failure });
    }
    drop(remote);
    let undone = undo::undo(&repository, &morning)?;
    account.insist_on_quiet()?;
    let (count, text) = report::render(&done, &undone, &repository.home());
    println!("{text}");
    let is_usual = options.permission_mode.is_none();
    if is_usual && !options.dry_run {
        report::write(&text)?;
    }
    ensure!(count.failures == 0, "{} failures", count.failures);
    ensure!(
        !is_usual || count.questions <= MOST_QUESTIONS,
        "{} questions, and {MOST_QUESTIONS} is the goal",
        count.questions
    );
    Ok(())
}
