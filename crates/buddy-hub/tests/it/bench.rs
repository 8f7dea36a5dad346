//! A hub with a scripted agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use buddy_hub::{Hub, HubLimits, HubParts};
use buddy_protocol::{
    Agent, AgentError, AgentSession, Answer, Approval, ApprovalPolicy, Ask, AskId, Asked, AuthoredFact,
    Clock, Command, CommandOutcome, Content, DeltaStream, Event, EventSink, Fact, Ids, Item, ItemDelta,
    ItemId, ItemStarted, ItemStatus, Json, Members, NewSession, Notice, NoticeLevel, Opening, Principal,
    Question, Risk, SessionChanged, SessionId, SessionStarted, SessionStore, SessionTerms, Sessions,
    SingleUser, Subscription, ToolCall, ToolKind, UnixMillis, WaitingAsk,
};
use buddy_store::{SqliteStore, StoreRole, StoreSettings};
use futures::StreamExt;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A clock with a fixed time.
pub(crate) struct Still;

impl Clock for Still {
    fn now(&self) -> UnixMillis {
        UnixMillis(1_000)
    }
}

/// Numbers from one on.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Ids for Counter {
    fn next(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::SeqCst) + 1)
    }
}

/// An agent that takes orders as prompts: `say N` reports N facts one by one, `flood N` reports N deltas,
/// `ask` asks and reports the answer, `ask MILLIS` asks with an expiry, `give-up` asks and drops the
/// question, `restrict` reports plan mode without approvals. Between `work` and `rest` it is busy. A call of a client runs for ever.
struct Scripted(Arc<Counter>, Arc<Doings>);

/// The commands that the scripted agent was given.
#[derive(Default)]
struct Doings {
    opened: AtomicU64,
    taken: AtomicU64,
    closed: watch::Sender<u64>,
}

/// The next time that the scripted agent is closed.
pub(crate) struct Closings(watch::Receiver<u64>);

impl Closings {
    pub(crate) async fn next(mut self) {
        let closed = self.0.changed();
        tokio::time::timeout(std::time::Duration::from_secs(20), closed).await.unwrap().unwrap();
    }
}

struct ScriptedSession {
    sink: Arc<dyn EventSink>,
    ids: Arc<Counter>,
    tasks: JoinSet<()>,
    doings: Arc<Doings>,
    is_busy: bool,
}

#[async_trait]
impl Agent for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    async fn open(&self, _: Opening, sink: Arc<dyn EventSink>) -> Result<Box<dyn AgentSession>, AgentError> {
        let (ids, doings) = (self.0.clone(), self.1.clone());
        doings.opened.fetch_add(1, Ordering::SeqCst);
        Ok(Box::new(ScriptedSession { sink, ids, tasks: JoinSet::new(), doings, is_busy: false }))
    }
}

#[async_trait]
impl AgentSession for ScriptedSession {
    async fn command(&mut self, by: Principal, command: Command) -> CommandOutcome {
        if let Command::Call { tool, input } = command {
            let call = running_call(&self.ids, &by, tool, input);
            self.sink.commit_authored(vec![AuthoredFact::new(&by, call)]).await.unwrap();
        } else if let Command::Prompt { text, .. } = command {
            self.doings.taken.fetch_add(1, Ordering::SeqCst);
            match text.as_str() {
                "work" => self.is_busy = true,
                "rest" => self.is_busy = false,
                _ => drop(self.tasks.spawn(act(self.sink.clone(), self.ids.clone(), text))),
            }
        }
        Box::pin(async { Ok(()) })
    }

    fn is_busy(&self) -> bool {
        self.is_busy
    }

    async fn close(mut self: Box<Self>) {
        self.tasks.shutdown().await;
        self.doings.closed.send_modify(|closed| *closed += 1);
    }
}

async fn act(sink: Arc<dyn EventSink>, ids: Arc<Counter>, order: String) {
    let (verb, number) = order.split_once(' ').unwrap_or((&order, "0"));
    let number: u64 = number.parse().unwrap();
    match verb {
        "say" => {
            for place in 0..number {
                if place % 3 == 0 {
                    sink.push(vec![notice(place), delta(&ids)]).await.unwrap();
                } else {
                    sink.commit(vec![notice(place)]).await.unwrap();
                }
            }
        }
        "flood" => {
            for _ in 0..number {
                sink.push(vec![delta(&ids)]).await.unwrap();
            }
            sink.commit(vec![notice(number)]).await.unwrap();
        }
        "ask" => {
            let answer = sink.ask(ask(&ids, number)).await.unwrap();
            sink.commit(vec![said(&format!("{answer:?}"))]).await.unwrap();
        }
        "batch" => {
            let question = Question::Batch { approvals: vec![approval(), approval()] };
            let answer = sink.ask(Ask { question, ..ask(&ids, 0) }).await.unwrap();
            sink.commit(vec![said(&format!("{answer:?}"))]).await.unwrap();
        }
        "ask-with-word" => {
            let question = Question::Approval(Approval { word: Some("bcdfg".to_owned()), ..approval() });
            let answer = sink.ask(Ask { question, ..ask(&ids, 0) }).await.unwrap();
            sink.commit(vec![said(&format!("{answer:?}"))]).await.unwrap();
        }
        "restrict" => {
            let (approvals, plan_only) = (Some(ApprovalPolicy::None), Some(true));
            let changed = SessionChanged { approvals, plan_only, ..SessionChanged::default() };
            sink.commit(vec![Fact::SessionChanged(changed)]).await.unwrap();
        }
        "give-up" => {
            let asked = sink.ask(ask(&ids, 0));
            tokio::time::timeout(std::time::Duration::from_millis(20), asked).await.unwrap_err();
        }
        other => panic!("no order `{other}`"),
    }
}

fn approval() -> Approval {
    Approval {
        item: None,
        actor: "buddy".to_owned(),
        place: "ann@atlas".to_owned(),
        target: None,
        cwd: "/w".to_owned(),
        action: "true".to_owned(),
        why: None,
        risk: Risk::Low,
        reasons: vec![],
        parts: vec![],
        destinations: vec![],
        risky: vec![],
        limits: None,
        opens: vec![],
        diff: None,
        is_editable: false,
        offers: vec![],
        unfit: None,
        word: None,
    }
}

fn running_call(ids: &Counter, by: &Principal, name: String, input: Json) -> Fact {
    let call = ToolCall {
        call_id: "call_1".to_owned(),
        title: name.clone(),
        name,
        kind: ToolKind::Other,
        input,
        output: None,
        images: Vec::new(),
        target: None,
        had_secrets: false,
        caller: Some(by.clone()),
    };
    let item = Item {
        id: ItemId::new(ids),
        turn: None,
        step: None,
        place: None,
        parent: None,
        status: ItemStatus::Running,
        content: Content::ToolCall(Box::new(call)),
        private: None,
    };
    Fact::ItemStarted(ItemStarted { item })
}

fn ask(ids: &Counter, millis: u64) -> Ask {
    Ask {
        id: AskId::new(ids),
        turn: None,
        item: None,
        question: Question::Approval(approval()),
        expires: (millis > 0).then_some(UnixMillis(1_000 + millis)),
    }
}

fn notice(place: u64) -> Fact {
    said(&place.to_string())
}

fn said(text: &str) -> Fact {
    Fact::Notice(Notice { level: NoticeLevel::Info, code: "said".to_owned(), text: text.to_owned() })
}

fn delta(ids: &Counter) -> Fact {
    let item = ItemId::new(ids);
    Fact::ItemDelta(ItemDelta { item, stream: DeltaStream::Text, text: "x".to_owned() })
}

/// The settings of a session of the scripted agent.
pub(crate) fn new_session(cwd: &str, parent: Option<SessionId>) -> NewSession {
    NewSession { parent, ..NewSession::new("scripted", cwd) }
}

/// A hub with its own store.
pub(crate) struct Bench {
    pub(crate) hub: Arc<Hub>,
    pub(crate) ann: Principal,
    pub(crate) store: Arc<SqliteStore>,
    ids: Arc<Counter>,
    doings: Arc<Doings>,
    _directory: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(Arc::new(SingleUser))
    }

    /// A hub whose users have these roles.
    pub(crate) fn with(members: Arc<dyn Members>) -> Self {
        Self::at(TempDir::new().unwrap(), members)
    }

    /// The same with a store in memory, where a sync costs nothing.
    pub(crate) fn in_memory(members: Arc<dyn Members>) -> Self {
        Self::at(TempDir::new_in("/dev/shm").unwrap(), members)
    }

    fn at(directory: TempDir, members: Arc<dyn Members>) -> Self {
        let settings = StoreSettings {
            directory: directory.path().to_owned(),
            role: StoreRole::Terminal,
            boot_id: None,
            clock: Arc::new(Still),
        };
        let store = Arc::new(SqliteStore::open(settings).unwrap());
        let ids = Arc::new(Counter::default());
        let doings = Arc::new(Doings::default());
        let hub = hub(&store, &ids, &doings, members, HubLimits::default());
        Self { hub, ann: Principal::person("ann"), store, ids, doings, _directory: directory }
    }

    /// A second hub on the same store, like that of a later process.
    pub(crate) fn another_hub(&self) -> Arc<Hub> {
        self.hub_with(HubLimits::default())
    }

    pub(crate) fn hub_with(&self, limits: HubLimits) -> Arc<Hub> {
        hub(&self.store, &self.ids, &self.doings, Arc::new(SingleUser), limits)
    }

    pub(crate) async fn session(&self) -> SessionId {
        self.hub.create(&self.ann, new_session("/", None)).await.unwrap()
    }

    /// A session that is in the store only.
    pub(crate) async fn stored_session(&self) -> SessionId {
        let hub = self.another_hub();
        let session = hub.create(&self.ann, new_session("/", None)).await.unwrap();
        hub.close().await;
        session
    }

    /// A session in the store that waits with an ask.
    pub(crate) async fn stored_waiting_session(&self) -> SessionId {
        let session = SessionId::new(&*self.ids);
        let started = SessionStarted {
            owner: self.ann.clone(),
            agent: "scripted".to_owned(),
            cwd: "/".to_owned(),
            model: None,
            parent: None,
            targets: Vec::new(),
            forked_from: None,
            began_with: None,
            terms: SessionTerms::default(),
        };
        let facts = [Fact::SessionStarted(started), Fact::Asked(Asked { ask: ask(&self.ids, 0) })];
        let events = (1..).zip(facts).map(|(seq, fact)| {
            let (session, time) = (session.clone(), UnixMillis(1_000));
            Arc::new(Event { session, seq: Some(seq), time, by: None, fact })
        });
        let writer = self.store.writer(&session).await.unwrap();
        writer.append(events.collect()).await.unwrap();
        session
    }

    /// How often the agent opened a session.
    pub(crate) fn opened(&self) -> u64 {
        self.doings.opened.load(Ordering::SeqCst)
    }

    /// How many prompts the agent took.
    pub(crate) fn taken(&self) -> u64 {
        self.doings.taken.load(Ordering::SeqCst)
    }

    pub(crate) fn closings(&self) -> Closings {
        Closings(self.doings.closed.subscribe())
    }

    pub(crate) async fn prompt(&self, session: &SessionId, text: &str) {
        let prompt = Command::prompt(text);
        self.hub.send(&self.ann, session, prompt).await.unwrap();
    }

    /// All pending asks that a principal sees, page by page.
    pub(crate) async fn asks(&self, who: &Principal) -> Vec<WaitingAsk> {
        let (mut asks, mut after) = (Vec::new(), None);
        loop {
            let page = self.hub.asks(who, after).await.unwrap();
            asks.extend(page.asks);
            after = page.next;
            if after.is_none() {
                return asks;
            }
        }
    }

    pub(crate) async fn subscribe(&self, session: &SessionId, after: u64) -> Subscription {
        self.hub.subscribe(&self.ann, session, after).await.unwrap()
    }

    pub(crate) async fn answer(
        &self,
        who: &Principal,
        session: &SessionId,
        ask: &AskId,
        answer: Answer,
    ) -> Result<(), buddy_protocol::SessionsError> {
        self.hub.send(who, session, Command::Answer { ask: ask.clone(), answer }).await
    }
}

fn hub(
    store: &Arc<SqliteStore>,
    ids: &Arc<Counter>,
    doings: &Arc<Doings>,
    members: Arc<dyn Members>,
    limits: HubLimits,
) -> Arc<Hub> {
    let agent: Arc<dyn Agent> = Arc::new(Scripted(ids.clone(), doings.clone()));
    Arc::new(Hub::new(HubParts {
        store: store.clone(),
        agents: vec![agent],
        clock: Arc::new(Still),
        ids: ids.clone(),
        members,
        keys: store.clone(),
        limits,
    }))
}

/// The next durable event.
pub(crate) async fn next(events: &mut Subscription) -> Arc<Event> {
    loop {
        let event = events.next().await.unwrap().unwrap();
        if event.seq.is_some() {
            return event;
        }
    }
}
