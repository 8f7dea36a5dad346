//! The reasons why a login failed, in words for users.

use crate::error::Retry;
use crate::{ModelError, ModelErrorKind};

/// A login or a refresh that failed. Never contains a token, a code or a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LoginError {
    /// The kind of failure, for callers that branch.
    pub kind: LoginErrorKind,
    /// A description as a lower-case fragment.
    pub message: String,
}

/// The kinds that callers treat differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginErrorKind {
    /// The provider is not configured for this.
    Setup,
    /// The user or the provider said no.
    Denied,
    /// The user did not confirm the login in time.
    Expired,
    /// The provider no longer accepts the token, the code or the client.
    Refused,
    /// An untrustworthy answer: it does not belong to this login.
    Foreign,
    /// The provider is unreachable, or has an internal problem.
    Transport,
    /// The answer does not follow the protocol.
    BadAnswer,
}

impl LoginError {
    pub(crate) fn new(kind: LoginErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl From<LoginError> for ModelError {
    fn from(error: LoginError) -> Self {
        let kind = match error.kind {
            LoginErrorKind::Transport => ModelErrorKind::Transport,
            LoginErrorKind::Setup => ModelErrorKind::InvalidRequest,
            _ => ModelErrorKind::Auth,
        };
        let retry = if kind == ModelErrorKind::Transport { Retry::Soon } else { Retry::Never };
        ModelError::new(kind, error.message).with_retry(retry)
    }
}
