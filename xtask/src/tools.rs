//! Rust tools that chores need, installed into the cache if missing.

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::place;
use crate::run::{cargo, program, run, search_path};

/// The versions to install. A tool that is already installed is used as it is.
const NEXTEST: (&str, &str) = ("cargo-nextest", "0.9.143");
const DENY: (&str, &str) = ("cargo-deny", "0.20.2");
const FUZZ: (&str, &str) = ("cargo-fuzz", "0.13.2");
const TYPOS: &str = "typos==1.51.1";

/// The test runner.
pub(crate) fn nextest() -> Result<()> {
    crate_tool(NEXTEST)
}

/// The dependency checker.
pub(crate) fn deny() -> Result<()> {
    crate_tool(DENY)
}

/// The driver of fuzz targets.
pub(crate) fn fuzz() -> Result<()> {
    crate_tool(FUZZ)
}

/// The spelling checker, from a wheel: it installs in seconds, a build takes minutes.
pub(crate) fn typos() -> Result<PathBuf> {
    let venv = place::cache()?.join("venv");
    let typos = venv.join("bin/typos");
    if !typos.is_file() {
        run(program("python3").args(["-m", "venv"]).arg(&venv)).context("cannot make a place for typos")?;
        let pip = venv.join("bin/pip");
        run(program(&pip.to_string_lossy()).args(["install", "--quiet", TYPOS]))
            .context("cannot install typos")?;
    }
    Ok(typos)
}

fn crate_tool((name, version): (&str, &str)) -> Result<()> {
    let path = search_path()?;
    if env::split_paths(&path).any(|folder| folder.join(name).is_file()) {
        return Ok(());
    }
    println!("{name} is missing and is built now, once");
    let root = place::cache()?.join("tools");
    run(cargo(&["install", "--locked", "--version", version, name])?.arg("--root").arg(root))
        .with_context(|| format!("cannot install {name}"))
}
