//! Tests of a layer on this machine that leave no trace.

use std::io::Read;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use landlock::{ABI, Access, AccessFs, Ruleset, RulesetAttr};

use super::refusal::{Refusal, SECCOMP};
use super::seccomp::{self, Sockets};
use super::words::Place;

/// The time limit of a tested program.
const PROGRAM_LIMIT: Duration = Duration::from_secs(5);

/// The pause between two checks of it.
const PAUSE: Duration = Duration::from_millis(2);

/// The most bytes that are kept of its error message.
const MAX_COMPLAINT_BYTES: u64 = 1024;

/// The version of Landlock that the kernel has, asked by restricting a thread that does nothing else.
pub(super) fn landlock_abi() -> ABI {
    let asked = on_a_thread(|| {
        let ruleset = Ruleset::default().handle_access(AccessFs::from_all(ABI::V1))?.create()?;
        Ok::<_, landlock::RulesetError>(ruleset.restrict_self()?.landlock)
    });
    asked.and_then(Result::ok).map_or(ABI::Unsupported, ABI::from)
}

/// Filters a thread, and checks whether it can still make a local socket.
pub(super) fn seccomp_holds() -> Result<bool, Refusal> {
    let tried = on_a_thread(|| {
        rustix::thread::set_no_new_privs(true).map_err(|error| Refusal::new(SECCOMP, error))?;
        seccomp::apply(Place::Bare, Sockets::None)?;
        Ok(UnixDatagram::unbound().is_err())
    });
    tried.unwrap_or(Ok(false))
}

pub(super) fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    thread::Builder::new().spawn(work).ok()?.join().ok()
}

/// Runs a program to its end. Returns why when it fails.
#[expect(clippy::disallowed_methods, reason = "what a program can do here is found out by starting it")]
pub(super) fn run(program: &str, arguments: &[&str]) -> Result<(), String> {
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start `{program}`: {error}"))?;
    let until = Instant::now() + PROGRAM_LIMIT;
    while Instant::now() < until {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => {
                let mut said = Vec::new();
                if let Some(stderr) = child.stderr.take() {
                    let _ = stderr.take(MAX_COMPLAINT_BYTES).read_to_end(&mut said);
                }
                return Err(format!("{} ({status})", String::from_utf8_lossy(&said).trim()));
            }
            Ok(None) => thread::sleep(PAUSE),
            Err(error) => return Err(error.to_string()),
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(format!("`{program}` did not end within {} s", PROGRAM_LIMIT.as_secs()))
}
