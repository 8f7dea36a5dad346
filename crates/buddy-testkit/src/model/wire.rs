//! The wires of the server: one file each, all rendering the same turns.
//!
//! A wire is a [`Wire`] in its own file and a line in [`WIRES`]; the server selects it by the path of the
//! request.

mod chat;
mod messages;
mod ollama;
mod piece;
mod plain_name;
mod responses;
mod server_side;

use serde_json::Value;

use crate::model::seal::Seal;

pub use chat::check_history;
pub(super) use piece::Piece;
pub(super) use server_side::{Asked, Complaint, Wire};

/// Every wire; the first whose path matches serves a request.
pub(super) const WIRES: [&dyn Wire; 4] =
    [&chat::Chat, &responses::Responses, &messages::Messages, &ollama::Ollama];

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
