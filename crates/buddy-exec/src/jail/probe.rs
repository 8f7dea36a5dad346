//! Trying a layer on this machine, where trying it leaves no trace.

use std::io::Read;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use landlock::{ABI, Access, AccessFs, Ruleset, RulesetAttr};

use super::confine::landlock;
use super::refusal::{Refusal, SECCOMP};
use super::seccomp;
use super::words::{Place, Rules};

/// How long a program that is tried may take.
const PROGRAM_LIMIT: Duration = Duration::from_secs(5);

/// How often it is looked at.
const PAUSE: Duration = Duration::from_millis(2);

/// The most that is kept of its complaint.
const MAX_COMPLAINT_BYTES: u64 = 1024;

/// The version of Landlock that the kernel has, asked by restricting a thread that does nothing else.
pub(super) fn landlock_abi() -> ABI {
    let asked = on_a_thread(|| {
        let ruleset = Ruleset::default().handle_access(AccessFs::from_all(ABI::V1))?.create()?;
        Ok::<_, landlock::RulesetError>(ruleset.restrict_self()?.landlock)
    });
    asked.and_then(Result::ok).map_or(ABI::Unsupported, ABI::from)
}

/// Restricts a thread to nothing, and looks whether it can still read.
pub(super) fn landlock_holds() -> Result<bool, Refusal> {
    let tried = on_a_thread(|| {
        landlock(&Rules::default(), false, ABI::V1)?;
        Ok(std::fs::read_dir("/").is_err())
    });
    tried.unwrap_or(Ok(false))
}

/// Filters a thread, and looks whether it can still make a local socket.
pub(super) fn seccomp_holds() -> Result<bool, Refusal> {
    let tried = on_a_thread(|| {
        rustix::thread::set_no_new_privs(true).map_err(|error| Refusal::new(SECCOMP, error))?;
        seccomp::apply(Place::Bare, false)?;
        Ok(UnixDatagram::unbound().is_err())
    });
    tried.unwrap_or(Ok(false))
}

fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    thread::Builder::new().spawn(work).ok()?.join().ok()
}

/// Runs a program to its end. Says why when it does not end well.
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
