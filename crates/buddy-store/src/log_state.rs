//! The writer's cached state of one log, which the holder of its lease keeps between appends.

use buddy_protocol::SessionSummary;

use crate::anchors::LogEnd;
use crate::chain::Hash;

/// The writer's cached state of a log that it may write to.
#[derive(Debug)]
pub(crate) struct WriterLogState {
    pub(crate) number: i64,
    pub(crate) head: u64,
    /// The link of the last event.
    pub(crate) link: Hash,
    /// The end of the log according to its anchor.
    pub(crate) anchored: LogEnd,
    pub(crate) summary: Option<SessionSummary>,
    /// Whether the summary is newer than its row.
    pub(crate) stale: bool,
}

impl WriterLogState {
    pub(crate) fn end(&self) -> LogEnd {
        LogEnd { count: self.head, link: self.link }
    }
}
