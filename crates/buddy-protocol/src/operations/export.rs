//! A session as a file.

use serde::{Deserialize, Serialize};

use super::error::OperationError;
use crate::SessionId;

/// The session that is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionChoice {
    /// The session with this id, or with an id that begins with these digits.
    Session(String),
    /// The one that was used last in a directory, or in all.
    Last {
        /// The directory.
        directory: Option<String>,
    },
}

/// Exports a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportSession {
    /// The session.
    pub session: SessionChoice,
    /// The format.
    pub format: ExportFormat,
}

/// The format of an exported session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// For reading.
    Markdown,
    /// The events of the log, as one array.
    Json,
}

/// An exported session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportedSession {
    /// The session.
    pub session: SessionId,
    /// The text of the file.
    pub text: String,
    /// Why the log could not be read to its end. The text has everything before the damage.
    pub damage: Option<OperationError>,
}
