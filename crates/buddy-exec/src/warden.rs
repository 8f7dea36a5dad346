//! The warden: a small process in a pane that owns the jail of the pane's shell, and the whole `main` of its
//! hidden mode.
//!
//! tmux starts it as the process of the pane, so it leads the session of the pane's terminal. It starts the
//! shell in a jail that stays in that session, in the foreground of the terminal, reports the process of the
//! shell, and ends as the shell did. tmux ends a pane by closing its terminal; the warden then kills all
//! processes in the jail.
//!
//! Its task is in a file that the jail hides. It reports in another one.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{self, Sender};
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::io::Errno;
use rustix::process::{Signal, getpid, kill_process};
use serde::{Deserialize, Serialize};

use crate::control::{MAX_SPEC_BYTES, Outcome, Report, Spec};
use crate::given::Given;
use crate::jail::{Jail, SweepLine};
use crate::supervise::watch::{Notice, Watch};
use crate::supervise::{self, Started};
use crate::terminal;
use crate::{FileMode, FileSync, SweepNote, replace_file};

/// The first argument under which this program becomes a warden. The second is the file with its task.
pub const WARD: &str = "__ward";

/// The exit code that shells report for a command that could not be started.
const NOT_STARTED: u8 = 126;

/// The time that a warden without a shell stays.
const REFUSAL_SHOWN: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// Added by shells to the number of a signal that ended a command.
const SIGNAL_BASE: i32 = 128;

/// The task of a warden.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) spec: Spec,
    /// The file for its reports: one [`Told`].
    pub(crate) tell: PathBuf,
}

/// A report of a warden.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Told {
    /// The shell runs.
    Runs {
        /// The process that reports this, which is the one that tmux knows.
        warden: i32,
        /// The process of the shell.
        shell: i32,
        /// The directory in which the shell finds the files written for it.
        directory: PathBuf,
    },
    /// The shell has ended.
    Ended {
        /// The process that reports this.
        warden: i32,
        /// The exit code of the shell.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// The notes of the sweep that were not reported yet.
        swept: Vec<SweepNote>,
    },
    /// A sweep was made for files that the shell has left where programs take orders from them.
    Swept {
        /// The process that reports this.
        warden: i32,
        /// The notes of the sweep since the last report.
        swept: Vec<SweepNote>,
    },
    /// The shell would not have been kept to its bounds.
    Refused {
        /// The process that reports this.
        warden: i32,
        /// The layer of the jail that could not be applied.
        layer: String,
        /// The reason.
        reason: String,
    },
}

/// Runs the shell of a pane in its jail and returns when its last process is gone, with the exit code of the
/// shell.
pub fn ward() -> ExitCode {
    let Some(task) = std::env::args_os().nth(2) else { return ExitCode::from(NOT_STARTED) };
    match ward_terminal(&task) {
        Ok(outcome) => end_as(&outcome),
        // The user at the pane was told why.
        Err(_) => ExitCode::from(NOT_STARTED),
    }
}

fn ward_terminal(task: &OsString) -> io::Result<Outcome> {
    let Task { spec, tell } = read(Path::new(task))?;
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(io::Error::other("this is no terminal"));
    }
    let pane = io::stdin().as_fd().try_clone_to_owned()?;
    supervise::own_orphans()?;
    terminal::ignore_its_signals()?;
    let mut started = match supervise::start(&spec, Given::stdin(pane.try_clone()?)) {
        Ok(started) => started,
        Err(report) => {
            let error = refusal(report, &tell);
            let _ = writeln!(io::stderr(), "buddy: the shell of this pane cannot be started: {error}");
            // A pane whose process ends at once is gone before tmux was told to keep it for people to see.
            let _ = poll(&mut [PollFd::new(&pane, PollFlags::empty())], Some(&REFUSAL_SHOWN));
            return Err(error);
        }
    };
    let (notices, inbox) = mpsc::channel();
    // From here on the jail is always watched: a failure kills it, but never leaves it alone.
    let line = started.jail.as_ref().and_then(Jail::sweep_line);
    let begun = line
        .map_or(Ok(()), |line| answer_sweeps(line, &tell))
        .and_then(|()| tell_start(&started, &tell))
        .and_then(|()| supervise::release_streams())
        .and_then(|()| watch_terminal(pane, notices.clone()));
    if begun.is_err() {
        let _ = notices.send(Notice::Closed);
    }
    let outcome = Watch::new(&mut started, &spec, notices, inbox).run();
    let swept = started.sweep();
    drop(started);
    // tmux does not always learn it. A failed report is no reason to end in another way.
    let Outcome { code, signal, .. } = outcome;
    let _ = say(&end_file(&tell), &Told::Ended { warden: getpid().as_raw_pid(), code, signal, swept });
    Ok(outcome)
}

fn read(path: &Path) -> io::Result<Task> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_SPEC_BYTES).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

fn tell_start(started: &Started, tell: &Path) -> io::Result<()> {
    let jail = started.jail.as_ref().ok_or_else(|| io::Error::other("the shell has no bounds"))?;
    let (Some(shell), Some(directory)) = (jail.command(), jail.pane.clone()) else {
        return Err(io::Error::other("the shell has ended"));
    };
    say(tell, &Told::Runs { warden: getpid().as_raw_pid(), shell, directory })
}

fn refusal(report: Report, tell: &Path) -> io::Error {
    let (layer, reason) = match report {
        Report::Refused(refusal) => (refusal.layer, refusal.reason),
        Report::BadCwd(reason) | Report::NotStarted(reason) => {
            ("process".to_owned(), io::Error::from(reason).to_string())
        }
        Report::Started { .. } | Report::Lost | Report::Exited(_) => {
            ("process".to_owned(), "it was not started".to_owned())
        }
    };
    let error = io::Error::other(format!("{layer}: {reason}"));
    let _ = say(tell, &Told::Refused { warden: getpid().as_raw_pid(), layer, reason });
    error
}

/// The file in which a warden reports the end: another file, so that an ended warden does not overwrite the
/// report of its successor.
pub(crate) fn end_file(tell: &Path) -> PathBuf {
    tell.with_extension("ended")
}

/// The pipe for requests to sweep at once: each line is one request.
pub(crate) fn wish_pipe(tell: &Path) -> PathBuf {
    tell.with_extension("sweep")
}

/// The file for the notes of such a sweep.
pub(crate) fn swept_file(tell: &Path) -> PathBuf {
    tell.with_extension("swept")
}

/// Sweeps on each request.
fn answer_sweeps(line: SweepLine, tell: &Path) -> io::Result<()> {
    let (pipe, answer) = (wish_pipe(tell), swept_file(tell));
    let _ = fs::remove_file(&pipe);
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    // Open for writing too, so that it does not end with the first client.
    let wishes = File::options().read(true).write(true).open(&pipe)?;
    let waiting = thread::Builder::new().spawn(move || {
        for _ in BufReader::new(wishes).lines().map_while(Result::ok) {
            let told = Told::Swept { warden: getpid().as_raw_pid(), swept: line.look() };
            let _ = say(&answer, &told);
        }
    });
    waiting.map(drop)
}

/// Writes in one step, so that no reader sees a half.
fn say(path: &Path, told: &Told) -> io::Result<()> {
    replace_file(path, &serde_json::to_vec(told)?, FileMode::PRIVATE, FileSync::Later)
}

/// Sends a notice when the terminal has gone away.
fn watch_terminal(terminal: OwnedFd, notices: Sender<Notice>) -> io::Result<()> {
    let waiting = thread::Builder::new().spawn(move || {
        // Asks for nothing, so that only the end of the terminal wakes it.
        while poll(&mut [PollFd::new(&terminal, PollFlags::empty())], None) == Err(Errno::INTR) {}
        let _ = notices.send(Notice::Closed);
    });
    waiting.map(drop)
}

/// Ends as the shell did, so that tmux shows and reports it.
fn end_as(outcome: &Outcome) -> ExitCode {
    let signal = outcome.signal.and_then(Signal::from_named_raw);
    if let Some(signal) = signal {
        let _ = kill_process(getpid(), signal);
    }
    let code = outcome.code.or(outcome.signal.map(|signal| SIGNAL_BASE + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(NOT_STARTED))
}
