//! The wires of the server: one file each, all rendering the same turns.
//!
//! A wire is a [`Wire`] in its own file and a line in [`WIRES`]; the server selects it by the path of the
//! request.

mod chat;
mod messages;
mod ollama;
mod responses;

use serde_json::{Value, json};

use crate::model::seal::Seal;
use crate::model::turn::Turn;

pub use chat::check_history;

/// Every wire; the first whose path matches serves a request.
pub(super) const WIRES: [&dyn Wire; 4] =
    [&chat::Chat, &responses::Responses, &messages::Messages, &ollama::Ollama];

/// The default number of characters per chunk.
const CHUNK_CHARS: usize = 16;

/// The server side of one wire.
pub(super) trait Wire: Sync {
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
pub(super) struct Asked {
    pub(super) model: String,
    pub(super) stream: bool,
    /// Whether usage was requested, on wires that do not report it by default.
    pub(super) include_usage: bool,
    /// Whether reasoning is to be encrypted instead of plain.
    pub(super) sealed: bool,
    /// The number of elements in the history: makes ids unique in a conversation without the server
    /// remembering it.
    pub(super) items: usize,
    /// The number of the model's answers in the history.
    pub(super) answers: usize,
}

impl Asked {
    /// The id of a call for which the script sets none.
    fn call_id(&self, position: usize) -> String {
        format!("call_{}_{position}", self.items)
    }
}

/// The reason why a request is refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Complaint {
    pub(super) code: Option<&'static str>,
    pub(super) message: String,
    pub(super) param: Option<String>,
}

impl From<String> for Complaint {
    fn from(message: String) -> Self {
        Self { message, ..Self::default() }
    }
}

/// One piece of a streamed answer.
#[derive(Debug)]
pub(super) enum Piece {
    /// Bytes with their framing.
    Chunk(String),
    /// A point to wait at.
    Gate(String),
}

impl Piece {
    /// A server-sent event with a name.
    fn event(name: &str, data: impl std::fmt::Display) -> Self {
        Self::Chunk(format!("event: {name}\ndata: {data}\n\n"))
    }

    /// A server-sent event without a name.
    fn data(data: impl std::fmt::Display) -> Self {
        Self::Chunk(format!("data: {data}\n\n"))
    }
}

/// The text in pieces of the turn's chunk size.
fn cut(turn: &Turn, text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = turn.chunk_chars.unwrap_or(CHUNK_CHARS);
    letters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// Whether strict servers accept a name.
fn is_plain_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain)
}

/// The wire that serves this path.
pub(super) fn serving(path: &str) -> Option<&'static dyn Wire> {
    WIRES.into_iter().find(|wire| path.ends_with(wire.path()))
}

/// Validates a request as the strictest provider of the wire with this path would: `/chat/completions` and so
/// on. Data that the server sealed must use [`Script`](crate::model::Script)'s default secret.
pub fn check_request(path: &str, body: &Value) -> Result<(), String> {
    let wire = serving(path).ok_or_else(|| format!("no such path: {path}"))?;
    wire.check(body, &Seal::default()).map_err(|complaint| complaint.message)
}

/// The signature of reasoning of this model, by [`Script`](crate::model::Script)'s default secret.
pub fn signature(model: &str, thought: &str) -> String {
    Seal::default().sign(model, thought)
}
