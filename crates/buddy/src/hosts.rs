//! The hosts of this run. Each is reached once, and sessions share it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::bail;
use async_trait::async_trait;
use buddy_calls::{Host as AgentHost, Hosts, WithheldVariable};
use buddy_exec::TmuxTarget;
use buddy_exec::jail::clear_litter;
use buddy_policy::{Withheld, guarded_names};
use buddy_protocol::{SessionTarget, TargetHost, TargetWish};

use crate::config::TrustStore;
use crate::environment::Environment;
use crate::host::Host;
use crate::local_machine::undo_store;
use crate::panes::{Made, PaneMaker};
use crate::policy::{Policies, PolicySettings, project_files};
use crate::start_error::UsageError;

/// The message for a user who wants no tool to touch this machine and names no other host.
const REMOTE_ONLY: &str = "no tool may touch this machine (`--remote-only`, or `tools.local = false`), so a session needs \
                           another host: name one with `--ssh DEST` or `--container NAME`, or allow this machine";

/// The message for a user who opens a directory of this machine to a session that is not on it.
pub(crate) const ADDED_ELSEWHERE: &str =
    "--add-dir opens a directory of this machine, and the session works on other hosts alone";

/// The hosts of this run.
pub(crate) struct RunHosts {
    pub(crate) environment: Environment,
    /// The directory here.
    pub(crate) cwd: PathBuf,
    /// The hosts that the command line names, the default first.
    pub(crate) wanted: Vec<TargetWish>,
    /// Whether the user trusts the directories that sessions work in on other hosts.
    pub(crate) is_trusted: bool,
    /// Whether no tool may touch this machine.
    pub(crate) is_remote_only: bool,
    pub(crate) policy: PolicySettings,
    /// The maker of terminals that the agent shares with the user; none where there are none.
    pub(crate) pane_maker: Option<PaneMaker>,
    /// Those that were made, by the name of their host.
    pub(crate) panes: tokio::sync::Mutex<Vec<(String, Arc<TmuxTarget>)>>,
    /// Held for a look only, never while a host is reached.
    pub(crate) reached: Mutex<HashMap<TargetWish, AgentHost>>,
}

/// Where a new session begins.
pub(crate) struct Beginning {
    pub(crate) cwd: String,
    /// The targets, the default first; none for this machine alone.
    pub(crate) targets: Vec<SessionTarget>,
}

impl RunHosts {
    /// Reaches everything that the command line names, so that a session begins only where all of it is there.
    pub(crate) async fn begin(&self) -> anyhow::Result<Beginning> {
        if self.is_remote_only && self.wanted.iter().all(|wish| wish.host == TargetHost::Local) {
            bail!(REMOTE_ONLY);
        }
        let mut targets: Vec<SessionTarget> = Vec::new();
        for wish in &self.wanted {
            if targets.iter().any(|target| target.host == wish.host) {
                let message = format!("`{}` is named twice on the command line", wish.host);
                return Err(UsageError::new(message).into());
            }
            if let Some(reason) = self.forbidden(&wish.host) {
                bail!(reason);
            }
            targets.push(self.reach(wish).await?.session_target(wish));
        }
        let cwd = match targets.first() {
            Some(target) => target.cwd.clone(),
            None => match self.cwd.to_str() {
                Some(cwd) => cwd.to_owned(),
                None => bail!("the directory's name is not text"),
            },
        };
        Ok(Beginning { cwd, targets })
    }

    async fn reach(&self, wish: &TargetWish) -> anyhow::Result<AgentHost> {
        if let Some(host) = self.reached().get(wish) {
            return Ok(host.clone());
        }
        let host = match &wish.host {
            TargetHost::Local => {
                let cwd = wish.directory.as_ref().map_or_else(|| self.cwd.clone(), PathBuf::from);
                Host::local(&self.environment, cwd)?
            }
            other => {
                let mut host = Host::attach(&self.environment, other, wish.directory.as_deref()).await?;
                if let Some(remote) = &mut host.remote {
                    remote.is_trusted = self.is_trusted;
                }
                host
            }
        };
        let (host, note) = match self.panes_over(&wish.host, &host).await? {
            Made::Panes(panes) => (Host { target: panes, ..host }, None),
            Made::Nothing { note } => (host, note),
        };
        let note = [note, self.protection(&host), self.missing_variables(&host)]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("\n");
        let host = AgentHost { note: (!note.is_empty()).then_some(note), ..self.for_agents(host).await? };
        let named = host.session_target(wish).wish();
        self.reached().extend([(wish.clone(), host.clone()), (named, host.clone())]);
        Ok(host)
    }

    fn reached(&self) -> std::sync::MutexGuard<'_, HashMap<TargetWish, AgentHost>> {
        self.reached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The protections of the user on another host, and their gaps.
    fn protection(&self, host: &Host) -> Option<String> {
        let remote = host.remote.as_ref()?;
        let name = &remote.name;
        Some(if self.is_production() {
            format!(
                "`{name}` has no jail: commands run with the full permissions of the account there, and only dangerous ones ask"
            )
        } else {
            format!(
                "`{name}` has no jail. Commands that only read run; every other command asks you first and then has the full permissions of \
                 the account there. Undo covers file tools, not commands."
            )
        })
    }

    /// The variables that commands lack although their names do not say that they hold secrets. That a key or a token is withheld
    /// surprises nobody; a failed command that names one is told.
    fn missing_variables(&self, host: &Host) -> Option<String> {
        let is_here = host.remote.is_none() && !self.environment.is_throwaway;
        let by_value =
            self.environment.withheld_secrets.iter().filter(|(_, why)| *why == Withheld::SecretValue);
        let names: Vec<&str> = by_value.map(|(name, _)| name.as_str()).filter(|_| is_here).collect();
        (!names.is_empty()).then(|| {
            format!(
                "commands do not get these variables, because their values contain a password or a key: {}. List names in `environment.pass` to pass them on.",
                names.join(", ")
            )
        })
    }

    /// The panes of a host, which all sessions share whatever directory they are in.
    async fn panes_over(&self, name: &TargetHost, host: &Host) -> anyhow::Result<Made> {
        let Some(maker) = &self.pane_maker else { return Ok(Made::Nothing { note: None }) };
        let mut made = self.panes.lock().await;
        let name = name.to_string();
        if let Some((_, panes)) = made.iter().find(|(known, _)| *known == name) {
            return Ok(Made::Panes(panes.clone()));
        }
        let result = maker.over(host).await?;
        if let Made::Panes(panes) = &result {
            made.push((name, panes.clone()));
        }
        Ok(result)
    }

    /// Lets go of all hosts at the end of a run. What holds one still finds no connection that stays behind.
    pub(crate) async fn rest(&self) {
        let targets: Vec<_> = self.reached().values().map(|host| host.target.clone()).collect();
        for target in targets {
            target.rest().await;
        }
    }

    /// Whether commands run with all rights of the account.
    pub(crate) fn is_production(&self) -> bool {
        self.policy.is_production()
    }

    /// The panes that were made.
    pub(crate) async fn panes(&self) -> Vec<Arc<TmuxTarget>> {
        self.panes.lock().await.iter().map(|(_, panes)| panes.clone()).collect()
    }

    /// Reaches this machine where the command line names no host, so that its panes are there when a conversation begins.
    pub(crate) async fn reach_here(&self) -> anyhow::Result<()> {
        if self.pane_maker.is_some() && self.wanted.is_empty() && !self.is_remote_only {
            let wish = TargetWish { host: TargetHost::Local, directory: None };
            self.reach(&wish).await?;
        }
        Ok(())
    }

    fn withheld(&self) -> Vec<WithheldVariable> {
        let told =
            |(name, why): &(String, Withheld)| WithheldVariable { name: name.clone(), reason: why.reason() };
        self.environment.withheld_secrets.iter().map(told).collect()
    }

    async fn for_agents(&self, host: Host) -> anyhow::Result<AgentHost> {
        let is_remote = host.remote.is_some();
        let project = if is_remote {
            Vec::new()
        } else {
            project_files(&TrustStore::new(&self.environment.data), &host.cwd)
        };
        if !is_remote && !project_is_home(&host) {
            let cwd = host.cwd.clone();
            // The remains of a crash go now, and not only with the next command.
            let _ = tokio::task::spawn_blocking(move || clear_litter(&[cwd], guarded_names())).await;
        }
        let is_exposed = self.policy.is_production()
            && !is_remote
            && !self.environment.is_throwaway
            && !host.target.can_hide().await;
        let policy = Policies::new(&self.environment, self.policy.clone(), &host)?;
        let policy = if is_exposed { policy.exposed() } else { policy };
        Ok(AgentHost {
            policy: Arc::new(policy),
            project,
            undo: (!self.environment.is_ephemeral()).then(|| undo_store(&self.environment)),
            undo_workspace: Some(if is_remote { self.cwd.clone() } else { host.cwd.clone() }),
            is_remote,
            added: if is_remote { Vec::new() } else { self.policy.added().to_vec() },
            cwd: host.cwd,
            target: host.target,
            withheld: if is_remote { Vec::new() } else { self.withheld() },
            env: host.env,
            programs: host.programs,
            home: host.home,
            note: None,
        })
    }
}

/// Whether a session works in the home itself, which is too much to look through and no project.
fn project_is_home(host: &Host) -> bool {
    host.home.as_ref().is_some_and(|home| home == &host.cwd)
}

#[async_trait]
impl Hosts for RunHosts {
    fn wanted(&self) -> Vec<TargetWish> {
        self.wanted.clone()
    }

    fn forbidden(&self, host: &TargetHost) -> Option<String> {
        (self.is_remote_only && *host == TargetHost::Local).then(|| REMOTE_ONLY.to_owned())
    }

    fn unfit(&self, hosts: &[TargetHost]) -> Option<String> {
        let is_lost = !self.policy.added().is_empty() && !hosts.contains(&TargetHost::Local);
        is_lost.then(|| ADDED_ELSEWHERE.to_owned())
    }

    async fn attach(&self, wish: &TargetWish) -> Result<AgentHost, String> {
        self.reach(wish).await.map_err(|error| format!("{error:#}"))
    }
}

/// For commands that run no agent.
pub(crate) struct NoHosts;

#[async_trait]
impl Hosts for NoHosts {
    fn wanted(&self) -> Vec<TargetWish> {
        Vec::new()
    }

    fn forbidden(&self, _: &TargetHost) -> Option<String> {
        None
    }

    async fn attach(&self, _: &TargetWish) -> Result<AgentHost, String> {
        Err("no agent runs here".to_owned())
    }
}
