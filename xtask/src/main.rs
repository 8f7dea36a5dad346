//! The project's own chores: `cargo xtask test`, `check`, `tidy`, `codegen`, `bench`, `day`, `fuzz`,
//! `harness`, `local-model`, `soak` and `trajectory`.
//!
//! Each chore is one file. Chores install the tools they need, and a missing part is a failure, never a skip.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "chores start programs, read the environment and talk to the one who ran them"
)]

mod adapters;
mod bench;
mod check;
mod codegen;
mod counts;
mod day;
mod fuzz;
mod gate;
mod harness;
mod local_model;
mod measure;
mod packages;
mod place;
mod run;
mod soak;
mod test;
mod tidy;
mod tools;
mod trajectory;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The project's own chores.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Run everything that must pass: fmt, tidy, clippy, tests, documentation. Installs missing tools.
    Test(test::Options),
    /// Run all checks of the sources except the tests: fmt, tidy, clippy, documentation, licences, spelling.
    Check,
    /// Check the project rules that the compiler does not check.
    Tidy,
    /// Write the generated files under `api/` and the generated part of `docs/reference/`.
    Codegen,
    /// Measure the release build and compare the figures with the goals.
    Bench(bench::Options),
    /// Run an ordinary day of a developer and count the approvals. Writes `docs/reference/day.md`.
    Day(day::Options),
    /// Feed the parsers with damaged input.
    Fuzz(fuzz::Options),
    /// Run a benchmark against the real program: prompt injections, or tiny tasks with a small model.
    #[command(subcommand)]
    Harness(harness::Benchmark),
    /// Run buddy against a real server with a real, small model. Installs both.
    LocalModel,
    /// Flood the release build with output, and kill it repeatedly.
    Soak(soak::Options),
    /// Count calls, tokens, failures, edits, checks and cache hits in the logs of sessions.
    Trajectory(trajectory::Options),
}

fn main() -> ExitCode {
    let done = match Cli::parse().chore {
        Chore::Test(options) => test::test(&options),
        Chore::Check => check::check(),
        Chore::Tidy => tidy::tidy(),
        Chore::Codegen => codegen::codegen(),
        Chore::Bench(options) => bench::bench(&options),
        Chore::Day(options) => day::day(&options),
        Chore::Fuzz(options) => fuzz::fuzz(&options),
        Chore::Harness(benchmark) => harness::harness(&benchmark),
        Chore::LocalModel => local_model::local_model(),
        Chore::Soak(options) => soak::soak(&options),
        Chore::Trajectory(options) => trajectory::trajectory(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
