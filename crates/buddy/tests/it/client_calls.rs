//! A client makes a call through the hub: it is asked about, approved by another principal of the same user, confined, recorded and
//! undone like a call of the model.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use buddy_agent::{AgentSettings, BuddyAgent, Budget, GateSwitches, ModelSource};
use buddy_calls::{BuiltInTools, CallRights, CallSettings, Host, Hosts, PolicyKey, PolicySource, TextLimits};
use buddy_exec::undo::{Header, UndoSettings, UndoStore, Which};
use buddy_exec::{
    Bounds, DEFAULT_GRACE, Description, HostMeans, LocalSettings, LocalTarget, ProgramPath, Reach,
    SupervisorCommand,
};
use buddy_hub::{Hub, HubLimits, HubParts};
use buddy_model::{Model, ModelFacts};
use buddy_policy::{Attendance, Grant, Mode, Policy};
use buddy_protocol::{
    AgentId, Answer, ApprovalPolicy, Asked, Clock, Command, Content, Event, Fact, Failure, FailureKind,
    GrantScope, Ids, Item, ItemStatus, NewSession, Principal, SessionId, SessionTerms, Sessions,
    SessionsError, SingleUser, Subscription, TargetHost, TargetWish, UnixMillis, UserId,
};
use buddy_store::{SqliteStore, StoreRole, StoreSettings};
use buddy_web::{FetchSettings, Web};
use futures::StreamExt;
use serde_json::{Value, json};

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

/// No model: clients make all calls.
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
    undo: UndoStore,
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
        let target = LocalTarget::new(LocalSettings { supervisor, description, grace: DEFAULT_GRACE });
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
struct Office {
    hub: Hub,
    undo: UndoStore,
    workspace: PathBuf,
    outside: PathBuf,
    _temporary: tempfile::TempDir,
}

impl Office {
    fn new() -> Self {
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
            hosts: Arc::new(ThisHost { workspace: workspace.clone(), undo: undo.clone() }),
            web: Arc::new(Web::new(FetchSettings::default()).unwrap()),
            logs: top.join("logs"),
            attendance: Attendance::Somebody,
            ask_within: None,
            tools: Arc::new(BuiltInTools),
            tools_off: Vec::new(),
            checks: Vec::new(),
            texts: TextLimits::default(),
            clock: clock.clone(),
            ids: ids.clone(),
        });
        let agent = BuddyAgent::new(AgentSettings {
            calls,
            models: Arc::new(Modelless),
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
            limits: HubLimits::default(),
        });
        Self { hub, undo, workspace, outside, _temporary: temporary }
    }

    async fn begin(&self, who: &Principal, terms: SessionTerms) -> (SessionId, Subscription) {
        let new = NewSession { terms, ..NewSession::new(BuddyAgent::NAME, self.workspace.to_string_lossy()) };
        let session = self.hub.create(who, new).await.unwrap();
        let events = self.hub.subscribe(who, &session, 0).await.unwrap();
        (session, events)
    }
}

fn run(command: &str) -> Command {
    let input = json!({"command": command, "why": "x", "risk": "low", "mutation": true, "privesc": false});
    Command::Call { tool: "run_shell".to_owned(), input: input.into() }
}

async fn next<T>(events: &mut Subscription, wanted: impl Fn(&Event) -> Option<T>) -> T {
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

fn ended(event: &Event) -> Option<(Item, Option<Principal>)> {
    match &event.fact {
        Fact::ItemEnded(ended) if matches!(ended.item.content, Content::ToolCall(_)) => {
            Some((ended.item.clone(), event.by.clone()))
        }
        _ => None,
    }
}

fn output(item: &Item) -> Value {
    let Content::ToolCall(call) = &item.content else { panic!("{item:?}") };
    serde_json::to_value(call.output.as_ref().unwrap()).unwrap()
}

/// A user, and a client that acts for them.
fn people() -> (Principal, Principal) {
    let ann = Principal::person("ann");
    let client = Principal::agent(AgentId::of_name("editor"), "editor", UserId::of_account("ann"));
    (ann, client)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_client_is_asked_about_confined_and_undone() {
    let (office, (ann, client)) = (Office::new(), people());
    let (session, mut events) = office.begin(&ann, SessionTerms::default()).await;
    // Policy does not read the script, so only the jail can hold it. The script succeeds, so no run outside the jail is offered.
    let script =
        format!("(echo out > {}/out.txt) 2> errors.txt; echo made > made.txt", office.outside.display());
    fs::write(office.workspace.join("make.sh"), script).unwrap();
    office.hub.send(&client, &session, run("sh make.sh")).await.unwrap();
    let ask = next(&mut events, |event| match &event.fact {
        Fact::Asked(Asked { ask }) => Some(ask.clone()),
        _ => None,
    })
    .await;
    let asked = serde_json::to_value(&ask).unwrap();
    assert_eq!(asked["question"]["actor"], "editor", "{asked}");
    assert!(!office.workspace.join("made.txt").exists(), "nothing ran before the answer");
    let answer = |who: Principal| {
        let answer = Answer::Allow { grant: None, edit: None, word: None };
        let (hub, ask) = (&office.hub, ask.id.clone());
        let session = session.clone();
        async move { hub.send(&who, &session, Command::Answer { ask, answer }).await }
    };
    let refused = answer(client.clone()).await;
    assert!(
        matches!(refused, Err(SessionsError::Forbidden { .. })),
        "a client does not approve its own call"
    );
    answer(ann.clone()).await.unwrap();
    let (item, by) = next(&mut events, ended).await;
    assert_eq!(fs::read_to_string(office.workspace.join("made.txt")).unwrap(), "made\n", "{}", output(&item));
    assert!(!office.outside.join("out.txt").exists(), "the jail held");
    assert_ne!(fs::read_to_string(office.workspace.join("errors.txt")).unwrap(), "", "the write was tried");
    // The log names both.
    assert_eq!(by, Some(client.clone()));
    let log = office.hub.events(&ann, &session, 0, 1_000).await.unwrap();
    let answered = log.iter().find(|event| matches!(event.fact, Fact::Answered(_))).unwrap();
    assert_eq!(answered.by, Some(ann.clone()));
    let started = log.iter().find(|event| matches!(event.fact, Fact::ItemStarted(_))).unwrap();
    assert_eq!(started.by, Some(client.clone()));
    let Content::ToolCall(call) = &item.content else { panic!() };
    assert_eq!(call.caller, Some(client));
    // Undo has it under the id of its item.
    let plan = office.undo.plan(&Which::Id(item.id.to_string())).unwrap();
    let header = Header {
        id: "undo-1".to_owned(),
        label: "undo".to_owned(),
        session: session.to_string(),
        workspace: None,
        unix_ms: 1_000,
        undoes: Some(item.id.to_string()),
        target: None,
    };
    office.undo.apply(&plan, header).unwrap();
    assert!(!office.workspace.join("made.txt").exists(), "it is undone");
    office.hub.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_a_tool_refuses_its_calls_and_others_run() {
    let (office, (ann, client)) = (Office::new(), people());
    fs::write(office.workspace.join("a.txt"), "one\n").unwrap();
    let terms = SessionTerms {
        tools: Some(vec!["read_file".to_owned()]),
        approvals: Some(ApprovalPolicy::None),
        ..SessionTerms::default()
    };
    let (session, mut events) = office.begin(&ann, terms.clone()).await;
    let log = office.hub.events(&ann, &session, 0, 1).await.unwrap();
    let Fact::SessionStarted(started) = &log[0].fact else { panic!() };
    assert_eq!(started.terms, terms, "terms are facts");
    assert_eq!(started.began_with.as_ref().unwrap().tools, ["read_file"]);
    office.hub.send(&client, &session, run("touch b.txt")).await.unwrap();
    let (item, _) = next(&mut events, ended).await;
    assert_eq!(
        (item.status, output(&item)["error"]["code"].clone()),
        (ItemStatus::Failed, json!("unknown_tool"))
    );
    let read = Command::Call { tool: "read_file".to_owned(), input: json!({"path": "a.txt"}).into() };
    office.hub.send(&client, &session, read).await.unwrap();
    let (item, _) = next(&mut events, ended).await;
    assert_eq!(item.status, ItemStatus::Completed, "{}", output(&item));
    assert!(output(&item).to_string().contains("one"));
    assert!(!office.workspace.join("b.txt").exists());
    office.hub.close().await;
}
