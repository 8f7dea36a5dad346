//! `cargo xtask check`: everything about the sources but the tests.

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

/// Licences, bans and sources. The advisories need a database from elsewhere, so they are left to whoever has it.
pub(crate) fn deny() -> Result<()> {
    tools::deny()?;
    run(&mut cargo(&["deny", "--locked", "--all-features", "check", "bans", "licenses", "sources"])?)
}

/// Spelling.
pub(crate) fn typos() -> Result<()> {
    run(program(&tools::typos()?.to_string_lossy()).args(["--config", "typos.toml"]))
}
