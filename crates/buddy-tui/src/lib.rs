//! The terminal face: headless runs, lists, and the REPL.
//!
//! Everything here talks to `Sessions` and knows neither models nor tools nor the store, so that the same code serves a
//! hub in this process and a remote one.

mod asking;
#[cfg_attr(not(test), expect(unused_imports, reason = "the conversation that shows them does not yet"))]
mod diff;
mod exec;
mod exit;
#[cfg_attr(
    not(test),
    expect(dead_code, unused_imports, reason = "the conversation that shows them does not yet")
)]
mod markdown;
#[cfg_attr(not(test), expect(dead_code, reason = "the conversation that shows them does not yet"))]
mod output;
mod printer;
mod repl;
mod report;
mod show;
#[expect(dead_code, unused_imports, reason = "the conversation that shows them does not yet")]
mod text;
mod visible;

pub use exec::{ExecRequest, ExecTarget, OutputFormat, run_exec};
pub use exit::Exit;
pub use printer::{OutputClosed, Printer};
pub use repl::{ReplRequest, run_repl};
pub use show::{local_time, show_asks, show_sessions, show_transcript};
pub use text::{Colors, Look, Theme};
