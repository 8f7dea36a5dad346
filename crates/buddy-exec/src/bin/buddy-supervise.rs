//! The supervisor as a program of its own, with the process inside of jails and the keeper, for tests of targets.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args_os().nth(1) {
        Some(mode) if mode == buddy_exec::jail::JAIL => buddy_exec::jail::jail(),
        Some(mode) if mode == buddy_exec::managed::KEEP => buddy_exec::managed::keep(),
        Some(mode) if mode == buddy_exec::warden::WARD => buddy_exec::warden::ward(),
        _ => buddy_exec::supervise::supervise(),
    }
}
