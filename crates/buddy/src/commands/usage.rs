//! A command line that makes no sense, seen after it was parsed.

/// What is wrong with it. The run ends with the code for that, and nothing was done.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(String);

impl UsageError {
    /// An error with this message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
