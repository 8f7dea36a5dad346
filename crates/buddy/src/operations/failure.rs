//! The code of a failure, from the error that the parts of buddy have for it.

use buddy_exec::managed::ManagedError;
use buddy_exec::undo::UndoError;
use buddy_protocol::{OperationError, OperationErrorCode, SessionsError};

use crate::config::ConfigError;
use crate::start_error::UsageError;

/// A failure as an operation reports it.
pub(super) fn failure_of(error: &anyhow::Error) -> OperationError {
    match error.downcast_ref::<OperationError>() {
        Some(error) => error.clone(),
        None => OperationError::new(code_of(error), format!("{error:#}")),
    }
}

fn code_of(error: &anyhow::Error) -> OperationErrorCode {
    if error.is::<ConfigError>() {
        return OperationErrorCode::Configuration;
    }
    if error.is::<UsageError>() {
        return OperationErrorCode::Invalid;
    }
    match error.downcast_ref() {
        Some(UndoError::NotFound(_) | UndoError::Nothing) => return OperationErrorCode::NotFound,
        Some(UndoError::Busy) => return OperationErrorCode::Busy,
        Some(UndoError::Conflicts(_)) => return OperationErrorCode::Conflict,
        _ => {}
    }
    if let Some(ManagedError::NotFound { .. }) = error.downcast_ref() {
        return OperationErrorCode::NotFound;
    }
    match error.downcast_ref() {
        Some(SessionsError::NotFound(_)) => OperationErrorCode::NotFound,
        Some(SessionsError::Busy { .. }) => OperationErrorCode::Busy,
        Some(SessionsError::Conflict(_)) => OperationErrorCode::Conflict,
        Some(SessionsError::Invalid(_)) => OperationErrorCode::Invalid,
        _ => OperationErrorCode::Failed,
    }
}
