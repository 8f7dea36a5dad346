//! `cargo xtask check`: all checks of the sources except the tests.

use anyhow::Result;

use crate::gate::Gate;
use crate::run::{cargo, program, run};
use crate::tools;

/// Runs all checks.
pub(crate) fn check() -> Result<()> {
    let mut gate = Gate::default();
    gate.format();
    gate.tidy();
    gate.clippy();
    gate.documentation();
    gate.step("deny", deny);
    gate.step("typos", typos);
    gate.close_steps()
}

/// Checks licences, bans and sources. Advisories need an external database, so they are skipped.
pub(crate) fn deny() -> Result<()> {
    tools::deny()?;
    run(&mut cargo(&["deny", "--locked", "--all-features", "check", "bans", "licenses", "sources"])?)
}

/// Checks the spelling.
pub(crate) fn typos() -> Result<()> {
    run(program(&tools::typos()?.to_string_lossy()).args(["--config", "typos.toml"]))
}
