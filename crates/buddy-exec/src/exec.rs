//! What to run, and how it ended.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{Bounds, Captured, LimitsHit, SweepNote, TerminalSize, WayOut};

/// A command to run.
#[derive(Debug, Clone)]
pub struct Exec {
    /// Program and arguments. The program is looked up in the `PATH` of `env`.
    pub argv: Vec<String>,
    /// The directory to run in.
    pub cwd: PathBuf,
    /// The complete environment of the command; nothing is inherited.
    pub env: Vec<(String, String)>,
    /// What the command reads. With a terminal this is typed ahead, so it is echoed.
    pub stdin: Stdin,
    /// A terminal of its own, for programs that want one. Both output streams then come as one, the first.
    pub pty: Option<TerminalSize>,
    /// How long the command may run before it is stopped.
    pub timeout: Option<Duration>,
    /// How much of the output is kept.
    pub output: OutputLimits,
    /// What the command may touch.
    pub bounds: Bounds,
    /// How it reaches the network where its bounds give it none, in a jail with namespaces.
    pub way_out: Option<WayOut>,
}

/// What a command reads on its standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: the end of file comes at once.
    #[default]
    Null,
    /// These bytes, then the end of file.
    Bytes(Vec<u8>),
}

/// How much of the output is kept. Draining goes on at full speed whatever the limits are.
#[derive(Debug, Clone, Default)]
pub struct OutputLimits {
    /// Bytes kept from the beginning of each stream.
    pub keep_head: usize,
    /// Bytes kept from the end of each stream.
    pub keep_tail: usize,
    /// Where both streams are written, in the order in which they arrive.
    pub log: Option<LogFile>,
}

/// A log file to be created for one command.
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
    /// Where it came from.
    pub stream: Stream,
    /// At most [`crate::CHUNK_BYTES`] bytes. A character may be split between two chunks.
    pub bytes: Bytes,
}

/// An output stream of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// How a command ended.
#[derive(Debug, Default)]
pub struct Exit {
    /// The exit code, unless a signal ended the command.
    pub code: Option<i32>,
    /// The signal that ended the command.
    pub signal: Option<i32>,
    /// Who ended it.
    pub ended: Ended,
    /// From the start of the command until nothing of it was left.
    pub duration: Duration,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// Descendants that were still alive when the command itself had ended, and were killed.
    pub leftovers: u32,
    /// Descendants that could not be killed, for example because they run as another user.
    pub survivors: u32,
    /// Limits on the command as a whole that it ran into.
    pub hit: LimitsHit,
    /// What was moved to quarantine because programs would have taken orders from it, and where nobody looked for that.
    pub swept: Vec<SweepNote>,
    /// The log file, when one was asked for.
    pub log: Option<LogInfo>,
    /// Live chunks that were not queued because the reader was slow or the cap was reached.
    pub chunks_dropped: u64,
}

/// Who ended a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The command ended by itself, or by a signal that did not come from here.
    #[default]
    Exited,
    /// It ran into its timeout.
    TimedOut,
    /// It was stopped.
    Stopped,
}

/// What became of a log file.
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
