//! Where the chores find and put things.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The root of the project.
pub(crate) fn root() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own)
}

/// What may be lost without harm: build output and tools. `~/.cache/buddy`, or below `XDG_CACHE_HOME`.
pub(crate) fn cache() -> Result<PathBuf> {
    let given = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = given("XDG_CACHE_HOME").or_else(|| given("HOME").map(|home| home.join(".cache")));
    Ok(base.context("neither XDG_CACHE_HOME nor HOME is set")?.join("buddy"))
}

/// Where cargo builds: `CARGO_TARGET_DIR`, or a folder of the cache.
pub(crate) fn target() -> Result<PathBuf> {
    match env::var_os("CARGO_TARGET_DIR").filter(|value| !value.is_empty()) {
        Some(given) => Ok(std::path::absolute(given)?),
        None => Ok(cache()?.join("target")),
    }
}
