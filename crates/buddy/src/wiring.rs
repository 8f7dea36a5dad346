//! Wiring: store, target, agent and hub put together.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use buddy_agent::{AgentSettings, BuddyAgent, Budget, TextSettings};
use buddy_exec::{Description, LocalSettings, LocalTarget, SupervisorCommand};
use buddy_hub::{Hub, HubParts};
use buddy_policy::Approvals;
use buddy_protocol::{Ids, Principal};
use buddy_store::{Role, SqliteStore, StoreSettings};

use crate::SUPERVISE;
use crate::environment::Environment;
use crate::models::EnvironmentModels;
use crate::system::{SystemClock, SystemIds};

/// How long a command that is stopped may take to end by itself.
const STOP_GRACE: Duration = Duration::from_secs(1);
/// The cap on model calls in a turn of a conversation.
pub(crate) const MAX_STEPS: u32 = 50;

/// What differs from one way of running to another.
pub(crate) struct Wishes {
    pub(crate) approvals: Approvals,
    pub(crate) max_steps: u32,
    pub(crate) cwd: PathBuf,
}

/// buddy, put together.
pub(crate) struct Buddy {
    pub(crate) hub: Arc<Hub>,
    pub(crate) who: Principal,
    pub(crate) store: Arc<SqliteStore>,
}

impl Buddy {
    /// Stops all sessions and closes the store.
    pub(crate) async fn close(self) -> anyhow::Result<()> {
        self.hub.close().await;
        self.store.close().await.context("cannot close the store")
    }
}

/// The store alone.
pub(crate) fn open_store(environment: &Environment) -> anyhow::Result<Arc<SqliteStore>> {
    let settings = StoreSettings {
        directory: environment.data.clone(),
        role: Role::Terminal,
        boot_id: None,
        clock: Arc::new(SystemClock),
    };
    let store = SqliteStore::open(settings).context("cannot open the store")?;
    Ok(Arc::new(store))
}

/// Puts buddy together.
pub(crate) fn wire(environment: &Environment, wishes: Wishes) -> anyhow::Result<Buddy> {
    let store = open_store(environment)?;
    let clock = Arc::new(SystemClock);
    let ids: Arc<dyn Ids> = Arc::new(SystemIds);
    let agent = BuddyAgent::new(AgentSettings {
        models: Arc::new(EnvironmentModels::new(environment)),
        target: Arc::new(local_target(environment, wishes.cwd)?),
        env: environment.command_env.clone(),
        home: environment.home.clone(),
        logs: environment.data.join("logs"),
        approvals: wishes.approvals,
        ask_within: None,
        max_steps: wishes.max_steps,
        budget: Budget::default(),
        ledger: store.clone(),
        texts: TextSettings::default(),
        clock: clock.clone(),
        ids: ids.clone(),
    });
    let hub = Hub::new(HubParts { store: store.clone(), agents: vec![Arc::new(agent)], clock, ids });
    Ok(Buddy { hub: Arc::new(hub), who: Principal::person(environment.user.clone()), store })
}

fn local_target(environment: &Environment, cwd: PathBuf) -> anyhow::Result<LocalTarget> {
    let program = std::env::current_exe().context("cannot find buddy's own program")?;
    let system = rustix::system::uname();
    let description = Description {
        name: "local".to_owned(),
        user: environment.user.clone(),
        host: environment.host.clone(),
        os: format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
        shell: shell(),
        cwd,
    };
    let supervisor = SupervisorCommand { program, args: vec![SUPERVISE.to_owned()] };
    Ok(LocalTarget::new(LocalSettings { supervisor, description, grace: STOP_GRACE }))
}

/// The shell that runs commands. Models write for bash, so bash is taken where there is one.
fn shell() -> String {
    let bash = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
    let found = bash.into_iter().find(|path| std::path::Path::new(path).exists());
    found.unwrap_or("/bin/sh").to_owned()
}
