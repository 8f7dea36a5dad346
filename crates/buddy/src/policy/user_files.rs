//! The user's files that every judgement looks up: lasting grants, trust and rules, for each user, target and workspace.
//!
//! They are kept parsed. A look-up costs one stat of each file ([`KeptRead`](crate::config::KeptRead)) and reads only those that changed,
//! so another terminal's grant, and one that is taken back, hold for the next call.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::bail;
use buddy_calls::PolicyKey;
use buddy_policy::{Grant, RuleSet};
use buddy_protocol::{PrincipalId, UserId};

use super::grants::GrantBook;
use super::guards::Guards;
use super::rules::{FixedRules, ProjectRules, RuleFiles};
use crate::config::{TrustStore, user_file};
use crate::environment::Environment;
use crate::system::SystemClock;

/// The look-ups that are kept; more than the workspaces of one process's sessions.
const MAX_KEPT: usize = 64;

/// The files of the account that buddy runs as.
pub(super) struct PolicyFiles {
    account: PrincipalId,
    data: PathBuf,
    /// The directory of the user's rules.
    config: Option<PathBuf>,
    fixed: FixedRules,
    /// Held for a look only.
    kept: Mutex<Vec<Arc<UserFiles>>>,
}

/// The files as they hold for one user, target and workspace.
pub(super) struct UserFiles {
    user: PrincipalId,
    target: String,
    workspace: PathBuf,
    /// The folders that the user trusts.
    pub(super) trust: TrustStore,
    /// The lasting grants. None of them is another user's.
    grants: Option<GrantBook>,
    /// The rules where the project is trusted, and where it is not.
    trusted_rules: RuleFiles,
    untrusted_rules: RuleFiles,
}

impl PolicyFiles {
    /// Those of an environment, with rules that stay the same. Nothing is read yet.
    pub(super) fn new(environment: &Environment, fixed: FixedRules) -> Self {
        Self {
            account: PrincipalId::User(UserId::of_account(&environment.user)),
            data: environment.data.clone(),
            config: user_file(environment).as_deref().and_then(Path::parent).map(Path::to_owned),
            fixed,
            kept: Mutex::default(),
        }
    }

    /// The account.
    pub(super) fn account(&self) -> &PrincipalId {
        &self.account
    }

    /// The files for a look-up.
    pub(super) fn of(&self, key: PolicyKey<'_>) -> Arc<UserFiles> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = kept.iter().find(|files| files.key() == key) {
            return files.clone();
        }
        if kept.len() >= MAX_KEPT {
            kept.remove(0);
        }
        let files = Arc::new(self.open(key));
        kept.push(files.clone());
        files
    }

    fn open(&self, key: PolicyKey<'_>) -> UserFiles {
        let trust = TrustStore::new(&self.data);
        // Agents and imported files act for the account; another user does not.
        let is_other = matches!(key.user, PrincipalId::User(_)) && *key.user != self.account;
        let rules = |project| {
            RuleFiles::new(self.config.as_deref(), project, Guards::new(&self.data), self.fixed.clone())
        };
        let project = ProjectRules { directory: key.workspace.to_owned(), trust: trust.clone() };
        UserFiles {
            user: key.user.clone(),
            target: key.target.to_owned(),
            workspace: key.workspace.to_owned(),
            grants: (!is_other).then(|| GrantBook::new(&self.data, Arc::new(SystemClock))),
            trusted_rules: rules(Some(project)),
            untrusted_rules: rules(None),
            trust,
        }
    }
}

impl UserFiles {
    fn key(&self) -> PolicyKey<'_> {
        PolicyKey { user: &self.user, target: &self.target, workspace: &self.workspace }
    }

    /// The rules as the files have them now, with those of the project if it is trusted.
    pub(super) fn rules(&self, is_trusted: bool) -> anyhow::Result<Arc<RuleSet>> {
        if is_trusted { self.trusted_rules.rules() } else { self.untrusted_rules.rules() }
    }

    /// The grants that hold now in a directory, by its name without links.
    pub(super) fn grants_in(&self, directory: &Path) -> Vec<Grant> {
        self.grants.as_ref().map(|grants| grants.holding(directory)).unwrap_or_default()
    }

    /// Keeps a grant, for a directory by its name without links.
    pub(super) fn keep(&self, grant: Grant, project: Option<&Path>, time: Duration) -> anyhow::Result<()> {
        match &self.grants {
            Some(grants) => grants.add(grant, project, time),
            None => bail!("only the account that buddy runs as can save permissions"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MONTH: Duration = Duration::from_hours(720);

    #[test]
    fn a_permission_of_one_user_is_none_of_another() {
        let home = tempfile::tempdir().unwrap();
        let user = |name: &str| PrincipalId::User(UserId::of_account(name));
        let files = PolicyFiles {
            account: user("ann"),
            data: home.path().join("data"),
            config: None,
            fixed: FixedRules::default(),
            kept: Mutex::default(),
        };
        let (ann, bob) = (user("ann"), user("bob"));
        let key = |user| PolicyKey { user, target: "local", workspace: Path::new("/w") };
        let grant = Grant::command("cargo *", "local").unwrap();
        files.of(key(&ann)).keep(grant.clone(), None, MONTH).unwrap();
        assert_eq!(files.of(key(&ann)).grants_in(Path::new("/w")), std::slice::from_ref(&grant));
        assert_eq!(
            files.of(key(&PrincipalId::System)).grants_in(Path::new("/w")),
            std::slice::from_ref(&grant)
        );
        assert_eq!(files.of(key(&bob)).grants_in(Path::new("/w")), []);
        assert!(files.of(key(&bob)).keep(grant, None, MONTH).is_err());
    }
}
