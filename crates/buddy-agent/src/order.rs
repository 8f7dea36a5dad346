//! A command on its way to the driver, and its refusal.

use buddy_protocol::{AgentError, Command, Failure, FailureKind, Principal};
use tokio::sync::oneshot;

/// A command on its way to the driver.
pub(crate) struct DriverOrder {
    pub(crate) by: Principal,
    pub(crate) command: Command,
    pub(crate) done: oneshot::Sender<Result<(), AgentError>>,
}

/// The refusal of a command, for this reason.
pub(crate) fn refused(message: String) -> AgentError {
    AgentError { failure: Failure { http_status: None, kind: FailureKind::Internal, message, hint: None } }
}
