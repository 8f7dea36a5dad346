//! The directories that chores use.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result};

/// The root of the project. Cargo sets it at every run, because another clone may reuse a build.
pub(crate) fn root() -> &'static Path {
    static OWN: LazyLock<PathBuf> = LazyLock::new(|| {
        env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()).into()
    });
    OWN.parent().unwrap_or(&OWN)
}

/// The directory for disposable data: build output and tools. `~/.cache/buddy`, or below `XDG_CACHE_HOME`.
pub(crate) fn cache() -> Result<PathBuf> {
    let given = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = given("XDG_CACHE_HOME").or_else(|| given("HOME").map(|home| home.join(".cache")));
    Ok(base.context("neither XDG_CACHE_HOME nor HOME is set")?.join("buddy"))
}

/// Cargo's target directory: `CARGO_TARGET_DIR`, or a folder of the cache.
pub(crate) fn target() -> Result<PathBuf> {
    match env::var_os("CARGO_TARGET_DIR").filter(|value| !value.is_empty()) {
        Some(given) => Ok(std::path::absolute(given)?),
        None => Ok(cache()?.join("target")),
    }
}
