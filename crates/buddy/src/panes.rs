//! The terminals that agents share with the user: one set for each host, made where there can be some.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use buddy_exec::{
    PaneError, RECONNECT_WITHIN, TargetError, TmuxSettings, TmuxTarget, pane_directory, session_name,
};

use crate::config::{Config, TmuxSection, WorkEnvironment};
use crate::environment::Environment;
use crate::host::Host;
use crate::invocation::{Invocation, TmuxWish};
use crate::local_machine::{quarantine, warden};
use crate::origin::origin;

/// The longest name of a directory that is made from the name of a target; file systems take 255.
const MAX_NAME_CHARS: usize = 200;

/// Where the socket of buddy's own tmux server is.
pub(crate) fn directory(environment: &Environment) -> PathBuf {
    environment.data.join("run").join("tmux")
}

/// The outcome of making panes over a host.
pub(crate) enum Made {
    Panes(Arc<TmuxTarget>),
    Nothing {
        /// The message to the user about it.
        note: Option<String>,
    },
}

/// Makes panes over hosts.
pub(crate) struct PaneMaker {
    environment: Environment,
    tmux: TmuxSection,
    /// The session in tmux.
    session: String,
    /// Whether the command line asks for them, so that what stands in their way is an error.
    is_wanted: bool,
    /// Whether commands have bounds.
    is_bounded: bool,
}

impl PaneMaker {
    /// None where neither the command line nor the terminal speaks for panes.
    pub(crate) fn new(invocation: &Invocation<'_>, config: &Config) -> Option<Self> {
        let (is_wanted, session) = match &invocation.tmux {
            TmuxWish::Wanted(session) => (true, session.clone()),
            TmuxWish::Unsaid if !config.tmux.enabled || !std::io::stdin().is_terminal() => return None,
            TmuxWish::Unsaid => (false, None),
        };
        Some(Self {
            environment: invocation.environment.clone(),
            tmux: config.tmux.clone(),
            session: session.unwrap_or_else(|| session_name(&config.agent.name)),
            is_wanted,
            is_bounded: config.agent.environment == WorkEnvironment::Development
                || invocation.policy.is_plan_only(),
        })
    }

    /// The panes of a host. Without a wish on the command line, what stands in their way means that there are none.
    pub(crate) async fn over(&self, host: &Host) -> anyhow::Result<Made> {
        if self.is_bounded && host.remote.is_some() {
            if self.is_wanted {
                bail!(
                    "--tmux on another host needs `agent.environment = \"production\"` and no --plan: there is no jail over \
                     there for the shell of a shared terminal"
                );
            }
            return Ok(Made::Nothing { note: None });
        }
        match self.layer(host).await {
            Ok(panes) => Ok(Made::Panes(Arc::new(panes))),
            Err(error) if self.is_wanted => Err(error),
            Err(error) => {
                let note = is_worth_telling(&error)
                    .then(|| format!("{error}; commands run without a shared terminal there"));
                Ok(Made::Nothing { note })
            }
        }
    }

    async fn layer(&self, host: &Host) -> anyhow::Result<TmuxTarget> {
        // A missing one shows when it is started; one that a command could have put there is named at once.
        host.programs.find("tmux")?;
        let own_env = host.programs.applied_to(&host.env);
        let here = directory(&self.environment);
        let (directory, locks, warden) = match &host.remote {
            None => (here.clone(), here, Some(warden()?)),
            Some(remote) => {
                let origin = origin(&self.environment.data, &self.environment.host)?;
                let directory = pane_directory(&*host.target, &own_env, &origin).await?;
                (directory, here.join(file_name(&remote.name)), None)
            }
        };
        let settings = TmuxSettings {
            locks,
            directory,
            session: self.session.clone(),
            max_sessions: self.tmux.max_sessions,
            max_panes: self.tmux.max_panes,
            shell: host.target.describe().shell.clone(),
            env: host.env.clone(),
            own_env,
            warden,
            reconnect_within: RECONNECT_WITHIN,
            way: host.way.clone(),
        };
        let panes = TmuxTarget::new(host.target.clone(), settings)?;
        let panes = panes.with_quarantine(quarantine(&self.environment));
        panes.claim().await?;
        if self.is_bounded {
            // A shell that could not be kept to its bounds is not shared at all.
            panes.try_jail().await?;
        }
        // A user who is told how to attach finds something to attach to.
        panes.open_session().await?;
        Ok(panes)
    }
}

/// Whether a user would wonder. That there is no tmux is nothing to wonder about.
fn is_worth_telling(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(
            TargetError::Pane(
                PaneError::InUse { .. } | PaneError::NotPrivate { .. } | PaneError::Foreign { .. }
            ) | TargetError::NotJailed { .. }
        )
    )
}

/// The name of a target as that of a directory.
fn file_name(target: &str) -> String {
    let fit = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
    target.chars().map(fit).take(MAX_NAME_CHARS).collect()
}
