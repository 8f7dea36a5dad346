//! The server side of one wire: it checks requests and renders answers.

use serde_json::{Value, json};

use crate::model::seal::Seal;
use crate::model::turn::Turn;
use crate::model::wire::piece::Piece;

/// The server side of one wire.
pub(in crate::model) trait Wire: Sync {
    /// The end of the paths that it serves.
    fn path(&self) -> &'static str;

    /// The parts of the request that determine the form of the answer.
    fn asked(&self, body: &Value) -> Asked;

    /// Validates a request as the strictest provider would.
    fn check(&self, body: &Value, seal: &Seal) -> Result<(), Complaint>;

    /// The answer as a stream, each chunk with its framing.
    fn stream(&self, turn: &Turn, asked: &Asked, seal: &Seal) -> Vec<Piece>;

    /// The answer as one document.
    fn document(&self, turn: &Turn, asked: &Asked, seal: &Seal) -> Value;

    /// A chunk that reports a late failure of the answer, with its framing.
    fn stream_error(&self, asked: &Asked, code: &str, message: &str) -> String;

    /// A chunk that is invalid on this wire, with its framing.
    fn malformed(&self) -> &'static str {
        "data: {\"choices\": [oops\n\n"
    }

    /// The body of a refusal.
    fn problem(&self, complaint: &Complaint) -> Value {
        let Complaint { code, message, param } = complaint;
        let error =
            json!({ "message": message, "type": "invalid_request_error", "param": param, "code": code });
        json!({ "error": error })
    }

    /// The body of an error that the script requests.
    fn error(&self, code: &str, message: &str) -> Value {
        json!({ "error": { "message": message, "type": code, "param": null, "code": code } })
    }

    /// The content type of a stream.
    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    /// A header that every request must have.
    fn required_header(&self) -> Option<&'static str> {
        None
    }

    /// The answer to a request beside the conversation, if this path belongs to this wire; a GET has no body.
    fn page(&self, _path: &str, _body: &Value) -> Option<Value> {
        None
    }
}

/// The parts of the request that determine the form of the answer.
#[derive(Debug, Clone)]
pub(in crate::model) struct Asked {
    pub(in crate::model) model: String,
    pub(in crate::model) stream: bool,
    /// Whether usage was requested, on wires that do not report it by default.
    pub(in crate::model) include_usage: bool,
    /// Whether reasoning is to be encrypted instead of plain.
    pub(in crate::model) sealed: bool,
    /// The number of elements in the history: makes ids unique in a conversation without the server
    /// remembering it.
    pub(in crate::model) items: usize,
    /// The number of the model's answers in the history.
    pub(in crate::model) answers: usize,
}

impl Asked {
    /// The id of a call for which the script sets none.
    pub(super) fn call_id(&self, position: usize) -> String {
        format!("call_{}_{position}", self.items)
    }
}

/// The reason why a request is refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::model) struct Complaint {
    pub(in crate::model) code: Option<&'static str>,
    pub(in crate::model) message: String,
    pub(in crate::model) param: Option<String>,
}

impl From<String> for Complaint {
    fn from(message: String) -> Self {
        Self { message, ..Self::default() }
    }
}
