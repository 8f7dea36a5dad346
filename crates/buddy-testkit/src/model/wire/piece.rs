//! The pieces of a streamed answer.

use crate::model::turn::Turn;

/// The default number of characters per chunk.
const CHUNK_CHARS: usize = 16;

/// One piece of a streamed answer.
#[derive(Debug)]
pub(in crate::model) enum Piece {
    /// Bytes with their framing.
    Chunk(String),
    /// A point to wait at.
    Gate(String),
}

impl Piece {
    /// A server-sent event with a name.
    pub(super) fn event(name: &str, data: impl std::fmt::Display) -> Self {
        Self::Chunk(format!("event: {name}\ndata: {data}\n\n"))
    }

    /// A server-sent event without a name.
    pub(super) fn data(data: impl std::fmt::Display) -> Self {
        Self::Chunk(format!("data: {data}\n\n"))
    }
}

/// The text in pieces of the turn's chunk size.
pub(super) fn cut(turn: &Turn, text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = turn.chunk_chars.unwrap_or(CHUNK_CHARS);
    letters.chunks(size).map(|piece| piece.iter().collect()).collect()
}
