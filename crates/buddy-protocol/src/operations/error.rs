//! The reason why an operation was refused or failed.

use serde::{Deserialize, Serialize};

/// A refused or failed operation: a code for programs and a message for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct OperationError {
    /// The kind of failure.
    pub code: OperationErrorCode,
    /// The event, the reason and the next step.
    pub message: String,
}

/// The kind of a failure. Codes are only added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationErrorCode {
    /// The thing that the request names does not exist.
    NotFound,
    /// The principal that asks may not do this.
    Forbidden,
    /// The request is invalid.
    Invalid,
    /// The configuration cannot be used.
    Configuration,
    /// Something else holds what the request needs.
    Busy,
    /// The present state does not permit this.
    Conflict,
    /// This is not possible here.
    Unsupported,
    /// The request was given up before it was done.
    Stopped,
    /// Something else went wrong.
    Failed,
}

impl OperationError {
    /// An error of this kind.
    pub fn new(code: OperationErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}
