//! The keeper: a small detached process that owns one managed process, and the whole `main` of its hidden
//! mode.
//!
//! It owns a managed process as the supervisor owns a command, without a process at the other end. It ends
//! when the process has ended for good, and takes orders to end it as signals (see `line.rs`).

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::getpid;
use rustix::stdio::{dup2_stderr, dup2_stdout};

use super::directory::Directory;
use super::launch::Task;
use super::line::Line;
use super::output_log::OutputLogs;
use super::pump::Pump;
use super::{Health, Identity, Record, Restart, State};
use crate::control::{self, MAX_SPEC_BYTES, Outcome, Report, Spec};
use crate::given::{Given, null};
use crate::jail::{Jail, running_supervisors};
use crate::supervise::watch::{Notice, Watch};
use crate::supervise::{self, Started};
use crate::undo::digest_of;
use crate::{Stream, SweepNote};

/// The most restarts in a row.
const MAX_RESTARTS: u32 = 10;

/// A command that ran this long is taken to have worked, and the count of restarts begins anew.
const STEADY: Duration = Duration::from_mins(1);

/// The pause before the first restart. Each further one is twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The longest wait for the end of other commands, which could swap the files that it runs.
const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// Bytes of a pinned file that are compared. A longer one changes unseen only behind that.
const MAX_PINNED: u64 = 16 * 1024 * 1024;

/// The exit code that shells report for a command that cannot be started.
const NOT_STARTED: i32 = 127;

/// Keeps one managed process and returns when its last process is gone.
///
/// The exit code is 0 when the keeper did its work; the record has the exit status of the command.
pub fn keep() -> ExitCode {
    match keep_stdin() {
        Ok(()) => ExitCode::SUCCESS,
        // The error has no reader: the control stream is what failed.
        Err(_) => ExitCode::from(2),
    }
}

fn keep_stdin() -> io::Result<()> {
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Fails on anything but a socket: this mode is of no use at a terminal.
    control.peer_addr()?;
    let task = receive(&control)?;
    let line = Line::open()?;
    supervise::prepare()?;
    let mut keeper = match Keeper::new(task, line) {
        Ok(keeper) => keeper,
        Err(error) => return tell(&control, &Report::NotStarted(error.into())),
    };
    let run = match keeper.start() {
        Ok(run) => run,
        Err(report) => return tell(&control, &report),
    };
    // The caller may be gone; the process runs all the same, and its record exists.
    let _ = tell(&control, &Report::Started { pid: run.started.main.as_raw_pid() });
    drop(control);
    keeper.stay(run);
    Ok(())
}

fn receive(control: &UnixStream) -> io::Result<Task> {
    let mut line = Vec::new();
    BufReader::new(control.take(MAX_SPEC_BYTES)).read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}

fn tell(mut control: &UnixStream, report: &Report) -> io::Result<()> {
    control.write_all(&control::line(report)?)
}

/// One managed process with its record and its restarts.
struct Keeper {
    spec: Spec,
    line: Arc<Line>,
    book: Arc<Book>,
    log: Arc<Mutex<OutputLogs>>,
    began: Instant,
    /// Restarts since the command last ran for long.
    in_a_row: u32,
    pinned: PinnedFiles,
}

/// The command, once started.
struct Run {
    started: Started,
    pumps: [Pump; 2],
    began: Instant,
}

impl Keeper {
    fn new(task: Task, line: Arc<Line>) -> io::Result<Self> {
        let Task { spec, directory, mut record, pinned } = task;
        record.keeper = Identity::of(getpid().as_raw_pid()).ok_or(io::ErrorKind::NotFound)?;
        let log = OutputLogs::create(directory.path())?;
        // A process without a record could not be found, so it is not started.
        directory.write(&record)?;
        Ok(Self {
            spec,
            line,
            book: Arc::new(Book { directory, record: Mutex::new(record) }),
            log: Arc::new(Mutex::new(log)),
            began: Instant::now(),
            in_a_row: 0,
            pinned: PinnedFiles::take(pinned),
        })
    }

    fn start(&mut self) -> Result<Run, Report> {
        let not_started = |error: io::Error| Report::NotStarted(error.into());
        let (stdout, stdout_writer) = io::pipe().map_err(not_started)?;
        let (stderr, stderr_writer) = io::pipe().map_err(not_started)?;
        dup2_stdout(&stdout_writer)
            .and_then(|()| dup2_stderr(&stderr_writer))
            .map_err(|error| not_started(error.into()))?;
        drop((stdout_writer, stderr_writer));
        let stdin = null().map_err(not_started)?;
        let started = supervise::start(&self.spec, Given::stdin(stdin.into()));
        let released = supervise::release_streams();
        let mut started = started?;
        let line = match self.book.record(|record| record.health.clone()) {
            Some(Health::Line(line)) => Some(line),
            _ => None,
        };
        let main = started.main.as_raw_pid();
        self.book.change(|record| {
            record.process = Identity::of(main);
            record.state = State::Running;
            record.has_printed_line = false;
        });
        let pump = |pipe, stream| {
            let book = self.book.clone();
            let seen = move || book.change(|record| record.has_printed_line = true);
            Pump::start(pipe, stream, self.log.clone(), line.clone(), seen)
        };
        let pumps =
            released.and_then(|()| Ok([pump(stdout, Stream::Stdout)?, pump(stderr, Stream::Stderr)?]));
        match pumps {
            Ok(pumps) => Ok(Run { started, pumps, began: Instant::now() }),
            Err(error) => {
                // Without a reader of its output the command would hang, so it is killed.
                self.end_now(&mut started);
                Err(not_started(error))
            }
        }
    }

    fn end_now(&self, started: &mut Started) {
        let (notices, inbox) = self.line.listen();
        let _ = notices.send(Notice::Closed);
        Watch::new(started, &self.spec, notices, inbox).run();
    }

    /// Waits until the process has ended for good.
    fn stay(&mut self, run: Run) {
        let mut run = Ok(run);
        loop {
            let outcome = match run {
                Ok(run) => self.see_through(run),
                Err(_) => Outcome { code: Some(NOT_STARTED), ..Outcome::default() },
            };
            if !self.is_to_be_started_again(&outcome) {
                return self.end(&outcome);
            }
            run = self.start();
        }
    }

    fn see_through(&mut self, run: Run) -> Outcome {
        let Run { mut started, pumps, began } = run;
        if let Some(line) = started.jail.as_ref().and_then(Jail::sweep_line) {
            let log = self.log.clone();
            line.follow(move |notes| tell_swept(&log, notes));
        }
        let (notices, inbox) = self.line.listen();
        let outcome = Watch::new(&mut started, &self.spec, notices, inbox).run();
        for pump in pumps {
            pump.finish();
        }
        tell_swept(&self.log, &started.sweep());
        if began.elapsed() >= STEADY {
            self.in_a_row = 0;
        }
        outcome
    }

    /// Decides on a restart, and waits until it is time for it.
    fn is_to_be_started_again(&mut self, outcome: &Outcome) -> bool {
        let policy = self.book.record(|record| record.restart);
        let has_failed = outcome.code != Some(0);
        if policy == Restart::Never || !has_failed || self.line.is_ordered() || self.in_a_row >= MAX_RESTARTS
        {
            return false;
        }
        let pause = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(self.in_a_row)).min(LONGEST_PAUSE);
        self.in_a_row += 1;
        self.book.change(|record| {
            record.state = State::Restarting;
            record.process = None;
            record.restarts += 1;
        });
        let note = format!("[buddy] ended with {}; is started again\n", described(outcome));
        self.note(&note);
        self.line.pause(pause) && self.is_as_approved()
    }

    /// Whether the files that it runs are those that the user approved, and no other command could swap them now.
    fn is_as_approved(&self) -> bool {
        let until = Instant::now() + LONGEST_WAIT;
        let is_to_wait = || self.pinned.are_any() && self.is_beside_unasked();
        if is_to_wait() {
            self.note("[buddy] waits for the end of other commands, which could change its files\n");
        }
        while is_to_wait() {
            if Instant::now() > until {
                self.note("[buddy] not started again: other commands run that could change its files\n");
                return false;
            }
            if !self.line.pause(FIRST_PAUSE) {
                return false;
            }
        }
        let changed = self.pinned.changed();
        if let Some(file) = changed {
            let file = file.display();
            self.note(&format!("[buddy] not started again: `{file}` was changed since it was approved\n"));
        }
        changed.is_none()
    }

    /// Whether a command runs that nobody was asked about. Those of other managed processes say that in their records.
    fn is_beside_unasked(&self) -> bool {
        let Some(quarantine) = &self.spec.quarantine else { return false };
        let running = running_supervisors(Path::new(OsStr::from_bytes(quarantine)));
        let approved = self.book.directory.approved_keepers();
        running.iter().any(|supervisor| !approved.contains(supervisor))
    }

    fn note(&self, text: &str) {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).note(text);
    }

    fn end(&self, outcome: &Outcome) {
        let lived_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.book.change(|record| {
            record.process = None;
            record.state = State::Ended {
                code: outcome.code,
                signal: outcome.signal,
                by: outcome.ended,
                unix_ms: record.started_unix_ms.saturating_add(lived_ms),
                survivors: outcome.survivors,
            };
        });
    }
}

/// Files with the digest of each; none for a file that is not there or cannot be read.
struct PinnedFiles(Vec<(PathBuf, Option<String>)>);

impl PinnedFiles {
    /// The files as they are now.
    fn take(paths: Vec<Vec<u8>>) -> Self {
        let paths = paths.into_iter().map(|path| PathBuf::from(OsString::from_vec(path)));
        Self(paths.map(|path| (digest(&path), path)).map(|(digest, path)| (path, digest)).collect())
    }

    fn are_any(&self) -> bool {
        !self.0.is_empty()
    }

    /// A file that is another now.
    fn changed(&self) -> Option<&Path> {
        self.0.iter().find(|(path, known)| digest(path) != *known).map(|(path, _)| path.as_path())
    }
}

fn digest(path: &Path) -> Option<String> {
    let mut content = Vec::new();
    File::open(path).ok()?.take(MAX_PINNED).read_to_end(&mut content).ok()?;
    Some(digest_of(&content))
}

/// The notes go to the log of the process, where people and agents look.
fn tell_swept(log: &Mutex<OutputLogs>, notes: &[SweepNote]) {
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    for note in notes {
        log.note(&format!("[buddy] {note}\n"));
    }
}

fn described(outcome: &Outcome) -> String {
    match (outcome.code, outcome.signal) {
        (Some(code), _) => format!("code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown outcome".to_owned(),
    }
}

/// The record, in memory and on disk.
struct Book {
    directory: Directory,
    record: Mutex<Record>,
}

impl Book {
    fn record<T>(&self, look: impl FnOnce(&Record) -> T) -> T {
        look(&self.record.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A record that cannot be written now is written whole with the next change; the process is not affected.
    fn change(&self, change: impl FnOnce(&mut Record)) {
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut record);
        let _ = self.directory.write(&record);
    }
}
