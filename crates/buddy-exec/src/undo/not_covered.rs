//! Changes of a call that undo does not have.

use buddy_protocol::PathText;
use serde::Serialize;

use super::journal::Record;

/// A path whose changes cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotCovered {
    /// The path, the directory in which changes are not known, or the receiver of work that was sent.
    pub path: PathText,
    /// The reason.
    pub why: String,
    /// Whether it is known to have changed. Otherwise buddy did not look there.
    pub is_changed: bool,
}

/// The place that a record tells of, if undo does not have it.
pub(super) fn left_out(record: &Record) -> Option<NotCovered> {
    match record {
        Record::NotCovered { path, why, is_changed } => {
            Some(NotCovered { path: path.clone(), why: why.clone(), is_changed: *is_changed })
        }
        _ => None,
    }
}
