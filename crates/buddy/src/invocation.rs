//! The wishes of the command line and the environment.

use std::path::PathBuf;

use buddy_protocol::{ApprovalPolicy, TargetHost, TargetWish};

use crate::cli::RunRules;
use crate::config::ConfigRequest;
use crate::environment::Environment;

/// The wishes of the command line and the environment.
pub(crate) struct Invocation<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) request: ConfigRequest,
    /// The directory here.
    pub(crate) cwd: PathBuf,
    /// The directory that the command line names, on the first of the hosts.
    pub(crate) named: Option<PathBuf>,
    /// The hosts to work on, the default first; none for this machine.
    pub(crate) hosts: Vec<TargetWish>,
    /// Whether the user trusts the directories to work in.
    pub(crate) is_trusted: bool,
    /// Whether no tool may touch this machine.
    pub(crate) is_remote_only: bool,
    pub(crate) model: Option<String>,
    pub(crate) policy: PolicyWish,
    pub(crate) tmux: TmuxWish,
}

/// The wishes of the command line about shared terminals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TmuxWish {
    /// Nothing.
    Unsaid,
    /// They are wanted, in this session if one is named.
    Wanted(Option<String>),
}

/// The wishes of the command line about what the agent may do.
#[derive(Debug, Clone, Default)]
pub(crate) struct PolicyWish {
    pub(crate) approve: Option<ApprovalPolicy>,
    /// Whether the agent only reads and plans; none where that was not said.
    pub(crate) plan: Option<bool>,
    /// Rules of this run.
    pub(crate) rules: RunRules,
    /// Further directories of this machine to work in, by their names without links.
    pub(crate) added: Vec<PathBuf>,
}

impl PolicyWish {
    /// Whether only reading and planning was asked for.
    pub(crate) fn is_plan_only(&self) -> bool {
        self.plan == Some(true)
    }
}

/// Whether a session with these hosts works on this machine.
pub(crate) fn is_here(hosts: &[TargetWish]) -> bool {
    hosts.is_empty() || hosts.iter().any(|wish| wish.host == TargetHost::Local)
}
