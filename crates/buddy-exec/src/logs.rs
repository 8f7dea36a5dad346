//! Log files of commands: one per command, capped each and in total.

mod evict;
mod reader;
mod writer;

pub use evict::{Evicted, TOTAL_CAP_BYTES, evict};
pub use reader::read_log_lines;
pub(crate) use writer::{LogWriter, create_private};
