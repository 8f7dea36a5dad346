//! The reasons why a model call failed, in words for users.

use std::error::Error;
use std::time::Duration;

/// A call that failed for good: any retries that make sense are already spent.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// The kind of failure, for callers that branch.
    pub kind: ModelErrorKind,
    /// A description as a lower-case fragment; never contains the key.
    pub message: String,
    /// The next step for the user.
    pub hint: Option<String>,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// Whether the same call may go through later.
    pub(crate) retry: Retry,
    #[source]
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The kinds that callers treat differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelErrorKind {
    /// The prompt does not fit: shorten it and call again.
    ContextOverflow,
    /// The account has no credit left.
    Quota,
    /// Too many calls in a short time.
    RateLimit,
    /// The server is reachable but cannot serve now.
    Overloaded,
    /// The key is missing, wrong or not permitted.
    Auth,
    /// The server does not understand the request.
    InvalidRequest,
    /// The provider declines to answer this.
    Policy,
    /// The server does not have the model.
    ModelMissing,
    /// The server cannot be reached, or the connection broke.
    Transport,
    /// The server sent nothing before the timeout.
    Timeout,
    /// The response is not a whole answer.
    BadStream,
}

impl ModelErrorKind {
    /// The usual next step.
    fn hint(self) -> &'static str {
        match self {
            Self::ContextOverflow => "compact the conversation or choose a model with a larger context",
            Self::Quota => "add credit to the account or choose another model",
            Self::RateLimit => "wait a little and try again, or choose another model",
            Self::Overloaded => "try again in a moment, or choose another model",
            Self::Auth => "check the API key of this model's provider",
            Self::InvalidRequest => "check that the server speaks this protocol; the log has its answer",
            Self::Policy => "rephrase the request or choose another model",
            Self::ModelMissing => "check the model's name in the configuration",
            Self::Transport => "check that the server runs and that its address is right",
            Self::Timeout => "try again, or raise the timeout for slow local models",
            Self::BadStream => "try again; if it stays, the server may not support streaming or tools",
        }
    }
}

/// Whether and when a retry may succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    /// It would fail again.
    Never,
    /// It may succeed at once or later; buddy chooses the delay.
    Soon,
    /// The server named a delay.
    After(Duration),
}

impl ModelError {
    /// A failure that is not retried, with the usual hint of its kind.
    pub fn new(kind: ModelErrorKind, message: impl Into<String>) -> Self {
        let hint = Some(kind.hint().to_owned());
        Self { kind, message: message.into(), hint, status: None, retry: Retry::Never, source: None }
    }

    /// The same error with another next step.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same error with its HTTP status.
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = Some(status);
        self
    }

    /// The same error with its cause, for the log.
    pub fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    pub(crate) fn with_retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Whether the same call may succeed later: true for the errors that a call retries.
    pub fn is_transient(&self) -> bool {
        self.retry != Retry::Never
    }
}
