//! The needs of commands that talk to a model: the configuration, read, and the models in it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use buddy_agent::{Budget, GateSwitches};
use buddy_calls::{EditCheck, TextLimits};
use buddy_policy::Attendance;
use buddy_protocol::{ApprovalPolicy, MicroUsd, Principal, SpendingLimit};
use buddy_web::{UpstreamProxy, Web};

use crate::config::{
    CheckSection, Config, ConfigError, GatesSection, Loaded, TrustStore, WorkEnvironment, load,
};
use crate::environment::Environment;
use crate::hosts::RunHosts;
use crate::invocation::{Invocation, is_here};
use crate::models::{CurrentModels, find_models};
use crate::operations::{HomeOperations, OperationPlace};
use crate::panes::PaneMaker;
use crate::policy::{Guards, Policies, PolicySettings};
use crate::start_error::StartError;
use crate::wiring::Wishes;
use buddy_tui::Printer;

/// The model calls of a turn in a conversation, if nobody sets a limit.
const CONVERSATION_CALLS: u32 = 200;

/// The warning at the start where commands have no bounds.
const FULL_ACCESS: &str = "Production mode: commands run with your full permissions. Only secrets, buddy's own files and your other sessions are hidden from them.";

/// The warning at the start in a place that is thrown away.
const THROWAWAY: &str = "Throwaway mode: commands run without a sandbox and without approval, and processes that they start keep running.";

/// The warning where buddy runs in a terminal that other programs type into, by the variable that tells it.
const MULTIPLEXERS: &[(&str, &str)] = &[("TMUX", "tmux"), ("STY", "screen"), ("ZELLIJ", "zellij")];

/// The words for stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notes {
    /// Warnings, and which model was found.
    Shown,
    /// The same for a run that the demo does not answer.
    Headless,
    /// Warnings.
    Warnings,
    /// Nothing: it was told before.
    Silent,
}

/// Configuration and models.
pub(crate) struct Setup {
    pub(crate) loaded: Loaded,
    pub(crate) models: Arc<CurrentModels>,
}

impl Invocation<'_> {
    /// Keeps that the user trusts the directory here, where `--trust` says so. One that is trusted already stays as it was:
    /// an option of every start is no look at what changed in it.
    pub(crate) fn keep_trust(&self) -> anyhow::Result<()> {
        let store = TrustStore::new(&self.environment.data);
        if self.is_trusted && is_here(&self.hosts) && !store.trusts(&self.cwd) {
            store.add(&self.cwd)?;
        }
        Ok(())
    }

    /// The operations of this user in this directory.
    pub(crate) fn operations(&self) -> HomeOperations {
        HomeOperations::new(OperationPlace {
            owner: Principal::person(self.environment.user.clone()),
            environment: self.environment.clone(),
            request: self.request.clone(),
            cwd: self.cwd.clone(),
            model: self.model.clone(),
            conversation: None,
        })
    }

    /// Reads the configuration and tells its warnings.
    pub(crate) fn load(&self) -> anyhow::Result<Loaded> {
        let loaded = load(self.environment, &self.cwd, &self.request)?;
        let mut printer = Printer::standard();
        for warning in &loaded.warnings {
            printer.status(&format!("warning: {warning}"));
        }
        Ok(loaded)
    }

    /// Reads the configuration and finds the model to use.
    pub(crate) async fn prepare(&self, notes: Notes) -> anyhow::Result<Setup> {
        let loaded = match notes {
            Notes::Silent => load(self.environment, &self.cwd, &self.request)?,
            Notes::Shown | Notes::Headless | Notes::Warnings => self.load()?,
        };
        let guards = Guards::new(&self.environment.data).notice()?;
        if let Some(notice) = guards.filter(|_| notes != Notes::Silent) {
            Printer::standard().status(&format!("warning: {notice}"));
        }
        let wish = self.model.as_deref();
        let models = find_models(self.environment, &self.cwd, &loaded, wish).await?;
        let mut printer = Printer::standard();
        for warning in models.warnings().into_iter().filter(|_| notes != Notes::Silent) {
            printer.status(&format!("warning: {warning}"));
        }
        let is_open =
            loaded.config.agent.environment == WorkEnvironment::Production && !self.policy.is_plan_only();
        let is_told = matches!(notes, Notes::Shown | Notes::Headless);
        if is_told && self.environment.is_throwaway {
            printer.status(THROWAWAY);
        } else if is_told && is_open {
            printer.status(FULL_ACCESS);
            if let Some(typed) = describe_multiplexer(self.environment) {
                printer.status(&typed);
            }
        }
        let has_answer = notes == Notes::Shown || !models.is_demo(None);
        if let (true, None, Some(found)) = (is_told && has_answer, wish, models.describe_choice()) {
            printer.status(&found);
        }
        Ok(Setup { loaded, models: Arc::new(CurrentModels::new(models)) })
    }
}

/// That other processes can type into the terminal that buddy runs in, where that is known.
fn describe_multiplexer(environment: &Environment) -> Option<String> {
    let (_, name) = MULTIPLEXERS.iter().find(|(variable, _)| environment.get(variable).is_some())?;
    Some(format!(
        "buddy runs inside {name}, where other programs of your account can type, so dangerous commands ask you to type a word."
    ))
}

impl Setup {
    /// The name of the model that a session keeps, when the user named one.
    pub(crate) fn session_model(&self, invocation: &Invocation<'_>) -> anyhow::Result<Option<String>> {
        let name = invocation.model.as_deref();
        Ok(name.map(|name| self.models.now().canonical(name)).transpose().map_err(StartError::from)?)
    }

    fn budget(&self) -> Budget {
        let budget = &self.loaded.config.budget;
        Budget {
            session: SpendingLimit {
                cost: budget.max_cost_per_session.map(money),
                tokens: budget.max_tokens,
                calls: budget.max_turns.map(u64::from),
            },
            day: SpendingLimit { cost: budget.max_cost_per_day.map(money), ..SpendingLimit::default() },
        }
    }

    /// The hosts of the run, with these terminals on this machine. None is reached yet.
    pub(crate) fn hosts(
        &self,
        invocation: &Invocation<'_>,
        pane_maker: Option<PaneMaker>,
    ) -> anyhow::Result<Arc<RunHosts>> {
        let policy = PolicySettings::new(invocation.environment, &self.loaded, &invocation.policy)?;
        let is_remote_only = invocation.is_remote_only || !self.loaded.config.tools.local;
        if !is_remote_only && is_here(&invocation.hosts) {
            Policies::check(invocation.environment, &policy, &invocation.cwd)?;
        }
        let environment = invocation.environment.clone().with_rules(&self.loaded.config.variable_rules());
        let changeable = std::iter::once(invocation.cwd.clone()).chain(policy.changeable(&invocation.cwd));
        Ok(Arc::new(RunHosts {
            environment: environment.with_changeable(changeable),
            cwd: invocation.cwd.clone(),
            wanted: invocation.hosts.clone(),
            is_trusted: invocation.is_trusted,
            is_remote_only,
            policy,
            pane_maker,
            panes: tokio::sync::Mutex::default(),
            reached: Mutex::default(),
        }))
    }

    /// The settings of the agent in the configuration.
    pub(crate) fn wishes(&self, invocation: &Invocation<'_>, hosts: Arc<RunHosts>) -> anyhow::Result<Wishes> {
        // An agent begins by asking, and a window opens beside that.
        let (approvals, window) = match self.approvals(invocation.policy.approve) {
            ApprovalPolicy::Window { seconds } => (ApprovalPolicy::Ask, Some(Duration::from_secs(seconds))),
            policy => (policy, None),
        };
        let config = &self.loaded.config;
        let texts = TextLimits::default();
        let variable = |name: &str| invocation.environment.get(name).map(str::to_owned);
        let upstream = UpstreamProxy::from_variables(variable);
        Ok(Wishes {
            mode: if invocation.environment.is_throwaway {
                "throwaway"
            } else {
                config.agent.environment.name()
            },
            approvals,
            keeps_asking: approvals == ApprovalPolicy::Auto && invocation.policy.approve.is_none(),
            attendance: Attendance::Somebody,
            window,
            name: config.agent.name.clone(),
            max_steps: config.agent.max_iterations.unwrap_or(CONVERSATION_CALLS),
            time_limit: None,
            gates: gate_switches(config.agent.gates),
            hosts,
            models: self.models.clone(),
            ask_within: config.approvals.timeout.map(|wait| wait.0).filter(|wait| !wait.is_zero()),
            texts: TextLimits {
                command: config.tools.command_characters.unwrap_or(texts.command),
                file: config.tools.file_characters.unwrap_or(texts.file),
            },
            checks: edit_checks(config)?,
            budget: self.budget(),
            instructions: config.agent.system_prompt.clone(),
            tools_off: config.tools.off(),
            web: Web { upstream, ..config.web.web()? },
        })
    }

    /// The treatment of calls that need an approval.
    pub(crate) fn approvals(&self, wish: Option<ApprovalPolicy>) -> ApprovalPolicy {
        let config = &self.loaded.config;
        wish.unwrap_or(match config.approvals.policy {
            ApprovalPolicy::Ask | ApprovalPolicy::Auto if !config.tools.shell_confirm => ApprovalPolicy::All,
            policy => policy,
        })
    }
}

/// An amount that makes no sense leaves nothing to spend.
fn money(dollars: f64) -> MicroUsd {
    MicroUsd::from_dollars(dollars).unwrap_or(MicroUsd(0))
}

fn gate_switches(section: GatesSection) -> GateSwitches {
    let GatesSection { finish, stuck, retry, report, recite } = section;
    GateSwitches { finish, stuck, retry, report, recite }
}

/// The checks of edited files. The error names the one that makes no sense.
fn edit_checks(config: &Config) -> anyhow::Result<Vec<EditCheck>> {
    let check = |(name, section): (&String, &CheckSection)| {
        EditCheck::new(name, &section.files, &section.command)
            .map_err(|error| ConfigError::new("buddy.toml", format!("`checks.{name}`: {error}")).into())
    };
    config.checks.iter().map(check).collect()
}
