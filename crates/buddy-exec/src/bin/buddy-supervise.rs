//! The supervisor as a program of its own, for tests of targets.

use std::process::ExitCode;

fn main() -> ExitCode {
    buddy_exec::supervise::supervise()
}
