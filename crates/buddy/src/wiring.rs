//! Wiring: store, target, agent and hub put together.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use buddy_agent::{AgentSettings, BuddyAgent, Budget, GateSwitches, ModelSource};
use buddy_calls::{BuiltInTools, CallSettings, EditCheck, Hosts, TextLimits};
use buddy_exec::cache_layers;
use buddy_hub::{Hub, HubLimits, HubParts};
use buddy_policy::Attendance;
use buddy_protocol::{ApprovalPolicy, Ids, Ledger, Principal, SingleUser};
use buddy_store::{SqliteStore, StoreRole, StoreSettings};
use buddy_tui::Printer;
use buddy_web::{FetchSettings, Web};

use crate::config::WorkEnvironment;
use crate::environment::Environment;
use crate::ephemeral::{DayLedger, sweep};
use crate::hosts::NoHosts;
use crate::models::NoModels;
use crate::system::{SystemClock, SystemIds};

/// The differences between ways of running.
pub(crate) struct Wishes {
    /// How far commands are kept.
    pub(crate) mode: &'static str,
    pub(crate) approvals: ApprovalPolicy,
    /// Whether a session in which somebody chose to be asked goes on asking.
    pub(crate) keeps_asking: bool,
    /// Whether a user can be asked.
    pub(crate) attendance: Attendance,
    /// For how long what is not dangerous is approved, from the start of the session.
    pub(crate) window: Option<Duration>,
    pub(crate) name: String,
    pub(crate) max_steps: u32,
    /// The time that the run may take.
    pub(crate) time_limit: Option<Duration>,
    pub(crate) gates: GateSwitches,
    pub(crate) hosts: Arc<dyn Hosts>,
    pub(crate) models: Arc<dyn ModelSource>,
    /// How long a user has to answer; none means for ever.
    pub(crate) ask_within: Option<Duration>,
    pub(crate) texts: TextLimits,
    pub(crate) checks: Vec<EditCheck>,
    pub(crate) budget: Budget,
    pub(crate) instructions: Option<String>,
    pub(crate) tools_off: Vec<String>,
    pub(crate) web: Web,
}

impl Wishes {
    /// Those of a command that only looks at sessions.
    pub(crate) fn reading() -> anyhow::Result<Self> {
        Ok(Self {
            mode: WorkEnvironment::default().name(),
            approvals: ApprovalPolicy::None,
            keeps_asking: false,
            attendance: Attendance::Nobody,
            window: None,
            name: BuddyAgent::NAME.to_owned(),
            max_steps: 1,
            time_limit: None,
            gates: GateSwitches::default(),
            hosts: Arc::new(NoHosts),
            models: Arc::new(NoModels),
            ask_within: None,
            texts: TextLimits::default(),
            checks: Vec::new(),
            budget: Budget::default(),
            instructions: None,
            tools_off: Vec::new(),
            web: Web::new(FetchSettings::default())?,
        })
    }
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

/// The warning when the file that shows cuts of logs was not there.
const ANCHORS_MADE_ANEW: &str = "the file `anchors` was missing from the data directory and was made anew from the sessions: events that were \
     cut from the end of a session before will not be noticed";

/// The store alone.
pub(crate) fn open_store(environment: &Environment) -> anyhow::Result<Arc<SqliteStore>> {
    let settings = StoreSettings {
        directory: environment.session_data.clone(),
        role: StoreRole::Terminal,
        boot_id: None,
        clock: Arc::new(SystemClock),
    };
    let store = SqliteStore::open(settings).context("cannot open the store")?;
    if store.report().made_anchors_anew {
        Printer::standard().status(&format!("warning: {ANCHORS_MADE_ANEW}"));
    }
    Ok(Arc::new(store))
}

/// Puts buddy together.
pub(crate) fn wire(environment: &Environment, wishes: Wishes) -> anyhow::Result<Buddy> {
    sweep(&environment.data);
    let store = open_store(environment)?;
    let has_day_limit = !wishes.budget.day.is_unset();
    let ledger: Arc<dyn Ledger> = if environment.is_ephemeral() && has_day_limit {
        Arc::new(DayLedger::new(store.clone(), &environment.data)?)
    } else {
        store.clone()
    };
    let clock = Arc::new(SystemClock);
    let ids: Arc<dyn Ids> = Arc::new(SystemIds);
    let calls = Arc::new(CallSettings {
        hosts: wishes.hosts,
        web: Arc::new(wishes.web),
        logs: environment.session_logs.clone(),
        attendance: wishes.attendance,
        ask_within: wishes.ask_within,
        tools: Arc::new(BuiltInTools),
        tools_off: wishes.tools_off,
        checks: wishes.checks,
        texts: wishes.texts,
        clock: clock.clone(),
        ids: ids.clone(),
    });
    let agent = BuddyAgent::new(AgentSettings {
        calls,
        models: wishes.models,
        mode: wishes.mode.to_owned(),
        approvals: wishes.approvals,
        keeps_asking: wishes.keeps_asking,
        window: wishes.window,
        name: wishes.name,
        max_steps: wishes.max_steps,
        time_limit: wishes.time_limit,
        gates: wishes.gates,
        instructions: wishes.instructions,
        budget: wishes.budget,
        ledger,
    });
    evict_logs(environment.session_logs.clone());
    evict_layers(environment);
    let hub = Hub::new(HubParts {
        store: store.clone(),
        agents: vec![Arc::new(agent)],
        clock,
        ids,
        members: Arc::new(SingleUser),
        keys: store.clone(),
        limits: HubLimits::default(),
    });
    Ok(Buddy { hub: Arc::new(hub), who: Principal::person(environment.user.clone()), store })
}

/// Keeps the logs of commands under their cap. It takes a thread of its own, since nobody waits for it: what a short run
/// does not get done, the next one does.
fn evict_logs(directory: PathBuf) {
    std::thread::spawn(move || {
        if let Err(error) = buddy_exec::logs::evict(&directory, buddy_exec::logs::TOTAL_CAP_BYTES, &[])
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "old logs of commands cannot be removed");
        }
    });
}

/// Keeps the layers over caches under their cap, in the same way.
fn evict_layers(environment: &Environment) {
    let Some(directory) = environment.layers() else { return };
    std::thread::spawn(move || {
        if let Err(error) = cache_layers::evict(&directory, cache_layers::LAYERS_CAP_BYTES) {
            tracing::warn!(%error, "old layers over caches cannot be removed");
        }
    });
}
