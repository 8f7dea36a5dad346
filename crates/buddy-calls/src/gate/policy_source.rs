//! The source of rules, lasting grants and bounds, which looks at the host for what a call depends on.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use buddy_exec::Bounds;
use buddy_exec::undo::Remover;
use buddy_policy::{
    Carried, ChangeableProgram, Decision, Grant, Landing, NamedPaths, Needs, Policy, ProgramUse, Registry,
    Verdict,
};
use buddy_protocol::{GrantScope, PrincipalId};

/// The key of every look-up: whose policy it is, and where it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PolicyKey<'a> {
    /// The owner of the session.
    pub user: &'a PrincipalId,
    /// The name of the target.
    pub target: &'a str,
    /// The directory that the session works in there.
    pub workspace: &'a Path,
}

/// Where rules, lasting grants and bounds come from.
pub trait PolicySource: Send + Sync {
    /// The policy that holds now. Every judgement looks it up, so an implementation reads no file that did not change. The error says
    /// why there is none; then nothing runs.
    fn policy(&self, key: PolicyKey<'_>, is_plan_only: bool) -> Result<Arc<Policy>, String>;

    /// The bounds of a call. One that only reads gets to change nothing, and one that nobody was asked about reads no secrets.
    fn bounds(&self, policy: &Policy, call: &CallRights<'_>) -> Bounds;

    /// Which of these paths of the host lead elsewhere, with where they lead. Where that is not known, none do.
    fn links(&self, _: &Policy, _: &[PathBuf]) -> Vec<(PathBuf, PathBuf)> {
        Vec::new()
    }

    /// The same of paths that the words of commands could name, and of names in directories that patterns choose from.
    fn named_links(&self, _: &Policy, _: &NamedPaths) -> Vec<(PathBuf, PathBuf)> {
        Vec::new()
    }

    /// Of these files that a command moves or copies, those that are or hold links which could lead elsewhere in another place. Where the
    /// host is not looked at, none.
    fn carried(&self, _: &Policy, _: &[Carried]) -> Vec<Carried> {
        Vec::new()
    }

    /// The files that can hold secrets among those that the repositories of these directories track. Where that is not known, none.
    fn tracked(&self, _: &[PathBuf]) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Credentials in the settings of git for these directories, which no result shows. Where they are not known, none.
    fn git_credentials(&self, _: &[PathBuf]) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// Of these paths that a call would remove, those that undo would not bring back. Where that is not known, none.
    fn lost(&self, _: &Policy, _: &[PathBuf], _: Remover) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The findings at these paths outside the workspace; none if the host is not looked at.
    fn landings(&self, _: &Policy, _: &[PathBuf]) -> Vec<Landing> {
        Vec::new()
    }

    /// Of these paths that a tool would write, those that git could take for parts of a repository under any name. Where that is
    /// not known, none.
    fn git_parts(&self, _: &[PathBuf]) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Of these programs, those that commands of the session can change, with the file that each name means. Where that is not known,
    /// none.
    fn changeable_programs(&self, _: &Policy, _: &[ProgramUse]) -> Vec<ChangeableProgram> {
        Vec::new()
    }

    /// Whether the user said that the host is thrown away afterwards, so that nothing is to be kept from commands there.
    fn is_throwaway(&self) -> bool {
        false
    }

    /// The protected files in these directories, which tools remove. One that could not be looked through is returned itself. Where the
    /// host is not looked at, none.
    fn protected_within(&self, _: &Policy, _: &[PathBuf]) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The registry of a package manager whose settings name a host; the package managers in these commands come first.
    fn registry(&self, _cwd: &Path, _commands: &[String], _host: &str) -> Option<Registry> {
        None
    }

    /// The grants beyond single sessions that hold now. The same goes for them.
    fn grants(&self, key: PolicyKey<'_>) -> Vec<Grant>;

    /// Keeps a grant beyond this session. The error says why it could not be kept.
    fn keep(
        &self,
        key: PolicyKey<'_>,
        grant: &Grant,
        scope: GrantScope,
        time: Duration,
    ) -> Result<(), String>;
}

/// The rights of a call, from which its bounds are made.
#[derive(Debug, Clone, Copy)]
pub struct CallRights<'a> {
    /// Whether everything it does is known to only read.
    pub is_read_only: bool,
    /// Who let it go on.
    pub by: AllowedBy,
    /// Whether it goes on without a question.
    pub is_allowed: bool,
    /// Its needs that are closed to calls which nobody was asked about.
    pub needs: &'a Needs,
}

impl<'a> CallRights<'a> {
    /// Those of a call that was judged.
    pub fn of(decision: &'a Decision, by: AllowedBy) -> Self {
        let is_allowed = decision.verdict == Verdict::Allow;
        Self { is_read_only: decision.is_read_only, by, is_allowed, needs: &decision.needs }
    }
}

/// Who let a call go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedBy {
    /// Nobody was asked: it only reads, or a mode, a rule, a grant, a window or an approval of everything let it go on.
    Nobody,
    /// A user, when they were asked about exactly this call.
    Person,
}
