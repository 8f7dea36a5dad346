//! The event log and the data derived from it, in `SQLite`.
//!
//! The log is the truth: rows of `logs` and `events` are only ever appended. The list of sessions and the
//! search index derive from it and can be rebuilt. An acknowledged append survives `kill -9` and a power cut.
//! One thread of a process writes; it puts all queued appends into one transaction. A session has one writer
//! among all processes, held by a kernel lock that dies with its process. This crate reads no environment and
//! knows no agent.

mod anchors;
mod append;
mod backup;
mod chain;
mod changes;
mod check;
mod connection;
mod directory;
mod error;
mod excerpt;
mod keys;
mod lease;
mod ledger;
mod lock;
mod log_state;
mod presence;
mod readers;
mod record;
mod schema;
mod settings;
mod store;
mod summaries;
mod verify;
mod words;
mod writer;

pub use backup::BackupReport;
pub use check::{CheckReport, StoreFinding};
pub use readers::{MAX_LIST, MAX_READ_BYTES, MAX_READ_EVENTS};
pub use schema::SCHEMA;
pub use settings::{Integrity, OpenReport, StoreRole, StoreSettings};
pub use store::SqliteStore;
pub use summaries::RebuildReport;
pub use writer::{MAX_APPEND_BYTES, StoreStats};
