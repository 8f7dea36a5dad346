//! The envelope of every tool result, for successes and failures alike.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Json, UnixMillis};

/// The answer to a tool call that the model sees: a timestamp, whether the call worked, and the result or the
/// error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Envelope {
    /// When the harness made this envelope.
    pub harness_timestamp: HarnessTimestamp,
    /// Whether the tool succeeded.
    pub ok: bool,
    /// The result of the tool; absent on failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Json>,
    /// The error; absent on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolFailure>,
}

/// A time stamped by the harness, independent of anything the model or a command said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HarnessTimestamp {
    /// Always `harness`.
    pub source: String,
    /// Milliseconds since the Unix epoch.
    pub unix_millis: UnixMillis,
}

/// A failure reported to the model: the problem and a way around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ToolFailure {
    /// A stable word for the class of failure, for example `denied` or `not_found`.
    pub code: String,
    /// A description of the problem.
    pub message: String,
    /// Advice on what to do instead, if any is known to help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ToolFailure {
    /// A failure without a hint.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into(), hint: None }
    }

    /// The same failure with advice on what to do instead.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Envelope {
    /// Wraps a tool's outcome.
    pub fn new(now: UnixMillis, outcome: Result<Value, ToolFailure>) -> Self {
        let harness_timestamp = HarnessTimestamp { source: "harness".to_owned(), unix_millis: now };
        match outcome {
            Ok(result) => Self { harness_timestamp, ok: true, result: Some(result.into()), error: None },
            Err(error) => Self { harness_timestamp, ok: false, result: None, error: Some(error) },
        }
    }
}
