//! A program under test: started with its own environment, watched, and never awaited without a timeout.

use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use crate::processes::{peak_memory, signal};

/// The default timeout of a program. Far more than any needs, far less than for ever.
const PATIENCE: Duration = Duration::from_secs(45);
/// The interval at which the memory of a running program is measured.
const MEMORY_PAUSE: Duration = Duration::from_millis(20);

/// The variable that makes buddy ask before every change.
pub const ASKING: (&str, &str) = ("BUDDY_APPROVE", "ask");

/// A program to be started.
#[derive(Debug)]
pub struct Program {
    command: Command,
    input: Vec<u8>,
    patience: Duration,
}

/// A program that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its whole stdout.
    pub stdout: Vec<u8>,
    /// Its whole stderr.
    pub stderr: String,
    /// Its run time.
    pub took: Duration,
    /// Its peak memory as measured, in bytes.
    pub peak_memory: u64,
}

impl Finished {
    /// The stdout as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.stdout.clone()).expect("an output that is text")
    }

    /// Fails unless the program ended with this exit code.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!((self.code, self.signal), (Some(code), None), "{self}");
        self
    }

    /// Fails unless stderr contains this text.
    #[track_caller]
    pub fn expect_stderr(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "`{part}` is missing: {self}");
        self
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { code, signal, stdout, stderr, took, .. } = self;
        let stdout = String::from_utf8_lossy(stdout);
        write!(
            formatter,
            "code {code:?}, signal {signal:?} after {took:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
        )
    }
}

impl Program {
    /// A program without arguments, input or environment, except for `PATH`.
    #[expect(clippy::disallowed_methods, reason = "tests start the program that they test")]
    pub fn new(path: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(path);
        let search = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", search).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self { command, input: Vec::new(), patience: PATIENCE }
    }

    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// Adds arguments.
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Adds a variable.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Makes buddy ask before every change, like `approvals.policy = "ask"`: for tests about approvals, also
    /// when nobody can answer.
    pub fn asking(self) -> Self {
        let (name, value) = ASKING;
        self.env(name, value)
    }

    /// Removes a variable.
    pub fn env_remove(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// The directory it starts in.
    pub fn cwd(mut self, directory: impl AsRef<Path>) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// The text on its stdin, which then ends.
    pub fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Its timeout.
    pub fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Starts it and waits for its end.
    pub async fn run(mut self) -> Finished {
        let input = std::mem::take(&mut self.input);
        let mut started = self.converse();
        started.write(&input).await;
        started.finish().await
    }

    /// Starts it with an empty stdin.
    pub fn start(mut self) -> Started {
        self.command.stdin(Stdio::null());
        self.converse()
    }

    /// Starts it with a stdin that stays open for writing.
    pub fn converse(mut self) -> Started {
        let mut child = self.command.spawn().expect("a program that can be started");
        let mut readers = JoinSet::new();
        let stdout = Output::read(child.stdout.take().expect("a piped output"), &mut readers);
        let stderr = Output::read(child.stderr.take().expect("a piped output"), &mut readers);
        let stdin = child.stdin.take();
        let pid = child.id().expect("a program that was just started");
        let began = Instant::now();
        Started { child, pid, stdin, stdout, stderr, readers, began, patience: self.patience }
    }
}

/// A running program. Dropping it kills it.
#[derive(Debug)]
pub struct Started {
    child: Child,
    /// Its process id.
    pub pid: u32,
    stdin: Option<ChildStdin>,
    /// Its stdout so far.
    pub stdout: Output,
    /// Its stderr so far.
    pub stderr: Output,
    readers: JoinSet<()>,
    began: Instant,
    patience: Duration,
}

impl Started {
    /// Writes to its stdin. A program that no longer reads is left alone.
    pub async fn write(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            let _closed = stdin.write_all(bytes).await;
            let _closed = stdin.flush().await;
        }
    }

    /// Closes its stdin.
    pub fn close_input(&mut self) {
        self.stdin = None;
    }

    /// Closes the reading ends of its stdout and stderr, like a reader that disconnects.
    pub async fn leave_outputs(&mut self) {
        self.readers.shutdown().await;
    }

    /// Sends it a signal.
    pub fn signal(&self, kind: Signal) {
        signal(self.pid.cast_signed(), kind);
    }

    /// Closes its stdin and waits for its end, within the timeout.
    pub async fn finish(mut self) -> Finished {
        // Measured before it can end.
        let peak = peak_memory(self.pid).unwrap_or(0);
        self.close_input();
        self.finish_from(peak).await
    }

    /// Waits for its end within the timeout, although its stdin stays open.
    pub async fn finish_with_open_input(self) -> Finished {
        let peak = peak_memory(self.pid).unwrap_or(0);
        self.finish_from(peak).await
    }

    async fn finish_from(mut self, mut peak: u64) -> Finished {
        let ended = timeout(self.patience, async {
            loop {
                tokio::select! {
                    status = self.child.wait() => return status.expect("a child can be waited for"),
                    () = tokio::time::sleep(MEMORY_PAUSE) => {
                        peak = peak.max(peak_memory(self.pid).unwrap_or(0));
                    }
                }
            }
        });
        let status: Option<ExitStatus> = ended.await.ok();
        let took = self.began.elapsed();
        if status.is_none() {
            self.signal(Signal::KILL);
        }
        // Another process that holds the outputs must not block the test; that is a finding of its own.
        let is_drained =
            timeout(Duration::from_secs(5), async { while self.readers.join_next().await.is_some() {} });
        let is_drained = is_drained.await.is_ok();
        let finished = Finished {
            code: status.and_then(|status| status.code()),
            signal: status.and_then(|status| status.signal()),
            stdout: self.stdout.bytes(),
            stderr: self.stderr.text(),
            took,
            peak_memory: peak,
        };
        assert!(status.is_some(), "the program did not end within {:?}: {finished}", self.patience);
        assert!(is_drained, "the outputs stayed open after the end of the program: {finished}");
        finished
    }
}

/// The output of a running program so far.
#[derive(Debug)]
pub struct Output {
    printed: watch::Receiver<Vec<u8>>,
}

impl Output {
    fn read(mut source: impl AsyncRead + Unpin + Send + 'static, readers: &mut JoinSet<()>) -> Self {
        let (sender, printed) = watch::channel(Vec::new());
        readers.spawn(async move {
            let mut buffer = vec![0; 64 * 1024];
            while let Ok(count @ 1..) = source.read(&mut buffer).await {
                sender.send_modify(|all| all.extend_from_slice(buffer.get(..count).unwrap_or_default()));
            }
        });
        Self { printed }
    }

    /// Everything so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.printed.borrow().clone()
    }

    /// Everything so far, as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.printed.borrow()).into_owned()
    }

    /// Waits until this text was printed this many times.
    pub async fn wait_for(&mut self, text: &str, times: usize) {
        let needle = text.as_bytes();
        let count = |bytes: &Vec<u8>| bytes.windows(needle.len()).filter(|window| *window == needle).count();
        let seen = timeout(PATIENCE, self.printed.wait_for(|bytes| count(bytes) >= times));
        let is_seen = matches!(seen.await, Ok(Ok(_)));
        assert!(is_seen, "`{text}` was not printed {times} times: {}", self.text());
    }
}
