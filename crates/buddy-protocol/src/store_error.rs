//! The failures of a store.

use serde::{Deserialize, Serialize};

use crate::SessionId;

/// The reason why the store failed.
#[derive(Debug, Clone, thiserror::Error, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "code", content = "fields", rename_all = "snake_case")]
pub enum StoreError {
    /// Another process writes to the session.
    #[error("session `{session}` is in use by {holder}")]
    Busy {
        /// The session.
        session: SessionId,
        /// The process that writes.
        holder: String,
    },
    /// Another server uses the store.
    #[error("the store is in use by {holder}")]
    InUse {
        /// The process that uses it.
        holder: String,
    },
    /// The events do not follow the end of the log.
    #[error("event {found} does not follow on event {head} of session `{session}`")]
    OutOfOrder {
        /// The session.
        session: SessionId,
        /// The last event in the log.
        head: u64,
        /// The number of the rejected event.
        found: u64,
    },
    /// The stored data is damaged.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
    /// The store was written by a newer version.
    #[error("the store has schema {found}, this version knows up to {known}; use a newer buddy")]
    TooNew {
        /// The schema that was found.
        found: u32,
        /// The newest schema that this version knows.
        known: u32,
    },
    /// The disk is full. Nothing was written; the stored data is intact.
    #[error("the disk is full")]
    Full,
    /// Any other error from reading or writing.
    #[error("{0}")]
    Io(String),
}
