//! Execution targets: running commands and reaching files on a host.

mod captured;
mod control;
pub mod env;
mod exec;
pub mod logs;
mod processes;
pub mod supervise;
mod tail;

pub use captured::Captured;
pub use exec::{Chunk, Ended, Exec, Exit, LogFile, LogInfo, OutputLimits, Stdin, Stream};
