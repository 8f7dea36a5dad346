//! The steps that sources and tests must pass. Each prints its name, and a failed one does not stop the
//! others.

use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::counts::{Counts, count};
use crate::place::root;
use crate::run::{cargo, hear, run};
use crate::{tidy, tools};

/// The results of the steps so far.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    tests: Counts,
    /// Failed steps without a count of their own: one failure each.
    failed: Vec<&'static str>,
}

impl Gate {
    /// Runs a step that passes or fails as a whole.
    pub(crate) fn step(&mut self, name: &'static str, step: impl FnOnce() -> Result<()>) {
        let outcome = timed(name, step);
        if let Err(error) = outcome {
            eprintln!("{name}: {error:#}");
            self.failed.push(name);
        }
    }

    /// Runs a step that counts tests.
    pub(crate) fn counted(&mut self, name: &'static str, step: impl FnOnce() -> Result<Counts>) {
        match timed(name, step) {
            Ok(counts) => self.tests += counts,
            Err(error) => {
                eprintln!("{name}: {error:#}");
                self.failed.push(name);
            }
        }
    }

    /// Formatting.
    pub(crate) fn format(&mut self) {
        self.step("fmt", || run(&mut cargo(&["fmt", "--all", "--check"])?));
    }

    /// The rules that the compiler does not check.
    pub(crate) fn tidy(&mut self) {
        self.step("tidy", tidy::tidy);
    }

    /// Lints, every feature and every target.
    pub(crate) fn clippy(&mut self) {
        self.step("clippy", || {
            let words = ["clippy", "--workspace", "--all-targets", "--all-features", "--locked", "--quiet"];
            run(cargo(&words)?.args(["--", "--deny", "warnings"]))
        });
    }

    /// The documentation of the code, without a broken link.
    pub(crate) fn documentation(&mut self) {
        self.step("doc", || {
            let words = ["doc", "--workspace", "--all-features", "--no-deps", "--locked", "--quiet"];
            run(cargo(&words)?.env("RUSTDOCFLAGS", "--deny warnings"))
        });
    }

    /// The tests, and the examples in the documentation.
    pub(crate) fn tests(&mut self, filter: &[String]) {
        self.counted("tests", || count_tests(tests(filter)?));
        if filter.is_empty() {
            self.counted("doc tests", || {
                count_tests(cargo(&["test", "--doc", "--workspace", "--all-features", "--locked"])?)
            });
        }
    }

    /// Prints the last line of a gate without tests, and returns whether all steps passed.
    pub(crate) fn close_steps(self) -> Result<()> {
        if !self.failed.is_empty() {
            bail!("failed steps: {}", self.failed.join(", "));
        }
        println!("all checks passed");
        Ok(())
    }

    /// Prints the last line, and returns whether all steps passed.
    pub(crate) fn close(self) -> Result<()> {
        let failed = self.tests.failed + self.failed.len() as u64;
        if !self.failed.is_empty() {
            println!("failed steps: {}", self.failed.join(", "));
        }
        println!("{} passed, {failed} failed", self.tests.passed);
        if failed == 0 { Ok(()) } else { bail!("not everything passed") }
    }
}

/// Nextest, or cargo's own runner if nextest is not available: the same tests, in fewer processes.
fn tests(filter: &[String]) -> Result<Command> {
    let common = ["--workspace", "--all-features", "--locked", "--no-fail-fast"];
    let mut command = match tools::nextest() {
        Ok(()) => cargo(&["nextest", "run", "--no-tests", "fail", "--status-level", "fail"])?,
        Err(error) => {
            eprintln!("{error:#}; the tests run under `cargo test`");
            cargo(&["test", "--all-targets"])?
        }
    };
    command.args(common).args(filter).env("CARGO_TERM_COLOR", "never");
    // The build may contain the path of another clone.
    command.env("INSTA_WORKSPACE_ROOT", root());
    Ok(command)
}

fn count_tests(mut command: Command) -> Result<Counts> {
    let heard = hear(&mut command)?;
    match count(&heard.lines) {
        Some(counts) if heard.success == (counts.failed == 0) => Ok(counts),
        Some(counts) => bail!("{counts:?} were counted, but the runner says otherwise"),
        None => bail!("no test was counted"),
    }
}

fn timed<T>(name: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("── {name}");
    let started = Instant::now();
    let outcome = step();
    let word = if outcome.is_ok() { "done" } else { "FAILED" };
    println!("── {name}: {word} in {:.1} s", started.elapsed().as_secs_f32());
    outcome
}
