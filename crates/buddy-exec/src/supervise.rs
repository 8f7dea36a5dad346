//! The supervisor: a small process between a target and one command, and the whole `main` of its hidden mode.
//!
//! It starts the command, and as a *subreaper* it stays the ancestor of every process that the command
//! starts, also of those that fork twice, change their session and close everything. It ends only when none
//! of them is left. It guarantees that the tree is dead after a stop, after the timeout, after the command's
//! own end, and after the death of the process that asked for it. The end of the control stream tells it of
//! that death.
//!
//! Its stdin is the control stream (see `control.rs`). Its output streams are the command's: it hands them
//! over, closes its own ends, and never writes to them. It is synchronous, so that it starts in about a
//! millisecond.

mod start;
mod tree;
pub(crate) mod watch;

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use rustix::process::{DumpableBehavior, set_child_subreaper, set_dumpable_behavior, setsid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use crate::control::{self, Leftovers, MAX_SPEC_BYTES, Report, Spec, StdinSource};
use crate::descriptors::receive_descriptors;
use crate::end_mark::EndMark;
use crate::given::{Given, null};
use crate::terminal;
pub(crate) use start::{Started, start};
use watch::{Notice, Watch};

/// Runs one command under supervision and returns when its last process is gone.
///
/// The exit code is 0 when the protocol was kept; the report has the exit status of the command.
pub fn supervise() -> ExitCode {
    match supervise_stdin() {
        Ok(()) => ExitCode::SUCCESS,
        // The error has no reader: the control stream is what failed, and the output streams are the command's.
        Err(_) => ExitCode::from(2),
    }
}

fn supervise_stdin() -> io::Result<()> {
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Fails on anything but a socket: this mode is of no use at a terminal.
    control.peer_addr()?;
    let mut reports = control.try_clone()?;
    let mut descriptors = receive_descriptors(&control)?.into_iter();
    let mut control = BufReader::new(control);
    let (spec, stdin) = receive(&mut control)?;
    let piped = if spec.stdin == StdinSource::Piped { descriptors.next() } else { None };
    let way_out = descriptors.next();
    prepare()?;
    if spec.has_terminal {
        terminal::ignore_its_signals()?;
    }
    let (their_stdin, feeder) = stdin_for(&spec, piped)?;
    let mark = begin_mark(&spec);
    let mut started = match start(&spec, Given { stdin: their_stdin, way_out }) {
        Ok(started) => started,
        Err(report) => return reports.write_all(&control::line(&report)?),
    };
    let main = started.main;
    let (notices, inbox) = mpsc::channel();
    // From here on the tree is always watched: a failure kills it, but never leaves it alone.
    let begun = feed(feeder, stdin)
        .and_then(|()| release_streams())
        .and_then(|()| reports.write_all(&control::line(&Report::Started { pid: main.as_raw_pid() })?))
        .and_then(|()| watch::listen(control, notices.clone()).map(drop));
    if begun.is_err() {
        let _ = notices.send(Notice::Closed);
    }
    let mut outcome = Watch::new(&mut started, &spec, notices, inbox).run();
    outcome.swept = started.sweep();
    // The jail's files on the disk are gone when the end is reported.
    drop(started);
    if let Some(mark) = mark.filter(|_| spec.leftovers == Leftovers::End && outcome.survivors == 0) {
        // Without it the end counts as unknown.
        let _ = mark.complete();
    }
    if outcome.is_lost {
        // To the target this is the same as losing this process.
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    reports.write_all(&control::line(&Report::Exited(outcome))?)
}

/// The mark of the command's end, if undo asked for one. A mark that cannot be made leaves the end unknown.
fn begin_mark(spec: &Spec) -> Option<EndMark> {
    let path = spec.end_mark.as_ref()?;
    EndMark::begin(Path::new(OsStr::from_bytes(path))).ok()
}

/// The command to run and its stdin.
fn receive(control: &mut BufReader<UnixStream>) -> io::Result<(Spec, Option<Vec<u8>>)> {
    let mut line = Vec::new();
    control.by_ref().take(MAX_SPEC_BYTES).read_until(b'\n', &mut line)?;
    let spec: Spec = serde_json::from_slice(&line)?;
    let StdinSource::Bytes(length) = spec.stdin else { return Ok((spec, None)) };
    let mut stdin = Vec::new();
    control.by_ref().take(length).read_to_end(&mut stdin)?;
    if stdin.len() as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((spec, Some(stdin)))
}

/// Leaves the terminal of the parent, becomes the ancestor of all orphans, and keeps the command from reading or
/// changing this process.
pub(crate) fn prepare() -> io::Result<()> {
    setsid()?;
    own_orphans()
}

/// Becomes the ancestor of all orphans, and keeps the command from reading or changing this process.
pub(crate) fn own_orphans() -> io::Result<()> {
    set_child_subreaper(Some(rustix::process::getpid()))?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    dup2_stdin(null()?)?;
    Ok(())
}

/// The stdin of the command, and the pipe that feeds it.
fn stdin_for(spec: &Spec, piped: Option<OwnedFd>) -> io::Result<(OwnedFd, Option<PipeWriter>)> {
    if spec.has_terminal {
        return Ok((io::stdout().as_fd().try_clone_to_owned()?, None));
    }
    match spec.stdin {
        StdinSource::Null => Ok((null()?.into(), None)),
        StdinSource::Bytes(_) => io::pipe().map(|(reader, writer)| (reader.into(), Some(writer))),
        // The target writes to it: its end is that of the target, and its bytes never pass through here.
        StdinSource::Piped => Ok((piped.ok_or(io::ErrorKind::InvalidData)?, None)),
    }
}

/// Writes stdin on a thread of its own: the command may read it slowly or not at all.
fn feed(pipe: Option<PipeWriter>, stdin: Option<Vec<u8>>) -> io::Result<()> {
    if let (Some(mut pipe), Some(bytes)) = (pipe, stdin) {
        thread::Builder::new().spawn(move || pipe.write_all(&bytes))?;
    }
    Ok(())
}

/// Closes this process' ends of the command's output, so that the end of file comes when the command's own are closed.
pub(crate) fn release_streams() -> io::Result<()> {
    let null = null()?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok(())
}
