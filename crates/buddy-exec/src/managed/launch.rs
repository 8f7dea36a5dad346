//! Starting a managed process: hands the command to a new keeper, waits until it runs, and lets go of both.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use super::directory::Directory;
use super::{Health, Owner, Record, Restart};
use crate::control::{self, Leftovers, MAX_SPEC_BYTES, Report, Spec, StdinSource};
use crate::{Bounds, Limits, Reach, SupervisorCommand, TargetError};

/// The time limit for a keeper to report that the command runs: as long as for the supervisor of a
/// command.
const START_LIMIT: Duration = Duration::from_secs(30);

/// The pause before a silent keeper is woken again.
const TICK: Duration = Duration::from_secs(1);

/// A managed process to start.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Program and arguments. The program is looked up in the `PATH` of `env`.
    pub argv: Vec<String>,
    /// The command as people read it.
    pub command: String,
    /// Its name.
    pub name: Option<String>,
    /// The directory to run in.
    pub cwd: PathBuf,
    /// The complete environment; nothing is inherited.
    pub env: Vec<(String, String)>,
    /// Its bounds.
    pub bounds: Bounds,
    /// The places that it can change although nobody was asked about it.
    pub unasked_writes: Reach,
    /// The owner who starts it.
    pub owner: Owner,
    /// Whether it is restarted.
    pub restart: Restart,
    /// The check that it does its work.
    pub health: Option<Health>,
    /// The files that it runs, as the user saw them when they approved it. It is restarted only with the same content.
    pub pinned: Vec<PathBuf>,
}

/// The task of a keeper.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) spec: Spec,
    pub(super) directory: Directory,
    /// Without the keeper, which adds itself.
    pub(super) record: Record,
    pub(super) pinned: Vec<Vec<u8>>,
}

impl Launch {
    pub(super) fn spec(&self, tag: (String, String), grace: Duration, limits: Limits) -> Spec {
        let mut env = self.env.clone();
        env.retain(|(name, _)| *name != tag.0);
        env.push(tag);
        Spec {
            argv: self.argv.clone(),
            cwd: self.cwd.as_os_str().as_bytes().to_vec(),
            env,
            stdin: StdinSource::Null,
            timeout_ms: None,
            grace_ms: u64::try_from(grace.as_millis()).unwrap_or(u64::MAX),
            bounds: self.bounds.clone(),
            limits,
            has_terminal: false,
            pane: None,
            quarantine: None,
            leftovers: Leftovers::End,
            end_mark: None,
        }
    }
}

/// Starts a keeper and returns once the command runs.
pub(super) fn launch(keeper: &SupervisorCommand, launch: &Launch, task: &Task) -> Result<(), TargetError> {
    let not_started = |source| TargetError::SupervisorNotStarted { program: keeper.program.clone(), source };
    let line = control::line(task).map_err(not_started)?;
    let size = line.len() as u64;
    if size > MAX_SPEC_BYTES {
        let what = "the command with its environment";
        return Err(TargetError::TooLarge { what, size, limit: MAX_SPEC_BYTES });
    }
    let (mut child, control) = spawn(keeper).map_err(not_started)?;
    match tell(&child, &control, &line) {
        Ok(Report::Started { .. }) => {
            let reaping = thread::Builder::new().name("keeper-reap".into());
            // The keeper may end long after this call; only this process can reap it.
            let _ = reaping.spawn(move || child.wait());
            Ok(())
        }
        Ok(report) => {
            let _ = child.wait();
            Err(report.into_error(&launch.argv, &launch.cwd).unwrap_or(TargetError::SupervisorLost))
        }
        Err(_) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(TargetError::SupervisorLost)
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where keepers are started")]
fn spawn(keeper: &SupervisorCommand) -> io::Result<(Child, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    // The keeper outlives this process and its directory, and the command can read its environment.
    let child = Command::new(&keeper.program)
        .args(&keeper.args)
        .env_clear()
        .current_dir("/")
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok((child, ours))
}

fn tell(keeper: &Child, mut control: &UnixStream, line: &[u8]) -> io::Result<Report> {
    control.set_write_timeout(Some(START_LIMIT))?;
    control.write_all(line)?;
    control.set_read_timeout(Some(TICK))?;
    let until = Instant::now() + START_LIMIT;
    let mut answers = BufReader::new(control.take(MAX_SPEC_BYTES));
    let mut answer = Vec::new();
    loop {
        match answers.read_until(b'\n', &mut answer) {
            Ok(_) => return Ok(serde_json::from_slice(&answer)?),
            Err(error) if !is_time_over(&error) || Instant::now() >= until => return Err(error),
            // The command may run already, and may have stopped the keeper before it could say so. It has not been
            // reaped, so the id is its own.
            Err(_) => drop(kill_process(Pid::from_child(keeper), Signal::CONT)),
        }
    }
}

fn is_time_over(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}
