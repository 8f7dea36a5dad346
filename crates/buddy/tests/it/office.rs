//! A hub with the real agent in the process of the test: real commands, real files, and models, tools and hosts as a test needs them.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use buddy_agent::{AgentSettings, BuddyAgent, Budget, GateSwitches, ModelSource};
use buddy_calls::{
    BuiltInTools, CallRights, CallSettings, Host, Hosts, PolicyKey, PolicySource, TextLimits, ToolSource,
};
use buddy_exec::managed::{ManagedProcesses, ManagedSettings};
use buddy_exec::undo::{UndoSettings, UndoStore};
use buddy_exec::{
    Bounds, DEFAULT_GRACE, Description, HostMeans, Limits, LocalSettings, LocalTarget, ProgramPath, Reach,
    SupervisorCommand,
};
use buddy_hub::{Hub, HubLimits, HubParts};
use buddy_model::{Auth, Endpoint, HttpModel, Model, ModelFacts, Route};
use buddy_policy::{Attendance, Grant, Mode, Policy};
use buddy_protocol::{
    AgentId, ApprovalPolicy, Clock, Event, Failure, FailureKind, GrantScope, Ids, NewSession, Principal,
    SessionId, SessionTerms, Sessions, SingleUser, Subscription, TargetHost, TargetWish, UnixMillis, UserId,
};
use buddy_store::{SqliteStore, StoreRole, StoreSettings};
use buddy_testkit::model::ModelServer;
use buddy_web::{FetchSettings, Web};
use futures::StreamExt;
use tokio::sync::watch;

use crate::stage::BUDDY;

struct Still;

impl Clock for Still {
    fn now(&self) -> UnixMillis {
        UnixMillis(1_000)
    }
}

#[derive(Default)]
struct Counter(AtomicU64);

impl Ids for Counter {
    fn next(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::SeqCst) + 1)
    }
}

struct Modelless;

#[async_trait]
impl ModelSource for Modelless {
    async fn ready(&self, _: Option<&str>) {}

    fn model(&self, _: Option<&str>) -> Result<Arc<dyn Model>, Failure> {
        let message = "there is no model".to_owned();
        Err(Failure { http_status: None, kind: FailureKind::ModelMissing, message, hint: None })
    }

    fn facts(&self, _: Option<&str>) -> ModelFacts {
        ModelFacts::default()
    }
}

/// A scripted model behind real HTTP, and when its source is ready.
pub(crate) struct ScriptedModels {
    model: Arc<dyn Model>,
    /// How often the source was asked whether it is ready.
    pub(crate) asked: watch::Sender<usize>,
    /// The first time that it never gets ready; 0 for never.
    hangs_at: usize,
}

impl ScriptedModels {
    pub(crate) fn new(server: &ModelServer, hangs_at: usize) -> Self {
        let route = Route::chat(Endpoint::parse(&server.url()).unwrap(), Auth::None);
        let model = Arc::new(HttpModel::new("scripted", route).unwrap());
        Self { model, asked: watch::Sender::new(0), hangs_at }
    }
}

#[async_trait]
impl ModelSource for ScriptedModels {
    async fn ready(&self, _: Option<&str>) {
        self.asked.send_modify(|count| *count += 1);
        if *self.asked.borrow() == self.hangs_at {
            std::future::pending::<()>().await;
        }
    }

    fn model(&self, _: Option<&str>) -> Result<Arc<dyn Model>, Failure> {
        Ok(self.model.clone())
    }

    fn facts(&self, _: Option<&str>) -> ModelFacts {
        ModelFacts::default()
    }
}

/// Commands write in the workspace alone and have no network.
struct Workspace(PathBuf);

impl PolicySource for Workspace {
    fn policy(&self, _: PolicyKey<'_>, is_plan_only: bool) -> Result<Arc<Policy>, String> {
        let mode = if is_plan_only { Mode::Plan } else { Mode::Development };
        Ok(Arc::new(Policy { mode, ..Policy::plain(self.0.clone()) }))
    }

    fn bounds(&self, _: &Policy, call: &CallRights<'_>) -> Bounds {
        let roots = vec![self.0.clone()];
        let write = if call.is_read_only { Reach::Nothing } else { Reach::Beneath(roots.clone()) };
        Bounds { write, anchors: roots, network: false, ..Bounds::open() }
    }

    fn grants(&self, _: PolicyKey<'_>) -> Vec<Grant> {
        Vec::new()
    }

    fn keep(&self, _: PolicyKey<'_>, _: &Grant, _: GrantScope, _: Duration) -> Result<(), String> {
        Err("nothing is kept here".to_owned())
    }
}

struct ThisHost {
    workspace: PathBuf,
    processes: PathBuf,
    ids: Arc<Counter>,
    undo: UndoStore,
    reach: Arc<Reachability>,
}

/// Whether hosts answer.
#[derive(Default)]
pub(crate) struct Reachability {
    /// Hosts that are reached from now on never answer.
    pub(crate) hangs: AtomicBool,
    /// The attempts to reach one that got no answer.
    pub(crate) unanswered: watch::Sender<u64>,
}

impl Reachability {
    /// Waits until somebody tries to reach a host in vain.
    pub(crate) async fn tried(&self) {
        let mut unanswered = self.unanswered.subscribe();
        let tried = unanswered.wait_for(|count| *count > 0);
        tokio::time::timeout(Duration::from_secs(20), tried).await.unwrap().unwrap();
    }
}

#[async_trait]
impl Hosts for ThisHost {
    fn wanted(&self) -> Vec<TargetWish> {
        Vec::new()
    }

    fn forbidden(&self, _: &TargetHost) -> Option<String> {
        None
    }

    async fn attach(&self, _: &TargetWish) -> Result<Host, String> {
        if self.reach.hangs.load(Ordering::SeqCst) {
            self.reach.unanswered.send_modify(|count| *count += 1);
            std::future::pending::<()>().await;
        }
        let cwd = self.workspace.clone();
        let description = Description {
            name: "local".to_owned(),
            user: "ann".to_owned(),
            host: "here".to_owned(),
            os: "Linux".to_owned(),
            shell: "/bin/sh".to_owned(),
            cwd: cwd.clone(),
            means: HostMeans::default(),
        };
        let supervisor = SupervisorCommand { program: BUDDY.into(), args: vec!["__supervise".to_owned()] };
        let keeper = SupervisorCommand { program: BUDDY.into(), args: vec!["__keep".to_owned()] };
        let managed = ManagedProcesses::new(ManagedSettings {
            directory: self.processes.clone(),
            keeper,
            grace: DEFAULT_GRACE,
            limits: Limits::usual(),
            clock: Arc::new(Still),
            ids: self.ids.clone(),
        });
        let target = LocalTarget::new(LocalSettings { supervisor, description, grace: DEFAULT_GRACE });
        let target = target.with_managed(managed);
        Ok(Host {
            target: Arc::new(target),
            is_remote: false,
            env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
            programs: ProgramPath::default(),
            withheld: Vec::new(),
            cwd: cwd.clone(),
            added: Vec::new(),
            home: None,
            policy: Arc::new(Workspace(cwd.clone())),
            project: Vec::new(),
            undo: Some(self.undo.clone()),
            undo_workspace: Some(cwd),
            note: None,
        })
    }
}

/// A hub with the real agent, and a folder to work in.
pub(crate) struct Office {
    pub(crate) hub: Hub,
    pub(crate) undo: UndoStore,
    pub(crate) workspace: PathBuf,
    pub(crate) outside: PathBuf,
    pub(crate) reach: Arc<Reachability>,
    _temporary: tempfile::TempDir,
}

impl Office {
    /// An office without a model: clients make all calls.
    pub(crate) fn new() -> Self {
        Self::with(Arc::new(Modelless), Arc::new(BuiltInTools))
    }

    pub(crate) fn with(models: Arc<dyn ModelSource>, tools: Arc<dyn ToolSource>) -> Self {
        Self::limited(models, tools, HubLimits::default())
    }

    /// An office without a model whose hub has these limits.
    pub(crate) fn with_limits(limits: HubLimits) -> Self {
        Self::limited(Arc::new(Modelless), Arc::new(BuiltInTools), limits)
    }

    fn limited(models: Arc<dyn ModelSource>, tools: Arc<dyn ToolSource>, limits: HubLimits) -> Self {
        let reach = Arc::new(Reachability::default());
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().canonicalize().unwrap();
        let (workspace, outside) = (top.join("w"), top.join("outside"));
        fs::create_dir(&workspace).unwrap();
        fs::create_dir(&outside).unwrap();
        let (clock, ids) = (Arc::new(Still), Arc::new(Counter::default()));
        let role = StoreRole::Terminal;
        let settings =
            StoreSettings { directory: top.join("data"), role, boot_id: None, clock: clock.clone() };
        let store = Arc::new(SqliteStore::open(settings).unwrap());
        let undo = UndoStore::new(top.join("undo"), UndoSettings::default(), clock.clone());
        let calls = Arc::new(CallSettings {
            hosts: Arc::new(ThisHost {
                workspace: workspace.clone(),
                processes: top.join("processes"),
                ids: ids.clone(),
                undo: undo.clone(),
                reach: reach.clone(),
            }),
            web: Arc::new(Web::new(FetchSettings::default()).unwrap()),
            logs: top.join("logs"),
            attendance: Attendance::Somebody,
            ask_within: None,
            tools,
            tools_off: Vec::new(),
            checks: Vec::new(),
            texts: TextLimits::default(),
            clock: clock.clone(),
            ids: ids.clone(),
        });
        let agent = BuddyAgent::new(AgentSettings {
            calls,
            models,
            mode: "development".to_owned(),
            approvals: ApprovalPolicy::Ask,
            keeps_asking: false,
            window: None,
            max_steps: 5,
            time_limit: None,
            name: "buddy".to_owned(),
            instructions: None,
            gates: GateSwitches::default(),
            budget: Budget::default(),
            ledger: store.clone(),
        });
        let hub = Hub::new(HubParts {
            store: store.clone(),
            agents: vec![Arc::new(agent)],
            clock,
            ids,
            members: Arc::new(SingleUser),
            keys: store,
            limits,
        });
        Self { hub, undo, workspace, outside, reach, _temporary: temporary }
    }

    pub(crate) async fn begin(&self, who: &Principal, terms: SessionTerms) -> (SessionId, Subscription) {
        self.begin_below(who, None, terms).await
    }

    /// A session below another one.
    pub(crate) async fn begin_below(
        &self,
        who: &Principal,
        parent: Option<&SessionId>,
        terms: SessionTerms,
    ) -> (SessionId, Subscription) {
        let new = NewSession::new(BuddyAgent::NAME, self.workspace.to_string_lossy());
        let new = NewSession { terms, parent: parent.cloned(), ..new };
        let session = self.hub.create(who, new).await.unwrap();
        let events = self.hub.subscribe(who, &session, 0).await.unwrap();
        (session, events)
    }
}

/// The next event that is wanted.
pub(crate) async fn next<T>(events: &mut Subscription, wanted: impl Fn(&Event) -> Option<T>) -> T {
    let mut seen = Vec::new();
    let look = async {
        loop {
            let event = events.next().await.unwrap().unwrap();
            if let Some(found) = wanted(&event) {
                return found;
            }
            seen.push(event);
        }
    };
    let found = tokio::time::timeout(Duration::from_mins(1), look).await;
    found.unwrap_or_else(|_| panic!("only other events came: {seen:#?}"))
}

/// A user, and a client that acts for them.
pub(crate) fn people() -> (Principal, Principal) {
    let ann = Principal::person("ann");
    let client = Principal::agent(AgentId::of_name("editor"), "editor", UserId::of_account("ann"));
    (ann, client)
}
