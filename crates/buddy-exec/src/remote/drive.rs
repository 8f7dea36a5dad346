//! Drives one call on a thread of its own: drains both streams of the client, reads the private lines, keeps
//! the timeout, and ends with the [`Exit`].
//!
//! Nothing here waits for a reader alone; output that is to be delivered whole is not read until there is room. When the client ends without
//! the last private line, the connection was lost, and the outcome of the command is not known; the shell on
//! the host kills it as soon as it learns of the loss.

use std::io::Read;
use std::os::fd::AsFd;
use std::process::Child;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use tokio::sync::oneshot;

use super::feed::{self, AheadOfStdin, FeedLine};
use super::marks::{Marks, Word};
use super::script::{READER, Script, prelude};
use super::spare::{Shell, Spare};
use crate::drain::{LiveOutput, Output, READ_BYTES};
use crate::exec::Chunks;
use crate::stdin_writer::WriterEnd;
use crate::transport::{Client, say};
use crate::{
    Ended, Exit, LimitsHit, OutputLimits, Running, StdinWriter, Stop, Stopper, Stream, TargetError, Transport,
};

/// The time limit for the host to start the shell.
const START_LIMIT: Duration = Duration::from_secs(30);
/// The time that the streams are read after the last word. All processes of the command are gone by
/// then.
const DRAIN_LIMIT: Duration = Duration::from_secs(2);
/// The longest silence of a host that should have ended everything, on top of timeout and grace.
const BACKSTOP: Duration = Duration::from_secs(10);
/// The pause between two checks of deadlines when no output comes.
const TICK: Duration = Duration::from_millis(200);

/// The limits of one call.
#[derive(Debug, Clone)]
pub(super) struct RemoteLimits {
    pub(super) timeout: Option<Duration>,
    pub(super) grace: Duration,
    pub(super) output: OutputLimits,
    /// The handling of live output that its reader is too slow for.
    pub(super) manner: Chunks,
}

/// The reason why a call did not start.
#[derive(Debug)]
pub(super) enum NotStarted {
    /// The script on the host named the obstacle, and the error.
    Refused { what: String, how: String },
    /// Anything else.
    Failed(TargetError),
}

/// The client that reads a script on the host and runs it.
pub(super) fn reader(transport: &dyn Transport) -> Client {
    transport.client(&["sh", "-c", READER])
}

/// Starts a call and returns once the script on the host has begun the command. It takes the spare shell, or
/// connects and starts one, and starts the next spare one when the call has ended.
pub(super) async fn start(
    transport: &dyn Transport,
    spare: Arc<Spare>,
    script: Script,
    limits: RemoteLimits,
) -> Result<Running, NotStarted> {
    let shell = spare.take();
    if shell.is_none() {
        transport.connect().await.map_err(NotStarted::Failed)?;
    }
    let client = reader(transport);
    let target = transport.name().to_owned();
    let (started, is_started) = oneshot::channel();
    let name = target.clone();
    // A target that is gone needs no next shell.
    let spare = Arc::downgrade(&spare);
    let spawned = thread::Builder::new().name("exec-remote".into()).spawn(move || {
        let shells = Shells::start(shell, &client, &script).map_err(|error| TargetError::Unreachable {
            target: target.clone(),
            reason: format!("cannot start `{}`: {error}", client.program.display()),
        });
        match run(shells, target, script, &limits, started, &spare) {
            Connection::Stands => {
                if let Some(spare) = spare.upgrade() {
                    spare.fill(&client);
                }
            }
            Connection::Lost => {}
        }
    });
    spawned.map_err(|error| {
        NotStarted::Failed(TargetError::Unreachable { target: name.clone(), reason: error.to_string() })
    })?;
    let lost = TargetError::ConnectionLost { target: name, reason: String::new() };
    is_started.await.unwrap_or(Err(NotStarted::Failed(lost)))
}

/// The state of the connection after a call.
enum Connection {
    Stands,
    Lost,
}

/// The shells of one call.
struct Shells {
    own: Shell,
    /// Takes the orders, if the stream of the first is the command's stdin.
    listening: Option<Shell>,
}

impl Shells {
    fn start(spare: Option<Shell>, client: &Client, script: &Script) -> std::io::Result<Self> {
        let first = spare.map_or_else(|| Shell::start(client), Ok)?;
        if script.listener.is_none() {
            return Ok(Self { own: first, listening: None });
        }
        match Shell::start(client) {
            Ok(own) => Ok(Self { own, listening: Some(first) }),
            Err(error) => {
                first.end();
                Err(error)
            }
        }
    }
}

/// A whole call. The spare shell is given up before a caller hears that the connection was lost.
fn run(
    shells: Result<Shells, TargetError>,
    target: String,
    script: Script,
    limits: &RemoteLimits,
    started: oneshot::Sender<Result<Running, NotStarted>>,
    spare: &Weak<Spare>,
) -> Connection {
    let begun =
        shells.map_err(NotStarted::Failed).and_then(|shells| Drive::begin(shells, target, script, limits));
    let (mut drive, live) = match begun {
        Ok(begun) => begun,
        Err(error) => {
            drop(started.send(Err(error)));
            return Connection::Lost;
        }
    };
    if let Err(error) = drive.await_start() {
        let is_refused = matches!(error, NotStarted::Refused { .. });
        drop(started.send(Err(error)));
        if is_refused {
            drive.end_client();
            return Connection::Stands;
        }
        return Connection::Lost;
    }
    let (exit, is_exited) = oneshot::channel();
    let stopper = Stopper::new(drive.line.clone());
    let running = Running::new(live.chunks, is_exited, stopper);
    drop(started.send(Ok(running.with_room(live.room).with_stdin(drive.open_stdin()))));
    let ended = drive.until_end(limits);
    let connection = if ended.is_some() { Connection::Stands } else { Connection::Lost };
    if ended.is_none()
        && let Some(shell) = spare.upgrade().and_then(|spare| spare.take())
    {
        shell.end();
    }
    drive.finish(ended.as_ref(), exit);
    connection
}

struct Drive {
    child: Child,
    target: String,
    line: Arc<FeedLine>,
    stdout: Option<std::process::ChildStdout>,
    stderr: Option<std::process::ChildStderr>,
    output_marks: Marks,
    error_marks: Marks,
    output: Output,
    words: Vec<Word>,
    buffer: Vec<u8>,
    began: Instant,
    is_timed_out: bool,
    /// The call that takes the orders, if the stream of this one is the command's stdin.
    listener: Option<Box<Drive>>,
    /// That stream, when the host has taken the script.
    stdin: Option<AheadOfStdin>,
    /// Ends the writer of that stdin.
    writer_end: Option<WriterEnd>,
}

/// The beginning of a call.
impl Drive {
    /// Sends everything to the host. A command whose stream is its stdin is not sent before the host listens to
    /// orders about it.
    fn begin(
        shells: Shells,
        target: String,
        mut script: Script,
        limits: &RemoteLimits,
    ) -> Result<(Self, LiveOutput), NotStarted> {
        let mut listener = match (shells.listening, script.listener.take()) {
            (Some(shell), Some(script)) => {
                let listener = Self::new(shell, target.clone(), *script, Output::none(), None);
                Some(listener.map_err(NotStarted::Failed)?)
            }
            _ => None,
        };
        if let Some(listener) = &mut listener
            && let Err(error) = listener.await_start()
        {
            shells.own.end();
            return Err(error);
        }
        let (output, live) = Output::new(limits.output.clone(), limits.manner).map_err(|error| {
            let reason = format!("cannot keep the output: {error}");
            NotStarted::Failed(TargetError::Unreachable { target: target.clone(), reason })
        })?;
        let drive = Self::new(shells.own, target, script, output, listener.map(Box::new));
        Ok((drive.map_err(NotStarted::Failed)?, live))
    }

    fn new(
        shell: Shell,
        target: String,
        mut script: Script,
        output: Output,
        listener: Option<Box<Self>>,
    ) -> Result<Self, TargetError> {
        let cannot = |error: std::io::Error| TargetError::Unreachable {
            target: target.clone(),
            reason: format!("cannot speak to the client: {error}"),
        };
        let Shell { mut child, is_prepared } = shell;
        if script.is_supervised && !is_prepared {
            script.text.splice(..0, prelude().into_bytes());
        }
        let marks = script.nonces.clone();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let stream = child.stdin.take().ok_or_else(|| cannot(std::io::ErrorKind::BrokenPipe.into()))?;
        let (line, stdin) = match &listener {
            Some(listener) => {
                (listener.line.clone(), Some(feed::feed_ahead(script, stream).map_err(cannot)?))
            }
            None => (Arc::new(feed::feed(script, stream).map_err(cannot)?), None),
        };
        Ok(Self {
            child,
            line,
            stdout,
            stderr,
            output_marks: Marks::new(&marks.start, &marks.end),
            error_marks: Marks::new(&marks.start, &marks.end),
            output,
            words: Vec::new(),
            buffer: vec![0; READ_BYTES],
            began: Instant::now(),
            is_timed_out: false,
            target,
            listener,
            stdin,
            writer_end: None,
        })
    }

    /// The stdin of a command that has started: the host has read the script, so this does not wait.
    fn open_stdin(&mut self) -> Option<StdinWriter> {
        let stream = self.stdin.take()?.join().ok()?.ok()?;
        let (stdin, end) = StdinWriter::new(stream.into());
        self.writer_end = Some(end);
        Some(stdin)
    }

    fn await_start(&mut self) -> Result<(), NotStarted> {
        let until = Instant::now() + START_LIMIT;
        while Instant::now() < until {
            match self.next_word() {
                Some(Word::Started) => {
                    self.began = Instant::now();
                    return Ok(());
                }
                Some(Word::Refused { what, how }) => return Err(NotStarted::Refused { what, how }),
                Some(Word::Exited { .. } | Word::Garbled) => break,
                None if self.is_at_end() => break,
                None => self.round(TICK),
            }
        }
        Err(NotStarted::Failed(self.lost()))
    }
}

/// The rest of a call.
impl Drive {
    /// Waits until the last word came. `None` if it never did.
    fn until_end(&mut self, limits: &RemoteLimits) -> Option<Word> {
        let timed = limits.timeout.and_then(|timeout| self.began.checked_add(timeout));
        loop {
            match self.next_word() {
                Some(word @ Word::Exited { .. }) => {
                    self.drain_rest();
                    return Some(word);
                }
                Some(_) => return None,
                None if self.is_at_end() => return None,
                None => {}
            }
            let now = Instant::now();
            if timed.is_some_and(|timed| timed <= now) && self.line.stop_asked().is_none() {
                self.is_timed_out = true;
                self.line.stop();
            }
            if self.line.stop_asked().is_some() {
                self.output.hurry();
            } else if self.is_listener_gone() {
                return None;
            }
            if self.line.stop_asked().is_some_and(|asked| asked.elapsed() > limits.grace + BACKSTOP) {
                return None;
            }
            let left = timed.map_or(TICK, |timed| timed.saturating_duration_since(now));
            self.round(if self.line.stop_asked().is_some() { TICK } else { left.min(TICK) });
        }
    }

    /// Without it nobody on the host would end the command.
    fn is_listener_gone(&mut self) -> bool {
        self.listener.as_mut().is_some_and(|listener| !matches!(listener.child.try_wait(), Ok(None)))
    }

    fn drain_rest(&mut self) {
        self.output.hurry();
        let until = Instant::now() + DRAIN_LIMIT;
        while self.stdout.is_some() && !self.output_marks.is_over() && Instant::now() < until {
            self.round(until.saturating_duration_since(Instant::now()));
        }
    }

    /// Hands out the exit, and ends the client afterwards: no caller has to wait for that.
    fn finish(mut self, ended: Option<&Word>, exit: oneshot::Sender<Result<Exit, TargetError>>) {
        let duration = self.began.elapsed();
        self.writer_end = None;
        // Only the other connection has heard the order.
        let stop_asked = self.listener.is_some() && self.line.stop_asked().is_some();
        let Some(&Word::Exited { code, signal, leftovers, survivors, was_stopped }) = ended else {
            let error = self.lost();
            self.output.finish();
            return drop(exit.send(Err(error)));
        };
        let taken = std::mem::replace(&mut self.output, Output::none()).finish();
        let is_signal = signal > 0;
        let done = Exit {
            swept: Vec::new(),
            code: (!is_signal).then_some(code),
            signal: is_signal.then_some(signal),
            ended: match (was_stopped || stop_asked, self.is_timed_out) {
                (false, _) => Ended::Exited,
                (true, true) => Ended::TimedOut,
                (true, false) => Ended::Stopped,
            },
            duration,
            stdout: taken.stdout,
            stderr: taken.stderr,
            leftovers,
            survivors,
            log: taken.log,
            chunks_dropped: taken.chunks_dropped,
            hit: LimitsHit::default(),
        };
        let _ = exit.send(Ok(done));
        self.end_client();
    }

    /// Ends the client and returns the error that the command's outcome is unknown.
    fn lost(&mut self) -> TargetError {
        let _ = self.child.kill();
        self.end_client();
        let reason = say(&self.error_marks.noise());
        tracing::warn!(target = self.target, reason, "a call to another host was lost");
        TargetError::ConnectionLost { target: self.target.clone(), reason }
    }

    fn end_client(&mut self) {
        self.line.kill();
        if let Some(listener) = &mut self.listener {
            // Its stream ends with it, and that is the order to kill what is left. The other one may be held open by a writer.
            for child in [&mut listener.child, &mut self.child] {
                let _ = child.kill();
                let _ = child.wait();
            }
            return;
        }
        // No process holds it any more, so this is short; a client that lingers is killed.
        let until = Instant::now() + DRAIN_LIMIT;
        while !matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
            if Instant::now() >= until {
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn next_word(&mut self) -> Option<Word> {
        (!self.words.is_empty()).then(|| self.words.remove(0))
    }

    fn is_at_end(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }

    /// Waits for output or the deadline, and takes one read from each stream that is ready.
    fn round(&mut self, limit: Duration) {
        let timeout = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        let [stdout, stderr] = self.ready(&timeout);
        if stdout && let Some(stream) = &mut self.stdout {
            let output = &mut self.output;
            if let Some(bytes) = read(stream, &mut self.buffer) {
                self.output_marks.take(bytes, |own| output.push(Stream::Stdout, own));
            } else {
                self.output_marks.finish(|own| output.push(Stream::Stdout, own));
                self.stdout = None;
            }
        }
        if stderr && let Some(stream) = &mut self.stderr {
            let output = &mut self.output;
            if let Some(bytes) = read(stream, &mut self.buffer) {
                self.words.extend(self.error_marks.take(bytes, |own| output.push(Stream::Stderr, own)));
            } else {
                self.error_marks.finish(|own| output.push(Stream::Stderr, own));
                self.stderr = None;
            }
        }
    }

    fn ready(&self, timeout: &Timespec) -> [bool; 2] {
        let full = self.output.full();
        let streams = [self.stdout.as_ref().map(AsFd::as_fd), self.stderr.as_ref().map(AsFd::as_fd)];
        let streams = streams.map(|stream| stream.filter(|_| full.is_none()));
        let open: Vec<usize> = (0..2).filter(|&at| streams[at].is_some()).collect();
        let descriptors = streams.into_iter().flatten().chain(full.map(AsFd::as_fd));
        let mut polled: Vec<PollFd<'_>> =
            descriptors.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        let mut ready = [false; 2];
        if poll(&mut polled, Some(timeout)).is_ok() {
            for (at, descriptor) in open.into_iter().zip(&polled) {
                ready[at] = !descriptor.revents().is_empty();
            }
        }
        if let Some(sign) = full {
            sign.take();
        }
        ready
    }
}

/// Reads once; `None` at the end.
fn read<'b>(stream: &mut impl Read, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
    match stream.read(buffer) {
        Ok(0) => None,
        Ok(length) => buffer.get(..length),
        Err(error) if error.raw_os_error() == Some(Errno::INTR.raw_os_error()) => Some(&[]),
        Err(_) => None,
    }
}
