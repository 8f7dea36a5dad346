//! The protocol between a target and the supervisor of one command: JSON lines over a socket pair.
//!
//! Down go one byte with the pipe to the command's stdin and its way out, as far as it has them, one [`Spec`],
//! the bytes of its stdin if those are known ahead, and then [`Order`]s. Up come one of [`Report::Started`], [`Report::BadCwd`],
//! [`Report::NotStarted`], [`Report::Lost`] and [`Report::Refused`], and after a start one
//! [`Report::Exited`]. The end of the stream is a message too: down it means "kill everything", up it means
//! that the supervisor was lost. Both ends are the same build of the same program, so the format has no
//! versions.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::jail::{Refusal, SweepNote};
use crate::{Bounds, Ended, Limits, LimitsHit, TargetError};

/// The largest [`Spec`] line. Linux takes 2 MiB of arguments and environment by default; JSON may escape each byte.
pub(crate) const MAX_SPEC_BYTES: u64 = 16 * 1024 * 1024;

/// The command to run, with its streams and limits.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) argv: Vec<String>,
    /// Bytes, as a path need not be text.
    pub(crate) cwd: Vec<u8>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) stdin: StdinSource,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) grace_ms: u64,
    pub(crate) bounds: Bounds,
    pub(crate) leftovers: Leftovers,
    pub(crate) limits: Limits,
    /// Whether the output streams are a terminal, which the command gets as its own.
    pub(crate) has_terminal: bool,
    /// For the shell of a pane: a hidden directory that it may read. Its terminal is the one that the session
    /// of this process has already.
    pub(crate) pane: Option<Vec<u8>>,
    /// The directory for files that a command leaves where programs take orders from them. Without it they
    /// are removed.
    pub(crate) quarantine: Option<Vec<u8>>,
    /// The file that marks the end of the last process.
    pub(crate) end_mark: Option<Vec<u8>>,
}

/// The source of a command's stdin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StdinSource {
    /// The null device.
    #[default]
    Null,
    /// This number of bytes, which follow the line.
    Bytes(u64),
    /// The first of the descriptors that came before the line.
    Piped,
}

/// The fate of background processes that a command leaves at its own end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Leftovers {
    /// They are killed.
    #[default]
    End,
    /// They keep running, as the command was run to start them.
    Stay,
}

/// An instruction about the running command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// Ask the whole tree to end, and kill the rest after the grace.
    Term,
    /// Kill the whole tree now.
    Kill,
}

/// A message from the supervisor.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Report {
    Started {
        pid: i32,
    },
    BadCwd(Reason),
    NotStarted(Reason),
    /// The command would not have been kept to its bounds.
    Refused(Refusal),
    /// The command may have run: the process that speaks for it was gone before it could say so.
    Lost,
    Exited(Outcome),
}

impl Report {
    /// The reason that a command was not started; `None` for reports of a start and for others.
    pub(crate) fn into_error(self, argv: &[String], cwd: &Path) -> Option<TargetError> {
        match self {
            Self::NotStarted(reason) => Some(TargetError::CommandNotStarted {
                program: argv.first().cloned().unwrap_or_default(),
                source: reason.into(),
            }),
            Self::BadCwd(reason) => {
                Some(TargetError::CwdUnusable { cwd: cwd.to_owned(), source: reason.into() })
            }
            Self::Refused(refusal) => {
                Some(TargetError::NotJailed { layer: refusal.layer, reason: refusal.reason })
            }
            Self::Lost => Some(TargetError::SupervisorLost),
            Self::Started { .. } | Self::Exited(_) => None,
        }
    }
}

/// The command's exit status, and what it left behind.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) ended: Ended,
    /// From the start of the command until its last process was gone, by the clock that also keeps the
    /// timeout.
    pub(crate) took_us: u64,
    pub(crate) leftovers: u32,
    pub(crate) survivors: u32,
    pub(crate) hit: LimitsHit,
    pub(crate) swept: Vec<SweepNote>,
    /// Whether the exit status is unknown, because the command ended the process that would have
    /// reported it.
    pub(crate) is_lost: bool,
}

/// An [`io::Error`] that can be sent.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reason {
    errno: Option<i32>,
    message: String,
}

impl From<io::Error> for Reason {
    fn from(error: io::Error) -> Self {
        Self { errno: error.raw_os_error(), message: error.to_string() }
    }
}

impl From<Reason> for io::Error {
    fn from(reason: Reason) -> Self {
        reason.errno.map_or_else(|| Self::other(reason.message), Self::from_raw_os_error)
    }
}

/// One message as a line.
pub(crate) fn line(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}
