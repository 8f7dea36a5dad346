//! The way to one model, laid open for an examination.

use buddy_model::diagnose::Subject;
use buddy_protocol::Failure;

/// The way to one model.
pub(crate) struct ModelLine {
    pub(crate) profile: String,
    pub(crate) api: &'static str,
    /// The address as configured, without a query, which may hold a secret.
    pub(crate) base_url: String,
    pub(crate) model: String,
    /// The model to examine, or why there is no key for it.
    pub(crate) subject: Result<Subject, Failure>,
}
