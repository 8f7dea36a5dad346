//! The changes that a command left where nothing is kept, compared when it has ended.

use std::path::PathBuf;

use super::fingerprint::fingerprint_of;
use super::journal::Record;
use buddy_protocol::PathText;

/// The record of a place that changed since its fingerprint was taken, or of work that was sent.
pub(super) fn left_behind(record: &Record) -> Option<Record> {
    let (path, why) = match record {
        Record::Place { path, why, digest, is_unsure, is_store, skipped } => {
            let skipped: Vec<PathBuf> = skipped.iter().map(|path| path.0.clone()).collect();
            let is_same = fingerprint_of(&path.0, *is_store, &skipped).digest == *digest;
            (!is_same || *is_unsure).then(|| (path.clone(), why.clone()))?
        }
        Record::Sending { to, why } => (PathText(PathBuf::from(to)), why.clone()),
        _ => return None,
    };
    Some(Record::NotCovered { path, why, is_changed: true })
}
