//! What commands that talk to a model need: the configuration, read, and the models in it.

use std::path::PathBuf;
use std::sync::Arc;

use buddy_agent::{Budget, Limit, TextSettings};
use buddy_policy::Approvals;
use buddy_protocol::{Failure, MicroUsd};

use crate::commands::printer;
use crate::config::{ApprovalPolicy, Loaded, Request, load};
use crate::environment::Environment;
use crate::models::{Keys, Models, choose, local_servers};
use crate::wiring::{Wishes, local_target};

/// What the command line and the environment ask for.
pub(crate) struct Invocation<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) request: Request,
    pub(crate) cwd: PathBuf,
    pub(crate) model: Option<String>,
}

/// What is told on the standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notes {
    /// Warnings, and which model was found.
    Shown,
    /// Warnings.
    Warnings,
}

/// Configuration and models.
pub(crate) struct Setup {
    pub(crate) loaded: Loaded,
    pub(crate) models: Arc<Models>,
}

impl Invocation<'_> {
    /// Reads the configuration and tells its warnings.
    pub(crate) fn load(&self) -> anyhow::Result<Loaded> {
        let loaded = load(self.environment, &self.cwd, &self.request)?;
        let mut printer = printer();
        for warning in &loaded.warnings {
            printer.status(&format!("warning: {warning}"));
        }
        Ok(loaded)
    }

    /// Reads the configuration and finds the model to use.
    pub(crate) async fn prepare(&self, notes: Notes) -> anyhow::Result<Setup> {
        let loaded = self.load()?;
        let target = Arc::new(local_target(self.environment, self.cwd.clone())?);
        let keys = Keys::new(self.environment, &loaded, target);
        let is_wanted = loaded.config.network.local_servers;
        let probe = async || if is_wanted { local_servers(self.environment).await } else { Vec::new() };
        let wish = self.model.as_deref();
        let choice = choose(self.environment, &loaded, &keys, wish, probe).await.map_err(told)?;
        let models = Models::new(&loaded, keys, choice);
        let mut printer = printer();
        for warning in models.warnings() {
            printer.status(&format!("warning: {warning}"));
        }
        if let (Notes::Shown, None, Some(found)) = (notes, wish, models.found()) {
            printer.status(&found);
        }
        Ok(Setup { loaded, models: Arc::new(models) })
    }
}

impl Setup {
    /// The name of the model that a session keeps, when the person named one.
    pub(crate) fn session_model(&self, invocation: &Invocation<'_>) -> anyhow::Result<Option<String>> {
        let name = invocation.model.as_deref();
        name.map(|name| self.models.canonical(name)).transpose().map_err(told)
    }

    fn budget(&self) -> Budget {
        let budget = &self.loaded.config.budget;
        Budget {
            session: Limit { cost: budget.max_cost_per_session.map(money), tokens: budget.max_tokens },
            day: Limit { cost: budget.max_cost_per_day.map(money), tokens: None },
        }
    }

    /// What the configuration wants of the agent.
    pub(crate) fn wishes(&self, cwd: PathBuf) -> anyhow::Result<Wishes> {
        let config = &self.loaded.config;
        let texts = TextSettings::default();
        let approvals = match config.approvals.policy {
            ApprovalPolicy::Ask if config.tools.shell_confirm => Approvals::Ask,
            ApprovalPolicy::Ask | ApprovalPolicy::All => Approvals::All,
            ApprovalPolicy::None => Approvals::None,
        };
        Ok(Wishes {
            approvals,
            max_steps: config.agent.max_iterations,
            cwd,
            models: self.models.clone(),
            ask_within: config.approvals.timeout.map(|wait| wait.0),
            texts: TextSettings {
                command: config.tools.command_characters.unwrap_or(texts.command),
                file: config.tools.file_characters.unwrap_or(texts.file),
            },
            budget: self.budget(),
            instructions: config.agent.system_prompt.clone(),
            tools_off: config.tools.off(),
            web: config.web.web()?,
        })
    }
}

/// An amount that makes no sense leaves nothing to spend.
fn money(dollars: f64) -> MicroUsd {
    MicroUsd::from_dollars(dollars).unwrap_or(MicroUsd(0))
}

fn told(failure: Failure) -> anyhow::Error {
    match failure.hint {
        Some(hint) => anyhow::anyhow!("{}\n  {hint}", failure.message),
        None => anyhow::anyhow!(failure.message),
    }
}
