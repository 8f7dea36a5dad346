//! Why a run ends before it began, and the code that it ends with.

use buddy_protocol::{Failure, FailureKind};
use buddy_tui::Exit;

/// A command line that makes no sense, seen after it was parsed. The run ends with the code for that, and nothing was done.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(String);

impl UsageError {
    /// An error with this message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// A failure before there is a session.
#[derive(Debug, thiserror::Error)]
#[error("{}{}", .failure.message, describe_hint(.failure))]
pub(crate) struct StartError {
    pub(crate) exit: Exit,
    pub(crate) failure: Failure,
}

impl StartError {
    /// No model is connected, and nobody is there to talk to the demo.
    pub(crate) fn no_model() -> Self {
        let message = "no model is connected. Run `buddy login`, or set OPENAI_API_KEY, ANTHROPIC_API_KEY, \
                       OPENROUTER_API_KEY or BUDDY_BASE_URL";
        let hint = "to see buddy work without a model: buddy exec --model demo \"hello\"";
        let failure = Failure {
            kind: FailureKind::ModelMissing,
            message: message.to_owned(),
            hint: Some(hint.to_owned()),
            http_status: None,
        };
        Self { exit: Exit::Auth, failure }
    }

    /// `BUDDY_BASE_URL` names a server, and nothing names a model there.
    pub(crate) fn no_model_at_address() -> Self {
        let message = "no model is named for the server of BUDDY_BASE_URL. Set BUDDY_MODEL to one that it has, or pass \
                       --model environment/NAME";
        let hint = "to see buddy work without a model: buddy exec --model demo \"hello\"";
        let failure = Failure {
            kind: FailureKind::ModelMissing,
            message: message.to_owned(),
            hint: Some(hint.to_owned()),
            http_status: None,
        };
        Self { exit: Exit::Auth, failure }
    }
}

impl From<Failure> for StartError {
    fn from(failure: Failure) -> Self {
        Self { exit: Exit::Failed, failure }
    }
}

fn describe_hint(failure: &Failure) -> String {
    failure.hint.as_ref().map(|hint| format!("\n  {hint}")).unwrap_or_default()
}
