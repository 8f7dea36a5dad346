//! Drives one run on a thread of its own: drains both streams, listens to the supervisor, and ends with the
//! [`Exit`].
//!
//! A plain thread and not a task, as the drain must keep up with the command no matter how busy the runtime
//! is, and as writing the log blocks. It never waits for a reader alone: chunks that do not fit are counted and
//! dropped, or the output of a command that is talked to is not read until there is room. The timeout is kept by the supervisor, which no amount of output can delay; this module has only
//! the backstop for a supervisor that does not answer.

mod output;

use std::io::{self, PipeReader, Read};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::sync::oneshot;

use crate::control::{Outcome, Report};
use crate::jail::clear_litter;
use crate::local::{Supervisor, Terms};
use crate::{Exec, Exit, Reach, Running, StdinWriter, Stopper, Stream, SupervisorCommand, TargetError};
pub(crate) use output::{LiveOutput, Output, READ_BYTES, Taken};

/// The time that the streams are still read after the supervisor reported the end. All writers are dead by then,
/// so the end of file comes at once unless one of them could not be killed.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);

/// The longest silence of a supervisor that should have ended everything, on top of timeout and grace.
const BACKSTOP: Duration = Duration::from_secs(10);

/// The time limit for a supervisor to report that the command started.
const START_LIMIT: Duration = Duration::from_secs(30);

/// The pause between two checks of the backstop.
const TICK: Duration = Duration::from_secs(1);

/// Starts a run and returns once the command runs.
pub(crate) async fn start(
    command: SupervisorCommand,
    exec: Exec,
    terms: Terms,
) -> Result<Running, TargetError> {
    if exec.argv.is_empty() {
        return Err(TargetError::EmptyCommand);
    }
    let program = command.program.clone();
    let (started, is_started) = oneshot::channel();
    let spawned = thread::Builder::new().name("exec-drain".into()).spawn(move || {
        run(&command, exec, &terms, started);
    });
    spawned.map_err(|source| TargetError::SupervisorNotStarted { program, source })?;
    is_started.await.unwrap_or(Err(TargetError::SupervisorLost))
}

/// The whole life of the thread. If no caller waits for the start any more, the refused [`Running`] is
/// dropped, and that kills the command.
fn run(
    command: &SupervisorCommand,
    mut exec: Exec,
    terms: &Terms,
    started: oneshot::Sender<Result<Running, TargetError>>,
) {
    let mut supervisor = match Supervisor::start(command, &exec, terms) {
        Ok(supervisor) => supervisor,
        Err(error) => return drop(started.send(Err(error))),
    };
    // From here on only the process inside holds it, so that its end can be seen.
    exec.way_out = None;
    let (output, live) = match Output::new(std::mem::take(&mut exec.output), terms.chunks) {
        Ok(made) => made,
        Err(source) => {
            supervisor.clean_up();
            let program = command.program.clone();
            return drop(started.send(Err(TargetError::SupervisorNotStarted { program, source })));
        }
    };
    let (stdin, writer_end) = supervisor.stdin.take().map(|pipe| StdinWriter::new(pipe.into())).unzip();
    let mut drain = Drain {
        stopper: Stopper::new(supervisor.line.clone()),
        supervisor,
        output,
        stdout_open: true,
        stderr_open: true,
        heard: Vec::new(),
        buffer: vec![0; READ_BYTES],
    };
    if let Err(error) = drain.await_start(&exec) {
        return drop(started.send(Err(error)));
    }
    let (exit, is_exited) = oneshot::channel();
    let running = Running::new(live.chunks, is_exited, drain.stopper.clone());
    let running = running.with_room(live.room).with_stdin(stdin);
    drop(started.send(Ok(running.supervised_by(drain.supervisor.pid()))));
    let timed = exec.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let ended = drain.until_end(timed, terms.grace);
    let is_lost = ended.is_none();
    let ended = drain.finish(ended);
    if is_lost && let Reach::Beneath(roots) = &exec.bounds.write {
        // The lost supervisor would have done so itself.
        clear_litter(roots, &exec.bounds.guarded_names);
    }
    drop(writer_end);
    let _ = exit.send(ended);
}

struct Drain {
    supervisor: Supervisor,
    stopper: Stopper,
    output: Output,
    stdout_open: bool,
    stderr_open: bool,
    /// Bytes from the control stream that are not yet a whole line.
    heard: Vec<u8>,
    buffer: Vec<u8>,
}

/// The result of one round of waiting.
enum Heard {
    Nothing,
    Report(Report),
    /// The control stream ended.
    Lost,
}

impl Drain {
    fn await_start(&mut self, exec: &Exec) -> Result<(), TargetError> {
        let until = Instant::now() + START_LIMIT;
        while Instant::now() < until {
            let error = match self.round(Instant::now() + TICK) {
                Heard::Nothing => {
                    // The command may run already, and may have stopped the supervisor before it could say so.
                    self.supervisor.nudge();
                    continue;
                }
                Heard::Report(Report::Started { pid }) => {
                    tracing::debug!(pid, program = exec.argv.first(), "command started");
                    return Ok(());
                }
                Heard::Report(report) => match report.into_error(&exec.argv, &exec.cwd) {
                    Some(error) => error,
                    None => break,
                },
                Heard::Lost => break,
            };
            self.supervisor.reap();
            return Err(error);
        }
        self.supervisor.clean_up();
        Err(TargetError::SupervisorLost)
    }

    /// Waits until the supervisor has reported the end and the streams are drained. `None` if it never did.
    fn until_end(&mut self, timed: Option<Instant>, grace: Duration) -> Option<Outcome> {
        loop {
            let asked = [timed, self.supervisor.line.stop_asked()].into_iter().flatten().min();
            if let Some(asked) = asked.filter(|&asked| asked <= Instant::now()) {
                self.supervisor.nudge();
                self.output.hurry();
                if asked.elapsed() > grace + BACKSTOP {
                    return None;
                }
            }
            match self.round(Instant::now() + TICK) {
                Heard::Report(Report::Exited(outcome)) => {
                    self.drain_rest();
                    return Some(outcome);
                }
                Heard::Lost => return None,
                Heard::Report(_) | Heard::Nothing => {}
            }
        }
    }

    fn drain_rest(&mut self) {
        self.output.hurry();
        let until = Instant::now() + DRAIN_LIMIT;
        while (self.stdout_open || self.stderr_open) && Instant::now() < until {
            self.round(until);
        }
    }

    fn finish(mut self, ended: Option<Outcome>) -> Result<Exit, TargetError> {
        let Some(outcome) = ended else {
            tracing::warn!("the supervisor of a command was lost");
            self.supervisor.clean_up();
            self.drain_rest();
            self.output.finish();
            return Err(TargetError::SupervisorLost);
        };
        self.supervisor.reap();
        let taken = self.output.finish();
        Ok(Exit {
            code: outcome.code,
            signal: outcome.signal,
            ended: outcome.ended,
            duration: Duration::from_micros(outcome.took_us),
            stdout: taken.stdout,
            stderr: taken.stderr,
            leftovers: outcome.leftovers,
            survivors: outcome.survivors,
            hit: outcome.hit,
            swept: outcome.swept,
            log: taken.log,
            chunks_dropped: taken.chunks_dropped,
        })
    }
}

/// Waiting and reading.
impl Drain {
    /// Waits for output, a report or the deadline, and takes one read from each stream that is ready.
    fn round(&mut self, until: Instant) -> Heard {
        // Two reports may have come in one read.
        if let Some(report) = self.next_report() {
            return report;
        }
        let [control, stdout, stderr] = self.ready(until);
        if stdout {
            self.stdout_open =
                pump(&mut self.supervisor.stdout, Stream::Stdout, &mut self.buffer, &mut self.output);
        }
        if stderr {
            self.stderr_open =
                pump(&mut self.supervisor.stderr, Stream::Stderr, &mut self.buffer, &mut self.output);
        }
        if control { self.hear() } else { Heard::Nothing }
    }

    fn ready(&self, until: Instant) -> [bool; 3] {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        let full = self.output.full();
        let streams = [
            (true, self.supervisor.line.stream().as_fd()),
            (self.stdout_open && full.is_none(), self.supervisor.stdout.as_fd()),
            (self.stderr_open && full.is_none(), self.supervisor.stderr.as_fd()),
        ];
        // A descriptor that asks for nothing would still report its hang-up, so closed streams are left out.
        let open: Vec<usize> = (0..streams.len()).filter(|&at| streams[at].0).collect();
        let descriptors = open.iter().map(|&at| streams[at].1).chain(full.map(AsFd::as_fd));
        let mut polled: Vec<PollFd<'_>> =
            descriptors.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        let mut ready = [false; 3];
        if poll(&mut polled, Some(&timeout)).is_ok() {
            for (at, descriptor) in open.into_iter().zip(&polled) {
                ready[at] = !descriptor.revents().is_empty();
            }
        }
        if let Some(sign) = full {
            sign.take();
        }
        ready
    }

    fn hear(&mut self) -> Heard {
        let mut bytes = [0; 4096];
        match self.supervisor.line.stream().read(&mut bytes) {
            Ok(0) => return Heard::Lost,
            Ok(length) => self.heard.extend(bytes.iter().take(length)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Heard::Nothing,
            Err(_) => return Heard::Lost,
        }
        self.next_report().unwrap_or(Heard::Nothing)
    }

    fn next_report(&mut self) -> Option<Heard> {
        let end = self.heard.iter().position(|&byte| byte == b'\n')?;
        let line: Vec<u8> = self.heard.drain(..=end).collect();
        Some(serde_json::from_slice(&line).map_or(Heard::Lost, Heard::Report))
    }
}

/// Reads once. Returns whether the stream is still open.
fn pump(pipe: &mut PipeReader, stream: Stream, buffer: &mut [u8], output: &mut Output) -> bool {
    match pipe.read(buffer) {
        Ok(0) => false,
        Ok(length) => {
            output.push(stream, buffer.get(..length).unwrap_or_default());
            true
        }
        Err(error) => error.raw_os_error() == Some(Errno::INTR.raw_os_error()),
    }
}
