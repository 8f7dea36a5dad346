//! Why a login did not work, in words for a person.

use crate::error::Retry;
use crate::{ModelError, ModelErrorKind};

/// A login or a refresh that failed. Never contains a token, a code or a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct LoginError {
    /// What kind of failure, for callers that branch.
    pub kind: LoginErrorKind,
    /// What happened, as a lower-case fragment.
    pub message: String,
}

/// The kinds that callers treat differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginErrorKind {
    /// The provider is not configured for this.
    Setup,
    /// The person, or the provider, said no.
    Denied,
    /// Nobody confirmed the login in time.
    Expired,
    /// The provider does not take the token, the code or the client any more.
    Refused,
    /// An answer came that cannot be trusted: it does not belong to this login.
    Foreign,
    /// The provider cannot be reached, or has trouble of its own.
    Transport,
    /// What came is not an answer of this protocol.
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
