//! The subject of a diagnosis: a model, the route to it, and the facts that are known beforehand.

use std::time::Duration;

use crate::Route;

/// The model to examine.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The model, as the provider names it.
    pub model: String,
    /// The route to it.
    pub route: Route,
    /// The temperature of its prompts.
    pub temperature: Option<f64>,
    /// The context window that the user configured.
    pub configured_context: Option<u64>,
    /// The context window in the catalogue.
    pub catalogue_context: Option<u64>,
    /// The timeout of all checks together.
    pub time_limit: Duration,
}
