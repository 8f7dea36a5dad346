//! The agent as the hub sees it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use buddy_exec::Target;
use buddy_exec::managed::Owner;
use buddy_exec::undo::UndoStore;
use buddy_policy::Approvals;
use buddy_protocol::{
    Agent, AgentError, AgentSession, Clock, Command, Content, EventSink, Failure, FailureKind, Ids, Item,
    Ledger, Opening, Principal,
};
use buddy_web::Web;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::budget::Budget;
use crate::driver::{Driver, Funds, Order, Work};
use crate::gate::{Gate, PolicySource};
use crate::models::{Meter, ModelSource, Models, Offer, Offers};
use crate::prompt::{ProjectFile, SystemPrompt, environment};
use crate::tools::{Pipeline, PipelineParts, Place, TextLimits, registry};
use crate::turn::Machine;

/// Commands that may wait for a driver.
const ORDERS: usize = 16;

/// What the agent works with in all its sessions.
pub struct AgentSettings {
    /// The models.
    pub models: Arc<dyn ModelSource>,
    /// The host.
    pub target: Arc<dyn Target>,
    /// Who and where the host is, when it is not this machine.
    pub remote: Option<String>,
    /// The web.
    pub web: Arc<Web>,
    /// The environment of commands.
    pub env: Vec<(String, String)>,
    /// What `~` stands for in paths.
    pub home: Option<PathBuf>,
    /// Where what calls change is kept, so that it can be undone; none keeps nothing.
    pub undo: Option<UndoStore>,
    /// Where the logs of calls go.
    pub logs: PathBuf,
    /// Rules, lasting grants and bounds.
    pub policy: Arc<dyn PolicySource>,
    /// What becomes of calls that a person would have to approve.
    pub approvals: Approvals,
    /// For how long what is not dangerous is taken as approved, from the start of a session.
    pub window: Option<Duration>,
    /// How long a person has to answer; none means for ever.
    pub ask_within: Option<Duration>,
    /// The cap on model calls in one turn.
    pub max_steps: u32,
    /// What the agent calls itself.
    pub name: String,
    /// Instructions of the project, from its root down.
    pub project: Vec<ProjectFile>,
    /// Standing instructions of the person, added to the built-in ones.
    pub instructions: Option<String>,
    /// Names of tools that are switched off: the model is not told of them, and calls of them are refused.
    pub tools_off: Vec<String>,
    /// What may be spent.
    pub budget: Budget,
    /// What was spent.
    pub ledger: Arc<dyn Ledger>,
    /// How much of a tool's texts the model is given.
    pub texts: TextSettings,
    /// Wall-clock time.
    pub clock: Arc<dyn Clock>,
    /// Fresh ids.
    pub ids: Arc<dyn Ids>,
}

/// How many characters of a tool's texts the model is given.
#[derive(Debug, Clone, Copy)]
pub struct TextSettings {
    /// Of each text that a command printed.
    pub command: usize,
    /// Of files and lists.
    pub file: usize,
}

impl Default for TextSettings {
    fn default() -> Self {
        let TextLimits { command, file } = TextLimits::default();
        Self { command, file }
    }
}

/// buddy's own agent.
pub struct BuddyAgent {
    settings: Arc<AgentSettings>,
}

impl BuddyAgent {
    /// The name that sessions are started with.
    pub const NAME: &'static str = "buddy";

    /// An agent with these settings.
    pub fn new(settings: AgentSettings) -> Self {
        Self { settings: Arc::new(settings) }
    }
}

#[async_trait]
impl Agent for BuddyAgent {
    fn name(&self) -> &str {
        Self::NAME
    }

    async fn open(
        &self,
        opening: Opening,
        sink: Arc<dyn EventSink>,
    ) -> Result<Box<dyn AgentSession>, AgentError> {
        let (orders, queue) = mpsc::channel(ORDERS);
        let driver = driver(&self.settings, opening, sink, queue)?;
        let mut tasks = JoinSet::new();
        tasks.spawn(driver.run());
        Ok(Box::new(BuddySession { orders, tasks }))
    }
}

fn driver(
    settings: &Arc<AgentSettings>,
    opening: Opening,
    sink: Arc<dyn EventSink>,
    orders: mpsc::Receiver<Order>,
) -> Result<Driver, AgentError> {
    let started = opening.transcript.started().ok_or_else(|| closed("the session has no beginning"))?;
    let described = settings.target.describe();
    let tools_off = tools_off(settings);
    let gate = Arc::new(Gate::new(
        settings.policy.clone(),
        PathBuf::from(&started.cwd),
        settings.approvals,
        opening.transcript.is_plan_only(),
    ));
    gate.open_window(settings.window);
    let pipeline = Pipeline::new(PipelineParts {
        target: settings.target.clone(),
        place: Place {
            cwd: PathBuf::from(&started.cwd),
            home: settings.home.clone(),
            endpoints: settings.web.endpoints.clone(),
        },
        web: settings.web.clone(),
        gate: gate.clone(),
        undo: settings.undo.clone().map(|store| (store, opening.session.to_string())),
        env: settings.env.clone(),
        owner: Owner { person: started.owner.name.clone(), session: opening.session.to_string() },
        logs: settings.logs.clone(),
        limits: TextLimits { command: settings.texts.command, file: settings.texts.file },
        tools_off: tools_off.clone(),
        ask_within: settings.ask_within,
        clock: settings.clock.clone(),
        ids: settings.ids.clone(),
        sink: sink.clone(),
    });
    let offer = |off: &[String]| offer(settings, off);
    let offers = Offers { full: offer(&tools_off)?, small: offer(&registry::off_when_small(&tools_off))? };
    let models = Models {
        source: settings.models.clone(),
        chosen: opening.transcript.model().map(str::to_owned),
        offers,
        environment: environment(
            &described.user,
            &described.host,
            &described.os,
            &described.shell,
            &started.cwd,
        ),
        cache_key: opening.session.to_string(),
        meter: Meter::default(),
    };
    let funds = Funds {
        budget: settings.budget,
        ledger: settings.ledger.clone(),
        session: opening.session.clone(),
        owner: started.owner.name.clone(),
        is_attended: settings.approvals == Approvals::Ask,
        ids: settings.ids.clone(),
        place: format!("{}@{}", described.user, described.host),
        cwd: started.cwd.clone(),
    };
    let items = opening.transcript.into_items();
    if let Some(other) = other_target(&items, &described.name) {
        return Err(closed(&format!(
            "this session works on `{other}` and not on `{}`; go on with it there",
            described.name
        )));
    }
    let machine = Machine::new(settings.ids.clone(), described.name.clone(), settings.max_steps, items);
    let clock = settings.clock.clone();
    Ok(Driver { machine, models, gate, pipeline, sink, orders, clock, funds, work: Work::default() })
}

/// What is switched off, what would be a way around that, and what the host lacks.
fn tools_off(settings: &AgentSettings) -> Vec<String> {
    let mut off = registry::off(&settings.tools_off, settings.target.managed().is_some());
    if settings.target.panes().is_none() {
        off.extend(registry::pane_tools());
    }
    off
}

/// What a model is told before the conversation, with these tools off.
fn offer(settings: &AgentSettings, off: &[String]) -> Result<Offer, AgentError> {
    let tools = registry::definitions(off, settings.target.panes().is_some());
    let system = SystemPrompt {
        name: &settings.name,
        tools: tools.iter().map(|tool| tool.name.clone()).collect(),
        remote: settings.remote.as_deref(),
        instructions: settings.instructions.as_deref(),
        project: &settings.project,
    };
    let system = system.render().map_err(|error| closed(&format!("the system prompt: {error}")))?;
    Ok(Offer { system, tools })
}

/// The target of an earlier call, when it is not this one: its paths and what was found there mean nothing here.
fn other_target<'i>(items: &'i [Item], name: &str) -> Option<&'i str> {
    let targets = items.iter().filter_map(|item| match &item.content {
        Content::ToolCall(call) => call.target.as_deref(),
        _ => None,
    });
    targets.into_iter().find(|target| *target != name)
}

struct BuddySession {
    orders: mpsc::Sender<Order>,
    tasks: JoinSet<()>,
}

#[async_trait]
impl AgentSession for BuddySession {
    async fn command(&mut self, by: Principal, command: Command) -> Result<(), AgentError> {
        let (done, outcome) = oneshot::channel();
        let gone = || closed("the session is closed");
        self.orders.send(Order { by, command, done }).await.map_err(|_| gone())?;
        outcome.await.map_err(|_| gone())?
    }

    async fn close(self: Box<Self>) {
        let Self { orders, mut tasks } = *self;
        drop(orders);
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "the driver panicked");
            }
        }
    }
}

fn closed(message: &str) -> AgentError {
    AgentError { failure: Failure { kind: FailureKind::Internal, message: message.to_owned(), hint: None } }
}
