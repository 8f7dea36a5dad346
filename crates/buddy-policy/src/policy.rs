//! The policy of a session: its mode, its rules, and the state that a decision is made in.

use std::path::{Path, PathBuf};

use buddy_protocol::ApprovalPolicy;
use serde::{Deserialize, Serialize};

use crate::carried_links::Carried;
use crate::places::is_untrusted;
use crate::trail::BLANK;
use crate::{
    ChangeableProgram, CommandPattern, GitDestination, Grant, Landing, Limits, Places, RuleSet, Trail,
};

/// The freedom of a session to act by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Every change asks; files are written in the workspace and in scratch places only.
    #[default]
    Development,
    /// Only dangerous calls and those that are not understood ask.
    Production,
    /// Nothing changes: reads only.
    Plan,
}

/// The way to run commands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CommandMode {
    /// By a shell.
    #[default]
    Shell,
    /// Without a shell, one simple command at a time, and only those that match.
    Allowlist(Vec<CommandPattern>),
}

/// The limits of a session.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Its freedom to act by itself.
    pub mode: Mode,
    /// Whether nothing on the target can keep buddy's own files and other sessions of the account from a
    /// command of production.
    pub is_exposed: bool,
    /// The places that are known.
    pub places: Places,
    /// The rules of all tiers.
    pub rules: RuleSet,
    /// The way to run commands.
    pub commands: CommandMode,
    /// Whether commands that run without a prompt can be let out host by host.
    pub has_broker: bool,
    /// Whether every fetch asks.
    pub fetch_confirm: bool,
    /// Whether nothing may reach the network.
    pub is_offline: bool,
    /// Whether nothing that the session changes is kept for undo.
    pub is_without_undo: bool,
    /// Hosts that the configuration names, in lower case.
    pub known_hosts: Vec<String>,
    /// The addresses of the pages where the tools search.
    pub searches: Vec<String>,
    /// Whether the machine is thrown away afterwards, so that nothing on it is kept from the agent.
    pub is_throwaway: bool,
    /// Whether a variable leads clients of containers to an engine on another host.
    pub has_remote_engine: bool,
    /// The only files that tools touch and the only hosts that are reached.
    pub limits: Limits,
}

impl Policy {
    /// Development in this workspace, without rules.
    pub fn plain(workspace: PathBuf) -> Self {
        let places = Places { workspace: vec![workspace], target: "local".to_owned(), ..Places::default() };
        Self { places, ..Self::default() }
    }

    /// Whether the jail keeps a command that is known to only read from changing anything.
    pub(crate) fn holds_to_reading(&self) -> bool {
        self.mode != Mode::Production && !self.places.remote
    }

    /// Whether nothing is changed in the session's directory, as the user does not trust it.
    pub fn only_reads(&self, cwd: &Path) -> bool {
        self.mode == Mode::Development && is_untrusted(cwd, &self.places)
    }

    /// Whether commands that change something run in a jail, if they run at all. In a folder that the user does not trust they do too.
    pub fn is_jailed(&self) -> bool {
        self.mode == Mode::Development && !self.places.remote
    }

    /// Whether the jail holds commands to a workspace that the user trusts.
    pub fn is_confined(&self) -> bool {
        self.is_jailed() && self.places.untrusted.is_none()
    }
}

/// Whether a user can be asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Attendance {
    /// A user can answer.
    #[default]
    Somebody,
    /// No user can: a question is a denial.
    Nobody,
}

/// Changes of a work tree that git throws away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Discarded {
    /// Those of the file at this path, or of files beneath it.
    Files(PathBuf),
    /// Any in the work tree that this directory is in.
    WorkTree(PathBuf),
}

/// The state at the moment of a decision. The caller has the clock.
#[derive(Debug, Clone, Copy)]
pub struct Now<'a> {
    /// The handling of calls that the user would have to approve.
    pub approvals: ApprovalPolicy,
    /// Whether a user can be asked.
    pub attendance: Attendance,
    /// The grants that apply now.
    pub grants: &'a [Grant],
    /// The conversation's evidence about where data may go.
    pub trail: &'a Trail,
    /// Paths that lead elsewhere than they say, with their targets: links that were found on the host.
    pub links: &'a [(PathBuf, PathBuf)],
    /// The same of every path that the words of commands could name.
    pub named_links: &'a [(PathBuf, PathBuf)],
    /// The files that it moves or copies before it changes something where they come to, and that are or hold links which could
    /// lead elsewhere there.
    pub carried: &'a [Carried],
    /// Tracked files that can hold secrets, of the repositories that the command reads from.
    pub tracked: &'a [PathBuf],
    /// The paths that it removes and that undo would not bring back.
    pub lost: &'a [PathBuf],
    /// The paths at which it makes git throw away changes that undo would not bring back.
    pub lost_to_git: &'a [PathBuf],
    /// The paths outside the workspace that it changes, as the host has them.
    pub landings: &'a [Landing],
    /// The paths that tools write and that git could take for parts of a repository under another name than `.git`.
    pub git_parts: &'a [PathBuf],
    /// The programs that it runs by name and that commands can change.
    pub programs: &'a [ChangeableProgram],
    /// The ends of its trips of git. A trip that is not among them was not looked up.
    pub destinations: &'a [GitDestination],
    /// The protected files in directories that tools remove. A directory itself is one of them if it could not be looked through.
    pub removed_within: &'a [PathBuf],
}

impl Now<'_> {
    /// Whether undo would not bring back a removal at a path.
    pub(crate) fn loses(&self, path: &Path) -> bool {
        self.lost.iter().any(|lost| lost == path)
    }

    /// Whether undo would not bring back changes that git throws away at a path.
    pub(crate) fn loses_discarded(&self, path: &Path) -> bool {
        self.lost_to_git.iter().any(|lost| lost == path)
    }

    /// Whether git could take a path that a tool writes for a part of a repository.
    pub(crate) fn is_git_part(&self, path: &Path) -> bool {
        self.git_parts.iter().any(|part| part == path)
    }

    /// The target of a path that leads elsewhere than it says.
    pub fn real(&self, path: &Path) -> Option<&PathBuf> {
        self.links.iter().find(|(from, _)| from == path).map(|(_, to)| to)
    }

    /// This policy on approvals, without grants, in an empty conversation.
    pub fn with(approvals: ApprovalPolicy) -> Self {
        Self {
            approvals,
            attendance: Attendance::Somebody,
            grants: &[],
            trail: &BLANK,
            links: &[],
            named_links: &[],
            carried: &[],
            tracked: &[],
            lost: &[],
            lost_to_git: &[],
            landings: &[],
            git_parts: &[],
            programs: &[],
            destinations: &[],
            removed_within: &[],
        }
    }
}
