//! The protocol between the supervisor and the process inside the jail: JSON lines over a socket pair.
//!
//! Down goes one byte with descriptors (the command's standard input and standard error, where calls are handed over that somebody is asked about, and its way
//! out), then one [`Plan`]. Up come
//! [`Word`]s. Nothing of it stands on a command line or in an environment, where other processes could read it.

use rustix::process::WaitStatus;
use serde::{Deserialize, Serialize};

use super::Refusal;
use super::mounts::Cover;
use super::raw_path::RawPath;
use crate::control::Reason;

/// The task of the process inside.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) argv: Vec<String>,
    pub(super) cwd: RawPath,
    pub(super) env: Vec<(String, String)>,
    pub(super) place: Place,
    /// The mounts that the supervisor sees, by the name of their namespace.
    pub(super) mounts_outside: RawPath,
    /// Mounts that the process inside makes by itself, outer ones first; `None` if bubblewrap has made them.
    pub(super) covers: Option<Vec<Covered>>,
    /// Layers over caches, which the process inside mounts first.
    pub(super) overlays: Vec<PlannedOverlay>,
    /// Covers in these caches, outer ones first.
    pub(super) over: Vec<Covered>,
    pub(super) rules: Rules,
    pub(super) network: bool,
    /// Whether stdin is a terminal, which the command gets as its own.
    pub(super) has_terminal: bool,
    /// Whether it is the terminal that the session of this process has already.
    pub(super) is_pane: bool,
}

/// The surroundings of the process inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    /// In namespaces that bubblewrap made, as their first process.
    Namespaces,
    /// Beside everything else on the machine: only Landlock and seccomp confine it.
    Bare,
    /// On the machine as it is, but for mounts over hidden and sealed files.
    Light,
}

/// One mount that the process inside makes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Covered {
    pub(super) at: RawPath,
    pub(super) cover: Cover,
}

/// A layer over a cache.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PlannedOverlay {
    pub(super) at: RawPath,
    /// The directory that changes go to.
    pub(super) upper: RawPath,
    /// The work directory that the kernel needs beside that.
    pub(super) work: RawPath,
    /// Directories in the cache that programs are looked up in by name: the layer does not cover them.
    pub(super) program_places: Vec<RawPath>,
}

/// The paths that Landlock lets through; all others are refused.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Rules {
    /// Read, listed and executed.
    pub(super) read: Vec<RawPath>,
    /// Listed only.
    pub(super) list: Vec<RawPath>,
    /// Read and changed in every way.
    pub(super) write: Vec<RawPath>,
    /// Devices, or directories of them, that are used as they are.
    pub(super) devices: Vec<RawPath>,
}

/// A message of the process inside.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    /// A layer could not be applied.
    Refused(Refusal),
    /// All layers are applied; the command comes next. The end of the stream after this means that it runs.
    Confined,
    BadCwd(Reason),
    NotStarted(Reason),
    /// The command runs, below the process that says this, with this process id in its namespace.
    Started(i32),
    /// The command has ended; its background processes may live on.
    Exited(Status),
}

/// The exit status of a command, as its parent saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Status {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

impl From<WaitStatus> for Status {
    fn from(status: WaitStatus) -> Self {
        Self { code: status.exit_status(), signal: status.terminating_signal() }
    }
}
