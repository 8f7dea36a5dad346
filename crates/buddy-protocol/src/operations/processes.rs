//! Managed processes: their records, their output, and stopping one.

use serde::{Deserialize, Serialize};

use crate::Base64;

/// A managed process as it is at this moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManagedProcess {
    /// Its record.
    pub record: ProcessRecord,
    /// Its condition now.
    pub condition: ProcessCondition,
    /// The result of its health check; `None` if there is no check or it does not run.
    pub is_healthy: Option<bool>,
}

/// The properties of a managed process. Values of variables are not in it, as they may be secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessRecord {
    /// Its id, such as `proc-1f00a2c4`.
    pub id: String,
    /// Its name.
    pub name: Option<String>,
    /// The owner who started it.
    pub owner: ProcessOwner,
    /// The command as people read it.
    pub command: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// The directory it runs in.
    pub cwd: String,
    /// The names of the variables in its environment.
    pub env_names: Vec<String>,
    /// Whether it could read files that hold secrets.
    pub had_secrets: bool,
    /// The places that it can change although nobody was asked about it.
    pub unasked_writes: ProcessWrites,
    /// The time of its start, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Whether it is restarted.
    pub restart: ProcessRestart,
    /// The number of restarts.
    pub restarts: u32,
    /// The check that it does its work.
    pub health: Option<ProcessHealth>,
    /// Whether the line that `health` waits for was printed since the last start.
    pub has_printed_line: bool,
    /// The keeper.
    pub keeper: ProcessIdentity,
    /// The command itself, or the outermost process of its jail; `None` between two starts and after the end.
    pub process: Option<ProcessIdentity>,
    /// Its state, as the keeper last said.
    pub state: ProcessState,
}

/// The owner of a managed process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessOwner {
    /// The id of the principal whose session it was.
    pub person: String,
    /// The session.
    pub session: String,
}

/// A process of the operating system that cannot be taken for another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Its id.
    pub pid: i32,
    /// Its start time, in clock ticks since boot.
    pub start_time: u64,
    /// The boot that it runs in.
    pub boot_id: String,
}

/// The places that a process can change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessWrites {
    /// None.
    Nothing,
    /// Those beneath these directories.
    Beneath(Vec<String>),
    /// All that the account can change.
    Anywhere,
}

/// Whether a process that ended is restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessRestart {
    /// Never.
    Never,
    /// When it failed, a bounded number of times.
    OnFailure,
}

/// A check that a process does its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessHealth {
    /// It listens on this TCP port.
    Port(u16),
    /// It has printed a line that contains this text since its last start.
    Line(String),
}

/// The state of a process, as its keeper last said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessState {
    /// The command runs.
    Running,
    /// It failed, and will be restarted soon.
    Restarting,
    /// It has ended for good.
    Ended {
        /// The exit code, unless a signal ended it.
        code: Option<i32>,
        /// The signal that ended it.
        signal: Option<i32>,
        /// The cause of its end.
        by: ProcessEnd,
        /// The time of its end, in milliseconds since 1970.
        unix_ms: u64,
        /// Processes that could not be killed.
        survivors: u32,
    },
    /// Its keeper was lost, and its remaining processes were killed when that was found.
    Lost,
}

/// The cause of the end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessEnd {
    /// It ended by itself, or by a signal that did not come from buddy.
    Exited,
    /// It reached its timeout.
    TimedOut,
    /// It was stopped.
    Stopped,
}

/// The condition of a process now, which the record of a lost keeper cannot tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessCondition {
    /// The command runs.
    Running,
    /// It will be restarted soon.
    Restarting,
    /// It has ended.
    Ended,
    /// Its keeper is gone without a report.
    Lost,
}

/// Reads the output of a managed process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadProcessOutput {
    /// The process.
    pub id: String,
    /// How many of the last lines come first.
    pub tail: usize,
    /// Whether the output is followed until the process ends.
    pub follows: bool,
}

/// A part of the output, both streams as they came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputChunk {
    /// The bytes.
    pub bytes: Base64,
}

/// Stops a managed process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopProcess {
    /// The process.
    pub id: String,
    /// Whether it is killed at once.
    pub is_forced: bool,
}
