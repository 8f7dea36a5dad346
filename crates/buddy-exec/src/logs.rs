//! Log files of commands: one per command, capped each and in total.

mod evict;
mod writer;

pub use evict::{Evicted, TOTAL_CAP_BYTES, evict};
pub(crate) use writer::{LogWriter, create_private};
