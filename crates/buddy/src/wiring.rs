//! Wiring: store, target, agent and hub put together.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use buddy_agent::{AgentSettings, BuddyAgent, Budget, GateSwitches, Limit, ModelSource};
use buddy_calls::{BuiltInTools, CallSettings, EditCheck, Hosts, TextLimits};
use buddy_exec::managed::{KEEP, ManagedProcesses, ManagedSettings};
use buddy_exec::marker::MARK;
use buddy_exec::undo::{UndoSettings, UndoStore};
use buddy_exec::warden::WARD;
use buddy_exec::{
    DEFAULT_GRACE, Description, GitHome, HostMeans, Limits, LocalSettings, LocalTarget, OrderGuard,
    SupervisorCommand, TOLD_PROGRAMS, cache_layers, git_order_names,
};
use buddy_hub::{Hub, HubLimits, HubParts};
use buddy_policy::{Approvals, Attendance, guarded_names};
use buddy_protocol::{Ids, Ledger, Principal, SingleUser};
use buddy_store::{Role, SqliteStore, StoreSettings};
use buddy_web::{FetchSettings, Web};

use crate::SUPERVISE;
use crate::config::WorkEnvironment;
use crate::environment::Environment;
use crate::ephemeral::{DayLedger, sweep};
use crate::hosts::NoHosts;
use crate::models::NoModels;
use crate::system::{SystemClock, SystemIds};

/// How long a command that is stopped may take to end by itself.
pub(crate) const STOP_GRACE: Duration = Duration::from_secs(1);

/// What differs from one way of running to another.
pub(crate) struct Wishes {
    /// How far commands are kept.
    pub(crate) mode: &'static str,
    pub(crate) approvals: Approvals,
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
            approvals: Approvals::None,
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

/// The store alone.
pub(crate) fn open_store(environment: &Environment) -> anyhow::Result<Arc<SqliteStore>> {
    let settings = StoreSettings {
        directory: environment.session_data.clone(),
        role: Role::Terminal,
        boot_id: None,
        clock: Arc::new(SystemClock),
    };
    let store = SqliteStore::open(settings).context("cannot open the store")?;
    Ok(Arc::new(store))
}

/// Puts buddy together.
pub(crate) fn wire(environment: &Environment, wishes: Wishes) -> anyhow::Result<Buddy> {
    sweep(&environment.data);
    let store = open_store(environment)?;
    let has_day_limit = wishes.budget.day != Limit::default();
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

/// Where what calls change is kept.
pub(crate) fn undo_store(environment: &Environment) -> UndoStore {
    let mut names = guarded_names().clone();
    let home = GitHome { home: environment.home.as_deref(), config: environment.config_home.as_deref() };
    names.trees.extend(git_order_names(home).trees);
    let guard = OrderGuard {
        names,
        quarantine: quarantine(environment),
        home: environment.home.clone(),
        config_home: environment.config_home.clone(),
    };
    let folder = environment.data.join("undo");
    UndoStore::with_guard(folder, UndoSettings::default(), Arc::new(SystemClock), Some(guard))
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

/// This machine, to run commands on.
pub(crate) fn local_target(environment: &Environment, cwd: PathBuf) -> anyhow::Result<LocalTarget> {
    let program = std::env::current_exe().context("cannot find buddy's own program")?;
    let system = rustix::system::uname();
    // Rows are broken by how long these are, so tests of screens choose them.
    let chosen = environment.get("BUDDY_PLACE").filter(|_| fail::has_failpoints());
    let (user, host) =
        chosen.and_then(|place| place.split_once('@')).unwrap_or((&environment.user, &environment.host));
    let description = Description {
        name: "local".to_owned(),
        user: user.to_owned(),
        host: host.to_owned(),
        os: format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
        shell: shell(),
        cwd,
        means: local_means(environment),
    };
    let supervisor = SupervisorCommand { program, args: vec![SUPERVISE.to_owned()] };
    let target = LocalTarget::new(LocalSettings { supervisor, description, grace: STOP_GRACE });
    let target = target.with_quarantine(quarantine(environment));
    let target = if environment.is_throwaway { target.leaving_leftovers() } else { target };
    // What runs on needs a place to be found by.
    if environment.is_ephemeral() {
        return Ok(target);
    }
    Ok(target.with_managed(managed_processes(environment)?))
}

/// The means of this machine. Nothing is started to find them.
fn local_means(environment: &Environment) -> HostMeans {
    let kilobytes = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()
    });
    let now = jiff::Zoned::now();
    let zone = now.time_zone().iana_name().map_or_else(|| now.strftime("%Z").to_string(), str::to_owned);
    let path = environment.get("PATH").unwrap_or_default();
    let is_there = |name: &&&str| std::env::split_paths(path).any(|directory| directory.join(name).is_file());
    HostMeans {
        cores: std::thread::available_parallelism().ok().map(std::num::NonZeroUsize::get),
        memory: kilobytes.map(|count| count * 1024),
        zone: Some((zone, now.offset().seconds())),
        programs: Some(TOLD_PROGRAMS.iter().filter(is_there).map(|name| (*name).to_owned()).collect()),
    }
}

/// How the shell of a shared terminal is put into its jail.
pub(crate) fn warden() -> anyhow::Result<SupervisorCommand> {
    let program = std::env::current_exe().context("cannot find buddy's own program")?;
    Ok(SupervisorCommand { program, args: vec![WARD.to_owned()] })
}

/// How a marker is started, which keeps the standard error of a shared pane apart.
pub(crate) fn marker() -> anyhow::Result<SupervisorCommand> {
    let program = std::env::current_exe().context("cannot find buddy's own program")?;
    Ok(SupervisorCommand { program, args: vec![MARK.to_owned()] })
}

/// The processes that run on when buddy ends.
pub(crate) fn managed_processes(environment: &Environment) -> anyhow::Result<ManagedProcesses> {
    let program = std::env::current_exe().context("cannot find buddy's own program")?;
    let managed = ManagedProcesses::new(ManagedSettings {
        directory: environment.data.join("processes"),
        keeper: SupervisorCommand { program, args: vec![KEEP.to_owned()] },
        grace: DEFAULT_GRACE,
        limits: Limits::usual(),
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
    });
    Ok(managed.with_quarantine(quarantine(environment)))
}

/// Where things are moved that commands leave where programs take orders from them.
pub(crate) fn quarantine(environment: &Environment) -> PathBuf {
    environment.data.join("quarantine")
}

/// The shell that runs commands. Models write for bash, so bash is taken where there is one.
fn shell() -> String {
    let bash = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];
    let found = bash.into_iter().find(|path| std::path::Path::new(path).exists());
    found.unwrap_or("/bin/sh").to_owned()
}
