//! The last words of a run that did not begin, and the code that it ends with.

use buddy_protocol::{Failure, FailureKind, OperationError, OperationErrorCode};
use buddy_tui::{Exit, Printer, refusal_line};

use crate::config::ConfigError;
use crate::start_error::{StartError, UsageError};

/// Tells why a run did not begin; to a program that wants JSON in the form of a result, too.
pub(crate) fn refuse(error: &anyhow::Error, wants_json: bool) -> Exit {
    let mut printer = Printer::standard();
    printer.status(&format!("buddy: {error:#}"));
    let simple = |kind| Failure { kind, message: format!("{error:#}"), hint: None, http_status: None };
    let (exit, failure) = if let Some(start) = error.downcast_ref::<StartError>() {
        (start.exit, start.failure.clone())
    } else if is_usage(error) {
        (Exit::Usage, simple(FailureKind::Usage))
    } else {
        (Exit::Failed, simple(FailureKind::Internal))
    };
    if wants_json && printer.line(&refusal_line(exit, failure)).is_err() {
        return Exit::OutputClosed;
    }
    exit
}

/// Whether the command line or the configuration is wrong.
fn is_usage(error: &anyhow::Error) -> bool {
    let operation = error.downcast_ref::<OperationError>().map(|error| error.code);
    error.is::<ConfigError>()
        || error.is::<UsageError>()
        || matches!(operation, Some(OperationErrorCode::Configuration | OperationErrorCode::Invalid))
}
