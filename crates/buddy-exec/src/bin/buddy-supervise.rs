//! The supervisor as a program of its own, with the process inside of jails, for tests of targets.

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|argument| argument == buddy_exec::jail::JAIL) {
        return buddy_exec::jail::jail();
    }
    buddy_exec::supervise::supervise()
}
