//! The target's end of a supervisor: starts it, talks to it, and cleans up after one that was lost.

use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::net::SendFlags;
use rustix::pipe::fcntl_setpipe_size;
use rustix::process::{Pid, Signal, kill_process};

use crate::control::{self, Leftovers, MAX_SPEC_BYTES, Order, Spec, StdinSource};
use crate::descriptors::send_descriptors;
use crate::exec::Chunks;
use crate::terminal::{MAX_TYPED_BYTES, Terminal};
use crate::{Exec, Limits, Stdin, Stop, TargetError, processes};

/// The most bytes that a command can write ahead of the draining. The default of 64 KiB makes both sides
/// switch far more often.
pub(crate) const PIPE_BYTES: usize = 1024 * 1024;

/// The time limit for a supervisor to take the command: far more than a loaded machine needs.
const HANDOVER_LIMIT: Duration = Duration::from_secs(30);

/// The number of searches for processes of a lost supervisor, and the time that the killed get in between.
const CLEANUP_PASSES: usize = 50;
const CLEANUP_PAUSE: Duration = Duration::from_millis(20);

/// The command line of a supervisor: in service this program itself in its hidden mode.
#[derive(Debug, Clone)]
pub struct SupervisorCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

/// Conditions of a run that the command does not choose itself.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub(crate) grace: Duration,
    pub(crate) limits: Limits,
    /// The fate of background processes that the command leaves.
    pub(crate) leftovers: Leftovers,
    /// The handling of live output that its reader is too slow for.
    pub(crate) chunks: Chunks,
    /// The directory for files that commands leave where programs take orders from them.
    pub(crate) quarantine: Option<PathBuf>,
}

/// The control stream, shared by the run and the handles that may stop it.
pub(crate) struct Line {
    stream: UnixStream,
    /// The time of the first request to stop.
    stop_asked: OnceLock<Instant>,
}

impl Line {
    pub(crate) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    pub(crate) fn stop_asked(&self) -> Option<Instant> {
        self.stop_asked.get().copied()
    }

    /// Never waits and never fails visibly: a supervisor that is gone needs no order, and one that does not listen is
    /// dealt with by the run.
    fn send(&self, order: Order) {
        self.stop_asked.get_or_init(Instant::now);
        if let Ok(line) = control::line(&order) {
            let _ = rustix::net::send(&self.stream, &line, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
        }
    }
}

impl Stop for Line {
    fn stop(&self) {
        self.send(Order::Term);
    }

    fn kill(&self) {
        self.send(Order::Kill);
    }
}

/// A supervisor process that has been given its command.
pub(crate) struct Supervisor {
    child: Child,
    pub(crate) line: Arc<Line>,
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: PipeReader,
    /// The end of a piped stdin that this process writes to.
    pub(crate) stdin: Option<PipeWriter>,
}

impl Supervisor {
    pub(crate) fn start(
        command: &SupervisorCommand,
        exec: &Exec,
        terms: &Terms,
    ) -> Result<Self, TargetError> {
        let spec = control::line(&spec_of(exec, terms)).map_err(|source| not_started(command, source))?;
        let size = spec.len() as u64;
        if exec.pty.is_some() {
            exec.refuse_piped("a command with a terminal reads from it and has no piped stdin")?;
        }
        if let (Some(_), Stdin::Bytes(bytes)) = (exec.pty, &exec.stdin)
            && bytes.len() as u64 > MAX_TYPED_BYTES
        {
            let (what, size) = ("what is typed into the terminal", bytes.len() as u64);
            return Err(TargetError::TooLarge { what, size, limit: MAX_TYPED_BYTES });
        }
        if size > MAX_SPEC_BYTES {
            let what = "the command with its environment";
            return Err(TargetError::TooLarge { what, size, limit: MAX_SPEC_BYTES });
        }
        let mut supervisor = Self::spawn(command, exec).map_err(|source| not_started(command, source))?;
        let handed =
            supervisor.open_stdin(exec).and_then(|stdin| supervisor.hand_over(&spec, exec, stdin.as_ref()));
        match handed {
            Ok(()) => Ok(supervisor),
            Err(source) => {
                supervisor.clean_up();
                Err(not_started(command, source))
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this is where supervisors are started")]
    fn spawn(command: &SupervisorCommand, exec: &Exec) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let Outputs { stdout, stderr, theirs: [stdout_writer, stderr_writer] } = Outputs::of(exec)?;
        // The command can read the environment of its parent, so the supervisor has none.
        let child = Command::new(&command.program)
            .args(&command.args)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(stdout_writer)
            .stderr(stderr_writer)
            .spawn()?;
        let line = Arc::new(Line { stream: ours, stop_asked: OnceLock::new() });
        Ok(Self { child, line, stdout, stderr, stdin: None })
    }

    /// Makes the pipe of a command that is talked to, and returns the command's end.
    fn open_stdin(&mut self, exec: &Exec) -> io::Result<Option<PipeReader>> {
        if exec.stdin != Stdin::Piped {
            return Ok(None);
        }
        let (theirs, ours) = io::pipe()?;
        self.stdin = Some(ours);
        Ok(Some(theirs))
    }

    /// The caller closes the command's end of its stdin afterwards, so that a writer learns of the command's end.
    fn hand_over(&mut self, spec: &[u8], exec: &Exec, stdin: Option<&PipeReader>) -> io::Result<()> {
        let mut stream = self.line.stream();
        stream.set_write_timeout(Some(HANDOVER_LIMIT))?;
        let descriptors: Vec<_> =
            stdin.iter().map(AsFd::as_fd).chain(exec.way_out.iter().map(AsFd::as_fd)).collect();
        send_descriptors(stream, &descriptors)?;
        stream.write_all(spec)?;
        match (&exec.stdin, exec.pty) {
            (Stdin::Bytes(bytes), None) => stream.write_all(bytes),
            _ => Ok(()),
        }
    }

    /// The id of its process.
    pub(crate) fn pid(&self) -> i32 {
        Pid::from_child(&self.child).as_raw_pid()
    }

    /// Wakes a supervisor that its own command has stopped.
    pub(crate) fn nudge(&self) {
        // It has not been reaped, so the id is still its own.
        let _ = kill_process(Pid::from_child(&self.child), Signal::CONT);
    }

    /// Reaps a supervisor that has reported its end.
    pub(crate) fn reap(&mut self) {
        let _ = self.child.wait();
    }

    /// Kills all processes that can be found of a supervisor that was lost or does not answer, and of its
    /// command.
    ///
    /// The supervisor is reaped last: as long as it is not, its id cannot be reused, and so the session that
    /// bears its id is still its own.
    pub(crate) fn clean_up(&mut self) {
        let leader = Pid::from_child(&self.child).as_raw_pid();
        for pass in 0..CLEANUP_PASSES {
            let family = processes::session_family(&processes::all(), leader);
            if pass == 0 {
                // Only now: while it lives, all its descendants can be found.
                let _ = self.child.kill();
            }
            if family.is_empty() {
                break;
            }
            for process in family {
                process.signal(Signal::KILL);
            }
            std::thread::sleep(CLEANUP_PAUSE);
        }
        let _ = self.child.wait();
    }
}

/// The output streams of a command: the ends of this process and those of the command.
struct Outputs {
    stdout: PipeReader,
    stderr: PipeReader,
    theirs: [OwnedFd; 2],
}

impl Outputs {
    fn of(exec: &Exec) -> io::Result<Self> {
        let (stderr, stderr_writer) = io::pipe()?;
        if let Some(size) = exec.pty {
            let typed: &[u8] = match &exec.stdin {
                Stdin::Null | Stdin::Piped => &[],
                Stdin::Bytes(bytes) => bytes,
            };
            let Terminal { near, far } = Terminal::open(size, typed)?;
            // Both streams are the terminal, so the second ends at once.
            return Ok(Self { stdout: near, stderr, theirs: [far.try_clone()?, far] });
        }
        let (stdout, stdout_writer) = io::pipe()?;
        for pipe in [&stdout, &stderr] {
            // Refused when this user has many large pipes already; the default works too.
            let _ = fcntl_setpipe_size(pipe, PIPE_BYTES);
        }
        Ok(Self { stdout, stderr, theirs: [stdout_writer.into(), stderr_writer.into()] })
    }
}

fn spec_of(exec: &Exec, terms: &Terms) -> Spec {
    Spec {
        argv: exec.argv.clone(),
        cwd: exec.cwd.as_os_str().as_bytes().to_vec(),
        env: exec.env.clone(),
        stdin: match (&exec.stdin, exec.pty) {
            (Stdin::Bytes(bytes), None) => StdinSource::Bytes(bytes.len() as u64),
            (Stdin::Piped, None) => StdinSource::Piped,
            _ => StdinSource::Null,
        },
        timeout_ms: exec.timeout.map(millis),
        grace_ms: millis(terms.grace),
        bounds: exec.bounds.clone(),
        limits: terms.limits,
        has_terminal: exec.pty.is_some(),
        pane: None,
        quarantine: terms.quarantine.as_ref().map(|path| path.as_os_str().as_bytes().to_vec()),
        leftovers: terms.leftovers,
        end_mark: exec.end_mark.as_ref().map(|path| path.as_os_str().as_bytes().to_vec()),
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn not_started(command: &SupervisorCommand, source: io::Error) -> TargetError {
    TargetError::SupervisorNotStarted { program: command.program.clone(), source }
}
