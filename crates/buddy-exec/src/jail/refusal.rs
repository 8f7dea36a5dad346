//! The reasons why a command was not started in its jail.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

/// Names of layers, as people and programs see them.
pub(super) const BUBBLEWRAP: &str = "bubblewrap";
pub(super) const LANDLOCK: &str = "landlock";
pub(super) const SECCOMP: &str = "seccomp";
pub(super) const USER_NAMESPACES: &str = "user_namespaces";
/// Layers over the caches of package managers; the jail works without them.
pub(super) const CACHE_LAYERS: &str = "cache_layers";
pub(super) const CGROUP: &str = "cgroup";
/// Limits, privileges and descriptors of the process itself.
pub(super) const PROCESS: &str = "process";
/// The bounds, if no layer could enforce them.
pub(super) const BOUNDS: &str = "bounds";

/// A layer that could not be applied, so that the command was not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) layer: String,
    pub(crate) reason: String,
}

impl Refusal {
    pub(super) fn new(layer: &str, reason: impl Display) -> Self {
        Self { layer: layer.to_owned(), reason: reason.to_string() }
    }
}

/// For `map_err`: the action, and why it failed.
pub(super) fn refused<E: Display>(layer: &'static str, action: &'static str) -> impl Fn(E) -> Refusal {
    move |error| Refusal::new(layer, format!("cannot {action}: {error}"))
}
