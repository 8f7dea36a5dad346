//! A command to run, and how it ended.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{Bounds, Captured, LimitsHit, SweepNote, TargetError, TerminalSize, WayOut};

/// A command to run.
#[derive(Debug, Clone)]
pub struct Exec {
    /// Program and arguments. The program is looked up in the `PATH` of `env`.
    pub argv: Vec<String>,
    /// The directory to run in.
    pub cwd: PathBuf,
    /// The complete environment of the command; nothing is inherited.
    pub env: Vec<(String, String)>,
    /// The input of the command. With a terminal this is typed ahead, so it is echoed.
    pub stdin: Stdin,
    /// A terminal of its own, for programs that want one. Both output streams then come as one, the first.
    pub pty: Option<TerminalSize>,
    /// The timeout, after which the command is stopped.
    pub timeout: Option<Duration>,
    /// The part of the output that is kept.
    pub output: OutputLimits,
    /// The bounds of the command.
    pub bounds: Bounds,
    /// The way to the network where its bounds give it none, in a jail with namespaces.
    pub way_out: Option<WayOut>,
    /// The file on this machine in which the supervisor marks the end of the command's last process, for undo.
    pub end_mark: Option<PathBuf>,
}

/// The stdin of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: the end of file comes at once.
    #[default]
    Null,
    /// These bytes, then the end of file.
    Bytes(Vec<u8>),
    /// A pipe that the caller writes to while the command runs: see [`crate::Running::take_stdin`].
    ///
    /// Such a command is talked to, so its live output is whole: if it is not read, the command waits.
    Piped,
}

impl Exec {
    /// The handling of its live output, if the caller asks for nothing else.
    pub(crate) fn chunks(&self) -> Chunks {
        if self.stdin == Stdin::Piped { Chunks::Whole } else { Chunks::Sampled }
    }

    /// Refuses a piped stdin where nobody could write to it.
    pub(crate) fn refuse_piped(&self, reason: &str) -> Result<(), TargetError> {
        if self.stdin != Stdin::Piped {
            return Ok(());
        }
        Err(TargetError::CommandNotStarted {
            program: self.argv.first().cloned().unwrap_or_default(),
            source: io::Error::new(io::ErrorKind::InvalidInput, reason.to_owned()),
        })
    }
}

/// The handling of live output that its reader is too slow for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Chunks {
    /// Dropped and counted: the output is only for watching.
    #[default]
    Sampled,
    /// The command waits for the reader: its output is all that matters about it. A stop and a timeout do not
    /// wait.
    Whole,
}

/// Limits on the output that is kept. Draining goes on at full speed regardless of them.
#[derive(Debug, Clone, Default)]
pub struct OutputLimits {
    /// Bytes kept from the beginning of each stream.
    pub keep_head: usize,
    /// Bytes kept from the end of each stream.
    pub keep_tail: usize,
    /// The file that gets both streams, in the order in which they arrive.
    pub log: Option<LogFile>,
}

/// A log file to create for one command.
#[derive(Debug, Clone)]
pub struct LogFile {
    /// A path at which nothing exists yet; its directory is made when missing.
    pub path: PathBuf,
    /// The size that the file never exceeds.
    pub cap_bytes: u64,
}

/// A piece of live output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The stream that it came from.
    pub stream: Stream,
    /// At most [`crate::CHUNK_BYTES`] bytes. A character may be split between two chunks.
    pub bytes: Bytes,
}

/// An output stream of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// The stdout of the command.
    Stdout,
    /// The stderr of the command.
    Stderr,
}

/// The exit status of a command, with its output.
#[derive(Debug, Default)]
pub struct Exit {
    /// The exit code, unless a signal ended the command.
    pub code: Option<i32>,
    /// The signal that ended the command.
    pub signal: Option<i32>,
    /// The cause of the end.
    pub ended: Ended,
    /// The time from the start of the command until its last process was gone.
    pub duration: Duration,
    /// Captured stdout.
    pub stdout: Captured,
    /// Captured stderr.
    pub stderr: Captured,
    /// Descendants that were still alive when the command itself had ended, and were killed.
    pub leftovers: u32,
    /// Descendants that could not be killed, for example because they run as another user.
    pub survivors: u32,
    /// Limits on the command as a whole that it ran into.
    pub hit: LimitsHit,
    /// Files that were moved to quarantine because programs would have taken orders from them, and places
    /// that were not searched.
    pub swept: Vec<SweepNote>,
    /// The log file, if requested.
    pub log: Option<LogInfo>,
    /// Live chunks that were not queued because the reader was slow or the cap was reached. Whole output is
    /// only dropped after a stop or a timeout, which wait for no reader.
    pub chunks_dropped: u64,
}

/// The cause of a command's end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The command ended by itself, or by a signal that did not come from here.
    #[default]
    Exited,
    /// It reached its timeout.
    TimedOut,
    /// The caller stopped it.
    Stopped,
}

/// The state of a log file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogInfo {
    /// The file.
    pub path: PathBuf,
    /// Bytes in the file.
    pub bytes_written: u64,
    /// Bytes of output that are not in the file.
    pub bytes_dropped: u64,
    /// Why writing ended early, such as a full disk. The command itself is not affected.
    pub error: Option<String>,
}
