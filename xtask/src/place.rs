//! Where the chores find and put things.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result};

/// The root of the project. Cargo says at every run where that is: a build may be reused by another clone.
pub(crate) fn root() -> &'static Path {
    static OWN: LazyLock<PathBuf> = LazyLock::new(|| {
        env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()).into()
    });
    OWN.parent().unwrap_or(&OWN)
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
