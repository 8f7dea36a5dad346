//! `cargo xtask test`: the one command that checks the whole project.

use anyhow::Result;
use clap::Args;

use crate::gate::Gate;
use crate::{adapters, check, fuzz, local_model, packages, soak};

/// Options of the test run.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Also check licences and sources of dependencies.
    #[arg(long)]
    with_deny: bool,

    /// Also check the spelling.
    #[arg(long)]
    with_typos: bool,

    /// Also feed every parser with damaged input for a while.
    #[arg(long)]
    with_fuzz: bool,

    /// Also run buddy against a real server with a real, small model. Installs both, which takes 300 MB.
    #[arg(long)]
    with_local_model: bool,

    /// Also flood and kill the release build.
    #[arg(long)]
    with_soak: bool,

    /// Arguments for the test runner, such as a part of a test's name. Runs only the selected tests, and
    /// nothing else.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "FILTER")]
    filter: Vec<String>,
}

/// Runs everything that must pass.
pub(crate) fn test(options: &Options) -> Result<()> {
    packages::ensure()?;
    let mut gate = Gate::default();
    if !options.filter.is_empty() {
        gate.tests(&options.filter);
        return gate.close();
    }
    gate.format();
    gate.tidy();
    gate.clippy();
    gate.tests(&[]);
    gate.counted("contrib", adapters::run_tests);
    gate.documentation();
    if options.with_deny {
        gate.step("deny", check::deny);
    }
    if options.with_typos {
        gate.step("typos", check::typos);
    }
    if options.with_local_model {
        gate.counted("local model", local_model::checks);
    }
    if options.with_fuzz {
        gate.step("fuzz", || fuzz::fuzz(&fuzz::Options::default()));
    }
    if options.with_soak {
        gate.step("soak", || soak::soak(&soak::Options::default()));
    }
    gate.close()
}
