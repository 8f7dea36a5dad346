//! The agent as the hub sees it.

use std::sync::Arc;

use async_trait::async_trait;
use buddy_calls::{
    Background, Gate, Pipeline, PipelineParts, SessionTools, Targets, TextRoom, registry, retrace,
    reword_fact,
};
use buddy_exec::managed::Owner;
use buddy_policy::Attendance;
use buddy_protocol::{
    Agent, AgentError, AgentSession, ApprovalPolicy, Command, CommandOutcome, Content, EventSink, Fact,
    Failure, FailureKind, Introduction, Item, NewSession, Opening, Principal, PrincipalId, SessionChanged,
    SessionStarted, SessionTarget, SinkClosed,
};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::agent_settings::AgentSettings;
use crate::briefing::{Briefing, place};
use crate::budget::SessionBudget;
use crate::driver::{Driver, DriverWork, Funds};
use crate::models::{Meter, Models};
use crate::order::DriverOrder;
use crate::tool_notice::refuse_tool;
use crate::turn::Machine;

/// Commands that may wait for a driver.
const ORDERS: usize = 16;

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

    async fn introduce(&self, new: &NewSession) -> Option<Introduction> {
        let settings = &self.settings;
        let model = new.model.as_deref();
        Some(Introduction {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: settings.models.model(model).ok().map(|model| model.name().to_owned()),
            mode: settings.mode.clone(),
            approvals: begin_with(settings.approvals, new.terms.approvals),
            tools: offered(settings, new).await,
        })
    }

    async fn open(
        &self,
        opening: Opening,
        sink: Arc<dyn EventSink>,
    ) -> Result<Box<dyn AgentSession>, AgentError> {
        let (orders, queue) = mpsc::channel(ORDERS);
        let driver = driver(&self.settings, opening, sink, queue).await?;
        let background = driver.pipeline.background.clone();
        let mut tasks = JoinSet::new();
        tasks.spawn(driver.run());
        Ok(Box::new(BuddySession { orders, tasks, background }))
    }
}

/// The names of the tools that the model of a new session is offered, as far as its window is known. A host that cannot be reached is told when the session is opened.
async fn offered(settings: &Arc<AgentSettings>, new: &NewSession) -> Vec<String> {
    let here = [SessionTarget::local(&new.cwd)];
    let recorded = if new.targets.is_empty() { &here } else { new.targets.as_slice() };
    let opened = open_targets(settings, None, recorded).await;
    let facts = settings.models.facts(new.model.as_deref());
    let gate = Gate::new(settings.approvals, settings.calls.attendance, false);
    gate.open_window(settings.window);
    let (tools, _) = session_tools(settings, new.terms.tools.clone());
    let offer = opened.and_then(|(targets, _)| {
        Briefing::new(settings, tools.current(), None, &targets, &gate).offer(&facts)
    });
    offer.map(|offer| offer.tools.iter().map(|tool| tool.name.clone()).collect()).unwrap_or_default()
}

/// The tools of a session with these names only, or all of them.
fn session_tools(settings: &AgentSettings, allowed: Option<Vec<String>>) -> (SessionTools, Vec<String>) {
    SessionTools::open(registry::built_in(), settings.calls.tools.clone(), allowed)
}

async fn driver(
    settings: &Arc<AgentSettings>,
    opening: Opening,
    sink: Arc<dyn EventSink>,
    orders: mpsc::Receiver<DriverOrder>,
) -> Result<Driver, AgentError> {
    let started = opening.transcript.started().ok_or_else(|| closed("the session has no beginning"))?;
    let targets = targets(settings, &opening, started, &*sink).await?;
    let gate =
        Arc::new(Gate::new(settings.approvals, settings.calls.attendance, opening.transcript.is_plan_only()));
    gate.open_window(settings.window);
    let trail = retrace(&opening.transcript, &targets);
    gate.trace(|blank| *blank = trail);
    // Approvals for longer do not outlive a run, and the log says so. A user who wanted to be asked still is.
    let recorded = opening.transcript.approvals();
    let keeps_asking = settings.keeps_asking && recorded == Some(ApprovalPolicy::Ask);
    if keeps_asking {
        gate.set_approvals(ApprovalPolicy::Ask);
    }
    let terms = started.terms.clone();
    let begins_with = begin_with(settings.approvals, terms.approvals);
    let approvals = if keeps_asking { ApprovalPolicy::Ask.narrower(begins_with) } else { begins_with };
    if terms.approvals.is_some() {
        gate.set_approvals(approvals);
    }
    if recorded.is_some_and(|recorded| recorded != approvals) {
        let changed = SessionChanged { approvals: Some(approvals), ..SessionChanged::default() };
        let told = sink.push(vec![Fact::SessionChanged(changed)]).await;
        told.map_err(|SinkClosed| closed("the session is closed"))?;
    }
    let (tools, refused) = session_tools(settings, terms.tools);
    let told = sink.push(refused.into_iter().map(refuse_tool).collect()).await;
    told.map_err(|SinkClosed| closed("the session is closed"))?;
    let set = tools.current();
    let parts = PipelineParts {
        targets: targets.clone(),
        settings: settings.calls.clone(),
        gate: gate.clone(),
        owner: Owner { person: started.owner.id.to_string(), session: opening.session.to_string() },
        texts: TextRoom::new(settings.calls.texts),
        sink: sink.clone(),
    };
    let pipeline = Pipeline::new(parts, tools);
    let briefing = Briefing::new(settings, set.clone(), terms.instructions, &targets, &gate);
    let models = Models {
        source: settings.models.clone(),
        chosen: opening.transcript.model().map(str::to_owned),
        briefing,
        cache_key: opening.session.to_string(),
        meter: Meter::default(),
    };
    let funds = funds(settings, &opening, started, approvals, &targets);
    let is_plan_only = opening.transcript.is_plan_only();
    let items = opening.transcript.into_items();
    let mut machine = Machine::new(settings.calls.ids.clone(), targets.names(), settings.max_steps, items);
    machine.set_planning(is_plan_only);
    machine.set_tools(set);
    let clock = settings.calls.clock.clone();
    let settings = settings.clone();
    Ok(Driver {
        machine,
        models,
        gate,
        pipeline,
        sink,
        orders,
        clock,
        funds,
        settings,
        work: DriverWork::default(),
    })
}

/// The money that the session may spend, and whether a user is asked for more.
fn funds(
    settings: &AgentSettings,
    opening: &Opening,
    started: &SessionStarted,
    approvals: ApprovalPolicy,
    targets: &Targets,
) -> Funds {
    let limits = opening.limits.clone();
    Funds {
        budget: SessionBudget::new(
            settings.budget,
            limits,
            opening.session.clone(),
            started.owner.id.clone(),
        ),
        ledger: settings.ledger.clone(),
        is_attended: settings.calls.attendance == Attendance::Somebody
            && matches!(
                settings.approvals,
                ApprovalPolicy::Ask | ApprovalPolicy::Auto | ApprovalPolicy::Edits
            )
            && approvals != ApprovalPolicy::None,
        ids: settings.calls.ids.clone(),
        place: targets.all().first().map(|slot| place(slot.spec())).unwrap_or_default(),
        cwd: started.cwd.clone(),
    }
}

/// The policy on approvals that a run of a session begins with: that of the run, or a narrower one of the session's terms.
fn begin_with(run: ApprovalPolicy, widest: Option<ApprovalPolicy>) -> ApprovalPolicy {
    widest.map_or(run, |widest| run.narrower(widest))
}

/// The targets of a session that is taken up. What is to be said about them goes to the log.
async fn targets(
    settings: &AgentSettings,
    opening: &Opening,
    started: &SessionStarted,
    sink: &dyn EventSink,
) -> Result<Arc<Targets>, AgentError> {
    let here = [SessionTarget::local(&started.cwd)];
    let recorded = match opening.transcript.targets() {
        [] => &here,
        recorded => recorded,
    };
    let opened = open_targets(settings, Some(&started.owner), recorded).await;
    let (targets, facts) = opened.map_err(|error| closed(&error))?;
    if let Some(other) =
        other_target(opening.transcript.items(), &targets.names(), opening.transcript.targets())
    {
        return Err(closed(&format!(
            "this session works on `{other}`, which its log does not say how to reach; name it on the command line"
        )));
    }
    let facts = facts.into_iter().map(|fact| reword_fact(fact, settings.calls.attendance)).collect();
    sink.push(facts).await.map_err(|SinkClosed| closed("the session is closed"))?;
    Ok(Arc::new(targets))
}

/// The targets of a session, for the user who owns it or whom its owner acts for. A session that is not started has no owner yet.
async fn open_targets(
    settings: &AgentSettings,
    owner: Option<&Principal>,
    recorded: &[SessionTarget],
) -> Result<(Targets, Vec<Fact>), String> {
    let user = owner.map_or(PrincipalId::System, |owner| match owner.acting_user() {
        Some(user) => PrincipalId::User(user.clone()),
        None => owner.id.clone(),
    });
    let calls = &settings.calls;
    Targets::open(user, calls.hosts.clone(), calls.web.endpoints.clone(), recorded).await
}

/// The target of an earlier call, when the log names no targets and this is none of those that are at hand: its paths and
/// what was found there mean nothing here.
fn other_target<'i>(items: &'i [Item], names: &[String], recorded: &[SessionTarget]) -> Option<&'i str> {
    let targets = items.iter().filter_map(|item| match &item.content {
        Content::ToolCall(call) => call.target.as_deref(),
        _ => None,
    });
    targets
        .into_iter()
        .filter(|_| recorded.is_empty())
        .find(|target| !names.iter().any(|name| name == target))
}

struct BuddySession {
    orders: mpsc::Sender<DriverOrder>,
    tasks: JoinSet<()>,
    background: Arc<Background>,
}

#[async_trait]
impl AgentSession for BuddySession {
    async fn command(&mut self, by: Principal, command: Command) -> CommandOutcome {
        let (done, outcome) = oneshot::channel();
        // A driver that is gone answers nothing.
        let _ = self.orders.send(DriverOrder { by, command, done }).await;
        Box::pin(async { outcome.await.map_err(|_| closed("the session is closed"))? })
    }

    fn is_busy(&self) -> bool {
        self.background.is_busy()
    }

    async fn close(self: Box<Self>) {
        let Self { orders, mut tasks, .. } = *self;
        drop(orders);
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "the driver panicked");
            }
        }
    }
}

fn closed(message: &str) -> AgentError {
    AgentError {
        failure: Failure {
            http_status: None,
            kind: FailureKind::Internal,
            message: message.to_owned(),
            hint: None,
        },
    }
}
