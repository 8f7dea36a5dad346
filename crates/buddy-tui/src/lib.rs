//! The terminal face: headless runs, lists, and the REPL.
//!
//! Everything here talks to `Sessions` and knows neither models nor tools nor the store, so that the same code serves a
//! hub in this process and a remote one.

mod asking;
mod exec;
mod exit;
mod printer;
mod repl;
mod report;
mod show;
mod targets;
mod visible;

pub use exec::{ExecRequest, ExecTarget, OutputFormat, run_exec};
pub use exit::Exit;
pub use printer::{OutputClosed, Printer};
pub use repl::{ReplRequest, run_repl};
pub use show::{local_time, show_asks, show_sessions, show_transcript};
