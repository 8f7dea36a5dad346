//! What a session allows: its mode, its places, and its rules.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::trail::BLANK;
use crate::{CommandPattern, Grant, RuleSet, Trail};

/// How much a session may do by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// What changes anything asks; files are written in the workspace and in scratch places only.
    #[default]
    Development,
    /// Only what is dangerous or not understood asks.
    Production,
    /// Nothing changes: reads only.
    Plan,
}

/// The places that judgements are about. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// What the person opened to be worked on.
    pub workspace: Vec<PathBuf>,
    /// The directory of the session where the person does not trust it: it is read, and the jail lets nothing change it.
    pub untrusted: Option<PathBuf>,
    /// The person's home directory.
    pub home: Option<PathBuf>,
    /// What belongs to buddy itself: configuration, locks, database, guards. Changing it always asks.
    pub own: Vec<PathBuf>,
    /// Directories in there that agents may read: logs, and what they share with people.
    pub own_readable: Vec<PathBuf>,
    /// Places for files that nobody keeps.
    pub scratch: Vec<PathBuf>,
    /// Files and directories that git takes orders from because settings name them, such as hooks that are kept elsewhere.
    pub git_orders: Vec<PathBuf>,
    /// The name of the target that all of this is about.
    pub target: String,
    /// Whether the target is another machine.
    pub remote: bool,
}

/// How commands are run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CommandMode {
    /// By a shell.
    #[default]
    Shell,
    /// Without a shell, one simple command at a time, and only those that match.
    Allowlist(Vec<CommandPattern>),
}

/// What a session allows.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// How much it may do by itself.
    pub mode: Mode,
    /// Whether nothing on the target can keep buddy's own files and other sessions of the account from a command of production.
    pub is_exposed: bool,
    /// The places that are known.
    pub places: Places,
    /// What people ruled.
    pub rules: RuleSet,
    /// How commands are run.
    pub commands: CommandMode,
    /// Whether commands that nobody is asked about can be let out host by host.
    pub has_broker: bool,
    /// Whether every fetch asks.
    pub fetch_confirm: bool,
    /// Whether nothing may reach the network.
    pub is_offline: bool,
    /// Hosts that the configuration names, in lower case.
    pub known_hosts: Vec<String>,
}

impl Policy {
    /// Development in this workspace, without rules.
    pub fn plain(workspace: PathBuf) -> Self {
        let places = Places { workspace: vec![workspace], target: "local".to_owned(), ..Places::default() };
        Self { places, ..Self::default() }
    }

    /// Whether the jail keeps a command from changing anything that is known to only read.
    pub(crate) fn holds_to_reading(&self) -> bool {
        self.mode != Mode::Production && !self.places.remote
    }

    /// Whether the jail holds commands to a workspace that the person trusts.
    pub(crate) fn is_confined(&self) -> bool {
        self.mode == Mode::Development && !self.places.remote && self.places.untrusted.is_none()
    }
}

/// A session's policy on calls that a person would have to approve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approvals {
    /// Ask a person.
    #[default]
    Ask,
    /// Take them as approved.
    All,
    /// Take them as denied: nobody is there to ask.
    None,
    /// Take as approved what is neither flagged nor unclear: a person opened a window of time, and it is open now.
    Window,
    /// Take as approved changes of files in the workspace by the tools for files; ask for everything else.
    Edits,
    /// Take as approved what the jail holds, what stays in the workspace and what undo takes back; ask for the rest. Where
    /// nothing holds a command, and in a directory that the person does not trust, this is the same as `Ask`.
    Auto,
}

/// Whether a person can be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Attendance {
    /// Somebody can answer.
    #[default]
    Somebody,
    /// Nobody can: a question is a denial.
    Nobody,
}

/// What holds at the moment of a decision. The caller has the clock.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// What becomes of calls that a person would have to approve.
    pub approvals: Approvals,
    /// Whether a person can be asked.
    pub attendance: Attendance,
    /// The grants that hold now.
    pub grants: &'a [Grant],
    /// What the conversation shows about where data may go.
    pub trail: &'a Trail,
    /// Paths that lead elsewhere than they say, with where they lead: links that were found on the host.
    pub links: &'a [(PathBuf, PathBuf)],
    /// Files that can hold secrets and that the repositories track which the command reads from.
    pub tracked: &'a [PathBuf],
    /// Of what it removes, the paths that undo would not bring back.
    pub lost: &'a [PathBuf],
}

impl Now<'_> {
    /// Whether undo would not bring back what is removed at a path.
    pub(crate) fn loses(&self, path: &Path) -> bool {
        self.lost.iter().any(|lost| lost == path)
    }

    /// Where a path leads that leads elsewhere than it says.
    pub fn real(&self, path: &Path) -> Option<&PathBuf> {
        self.links.iter().find(|(from, _)| from == path).map(|(_, to)| to)
    }

    /// This policy on approvals, without grants, in a conversation in which nothing was said.
    pub fn with(approvals: Approvals) -> Self {
        Self {
            approvals,
            attendance: Attendance::Somebody,
            grants: &[],
            trail: &BLANK,
            links: &[],
            tracked: &[],
            lost: &[],
        }
    }
}
