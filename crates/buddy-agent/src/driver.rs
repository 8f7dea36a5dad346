//! The driver: the one loop that does what the turn machine says and tells it what happened.

mod changes;
mod client_calls;
mod outset;
mod person;
mod slow_commands;

use std::collections::HashMap;
use std::sync::Arc;

use buddy_calls::{Call, Gate, Pipeline};
use buddy_model::{Delta, ModelError, ModelErrorKind, PromptItem, Reply, ReplyStream};
use buddy_protocol::{
    AgentError, Answer, Approval, Ask, AskId, Clock, Command, Content, Envelope, EventSink, Fact, Failure,
    FailureKind, Ids, Item, ItemEnded, ItemStatus, Ledger, Notice, NoticeLevel, Principal, Question, Ran,
    Risk, SinkClosed, ToolFailure, TurnId, UnixMillis, UsageReported,
};
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::agent_settings::AgentSettings;
use crate::briefing::is_brief;
use crate::budget::SessionBudget;
use crate::client_calls::ClientCalls;
use crate::driver::outset::{Outset, ReadyCall};
use crate::look_around::LookAround;
use crate::models::Models;
use crate::order::{DriverOrder, refused};
use crate::person_run::Underway;
use crate::slow_commands::{SlowCommands, StepResult};
use crate::summarise::summarise;
use crate::turn::{Charge, Effect, Input, Machine, ModelCall};

/// The parts that run one session.
pub(crate) struct Driver {
    pub(crate) machine: Machine,
    pub(crate) models: Models,
    pub(crate) gate: Arc<Gate>,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) orders: mpsc::Receiver<DriverOrder>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) funds: Funds,
    pub(crate) settings: Arc<AgentSettings>,
    pub(crate) work: DriverWork,
}

/// The most that may be spent, and who is asked for more.
pub(crate) struct Funds {
    pub(crate) budget: SessionBudget,
    pub(crate) ledger: Arc<dyn Ledger>,
    /// Whether a user is there to ask.
    pub(crate) is_attended: bool,
    pub(crate) ids: Arc<dyn Ids>,
    /// Where it happens, for the question.
    pub(crate) place: String,
    pub(crate) cwd: String,
}

/// The work under way.
#[derive(Default)]
pub(crate) struct DriverWork {
    /// The command that takes a while, and those that wait behind it.
    slow: SlowCommands,
    /// The model call that waits until enough is known of its model.
    outset: Outset,
    /// The model call whose answer streams in. Dropping it closes the connection.
    reply: Option<ReplyStream>,
    /// The calls that run, each ending in its recorded item.
    calls: JoinSet<Item>,
    /// The item of each call, for the case that its task panics.
    items: HashMap<Id, Item>,
    /// Cancelled to stop all calls of the turn.
    cancel: CancellationToken,
    /// A look around, a summary or a question under way, ending in an input.
    aside: JoinSet<Input>,
    /// Whether the user has the panes.
    are_panes_taken: bool,
    /// The command that the user runs.
    person: Option<Underway>,
    /// Its task, ending in its item.
    runs: JoinSet<Item>,
    /// The calls that clients make.
    clients: ClientCalls,
}

impl Driver {
    /// Runs until the session is closed or takes no more facts.
    pub(crate) async fn run(mut self) {
        // A closed sink means that the hub has given the session up; there is nobody left to tell.
        let mut ends = self.pipeline.background.take_ends();
        let _ = self.drive(&mut ends).await;
        let _ = self.wind_down().await;
        self.pipeline.background.end().await;
        // The model is told of processes that ended with the session when the session goes on.
        while let Some(Ok(ran)) = ends.as_mut().map(mpsc::Receiver::try_recv) {
            let _ = self.background_ended(ran).await;
        }
        let _ = self.sink.commit(Vec::new()).await;
    }

    async fn drive(&mut self, ends: &mut Option<mpsc::Receiver<Ran>>) -> Result<(), SinkClosed> {
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(order) => self.take(order).await?,
                    None => return Ok(()),
                },
                Some(found) = self.work.slow.next_found() => self.slow_step_ended(found).await?,
                Some(call) = self.work.outset.next_call() => {
                    let input = self.call_ready_model(call).await?;
                    self.feed_some(input).await?;
                }
                spoken = next_words(&mut self.work.reply) => {
                    let input = self.understood(spoken);
                    self.feed(input).await?;
                }
                Some(ended) = self.work.aside.join_next() => {
                    self.aside_ended(ended).await?;
                }
                Some(ended) = self.work.calls.join_next_with_id() => {
                    let item = self.ended(ended).await?;
                    self.feed(Input::CallEnded(item)).await?;
                }
                Some(ended) = self.work.runs.join_next() => self.person_ran(ended).await?,
                Some(ended) = self.work.clients.next_end() => self.client_call_ended(ended).await?,
                Some(ran) = next_end(ends) => self.background_ended(ran).await?,
            }
        }
    }

    /// Takes in how a summary or a question ended. One that was let go of says nothing; one that panicked ends what
    /// waited for it in the safe way: the machine heeds the one of the two that it waits for.
    async fn aside_ended(&mut self, ended: Result<Input, JoinError>) -> Result<(), SinkClosed> {
        match ended {
            Ok(input) => self.feed(input).await,
            Err(error) if error.is_cancelled() => Ok(()),
            Err(error) => {
                tracing::error!(%error, "a look around, a summary or a question panicked");
                self.feed(Input::LookedAround(Vec::new())).await?;
                self.feed(Input::Summarised { summary: None, bills: Vec::new() }).await?;
                self.feed(Input::BudgetAnswered(false)).await
            }
        }
    }

    /// Stops what runs and waits for its end, so that nothing outlives the session.
    async fn wind_down(&mut self) -> Result<(), SinkClosed> {
        self.work.slow.let_go();
        self.feed(Input::Interrupted(Principal::system())).await?;
        while let Some(ended) = self.work.calls.join_next_with_id().await {
            let item = self.ended(ended).await?;
            self.feed(Input::CallEnded(item)).await?;
        }
        if let Some(underway) = &self.work.person {
            underway.stop();
        }
        while let Some(ended) = self.work.runs.join_next().await {
            self.person_ran(ended).await?;
        }
        self.work.clients.stop_all();
        while let Some(ended) = self.work.clients.next_end().await {
            self.client_call_ended(ended).await?;
        }
        self.sink.commit(Vec::new()).await
    }

    /// Carries a command out, with what a slow step found out for it.
    async fn carry_out(&mut self, order: DriverOrder, found: StepResult) -> Result<(), SinkClosed> {
        let DriverOrder { by, command, done } = order;
        let outcome = match command {
            Command::Prompt { text, typed, .. } => match found.images() {
                Ok(images) => {
                    self.prompted(by, Content::UserMessage { text, images, ran: None, typed }).await?;
                    Ok(())
                }
                Err(error) => Err(error),
            },
            Command::Run { command, target } => self.run_as_person(by, command, target).await?,
            Command::Call { tool, input } => self.call_as_client(by, tool, input).await?,
            Command::Stop { item } => self.stop(&item),
            Command::Interrupt { turn } => {
                self.interrupt(by, turn).await?;
                Ok(())
            }
            Command::WindUp { reason } => {
                self.feed(Input::WoundUp { by, reason }).await?;
                Ok(())
            }
            Command::Compact => self.compact(by).await?,
            Command::Change(change) => self.change(&by, change, found).await?,
            Command::Answer { .. } | Command::End => Ok(()),
        };
        // An acknowledged command is durable.
        self.sink.commit(Vec::new()).await?;
        let _ = done.send(outcome);
        Ok(())
    }

    async fn prompted(&mut self, by: Principal, said: Content) -> Result<(), SinkClosed> {
        if let Content::UserMessage { text, typed, .. } = &said {
            self.gate.trace(|trail| trail.person_wrote(typed.as_deref().unwrap_or(text)));
        }
        if self.machine.is_idle() {
            self.grow_tools().await?;
        }
        self.feed(Input::Prompted { by, said }).await
    }

    /// Ends the turn, if it is the one that is meant. One that means any turn also lets go of the commands that wait.
    async fn interrupt(&mut self, by: Principal, turn: Option<TurnId>) -> Result<(), SinkClosed> {
        if turn.is_none() {
            self.work.slow.let_go();
        }
        if turn.is_none() || turn.as_ref() == self.machine.turn() {
            self.feed(Input::Interrupted(by)).await?;
        }
        Ok(())
    }

    async fn compact(&mut self, by: Principal) -> Result<Result<(), AgentError>, SinkClosed> {
        if !self.machine.is_idle() {
            return Ok(Err(refused("a turn runs; room is made when it has ended".to_owned())));
        }
        let window = self.models.window();
        self.feed(Input::CompactRequested { by, window }).await?;
        Ok(Ok(()))
    }

    async fn feed(&mut self, input: Input) -> Result<(), SinkClosed> {
        self.feed_some(Some(input)).await
    }

    async fn feed_some(&mut self, input: Option<Input>) -> Result<(), SinkClosed> {
        let mut inputs = Vec::from_iter(input);
        while let Some(input) = inputs.pop() {
            for effect in self.machine.step(input) {
                inputs.extend(self.perform(effect).await?);
            }
        }
        Ok(())
    }

    async fn perform(&mut self, effect: Effect) -> Result<Option<Input>, SinkClosed> {
        match effect {
            Effect::Emit(facts) => self.sink.push_authored(facts).await?,
            Effect::LookAround => self.look_around(),
            Effect::CallModel(call) => return self.call_model(call).await,
            Effect::DropModel { turn, step, output } => self.drop_model(turn, step, output).await?,
            Effect::RunCalls(calls) => self.run_calls(calls),
            Effect::StopCalls => self.work.cancel.cancel(),
            Effect::ForgetCount => self.models.forget(),
            Effect::Summarise(old) => self.summarise(old),
            Effect::AskForFunds { turn, reason } => return Ok(self.ask_for_funds(turn, reason)),
            Effect::DropAside => self.work.aside.abort_all(),
        }
        Ok(None)
    }

    /// Looks around on the default target, without keeping commands of the session waiting.
    fn look_around(&mut self) {
        let parts = &self.pipeline.parts;
        let Some(slot) = parts.targets.all().into_iter().next() else { return };
        let look = LookAround {
            slot,
            gate: self.gate.clone(),
            web: parts.settings.web.clone(),
            clock: self.clock.clone(),
            limit: self.funds.budget.narrowest(),
            max_steps: self.settings.max_steps,
            time_limit: self.settings.time_limit,
            is_brief: false,
        };
        let (source, chosen) = (self.models.source.clone(), self.models.chosen.clone());
        self.work.aside.spawn(async move {
            source.ready(chosen.as_deref()).await;
            let is_brief = is_brief(&source.facts(chosen.as_deref()));
            Input::LookedAround(LookAround { is_brief, ..look }.gather().await)
        });
    }

    /// Calls the model as soon as enough is known of it, unless the budget says otherwise.
    async fn call_model(&mut self, call: ModelCall) -> Result<Option<Input>, SinkClosed> {
        if !call.is_funded && self.funds.budget.is_set() {
            // All usage until now must be in the log before it is added up.
            self.sink.commit(Vec::new()).await?;
            let Funds { budget, ledger, .. } = &self.funds;
            let facts = self.models.facts();
            if let Some(reason) = budget.breach(&**ledger, self.clock.now(), &facts).await {
                return Ok(Some(Input::BudgetReached(reason)));
            }
        }
        self.work.outset.begin(&self.models, call);
        Ok(None)
    }

    /// Calls the model, unless the window says otherwise.
    async fn call_ready_model(&mut self, ready: ReadyCall) -> Result<Option<Input>, SinkClosed> {
        if ready.model != self.models.chosen {
            // Another model was chosen meanwhile.
            self.work.outset.begin(&self.models, ready.call);
            return Ok(None);
        }
        let ModelCall { history, is_forced, is_text_only, is_funded: _ } = ready.call;
        let facts = self.models.facts();
        self.machine.set_gates(self.settings.gates.gates(&facts.family, self.settings.calls.attendance));
        self.pipeline.parts.texts.set_window(facts.context_window);
        let ready = match self.models.prepare(history, is_text_only) {
            Ok(ready) => ready,
            Err(failure) => return Ok(Some(Input::ModelFailed(failure))),
        };
        self.pipeline.note_offered(ready.tool_names());
        if let Some((window, used)) = ready.overflow().filter(|_| !is_forced) {
            return Ok(Some(Input::ContextFull { window, used }));
        }
        if let Some(text) = self.models.warning(&ready) {
            let code = "context_nearly_full".to_owned();
            self.sink.push(vec![Fact::Notice(Notice { level: NoticeLevel::Warning, code, text })]).await?;
        }
        self.work.reply = Some(self.models.call(ready));
        Ok(None)
    }

    /// Closes the connection to the model. Its provider does not say what the call took, so that is estimated.
    async fn drop_model(&mut self, turn: TurnId, step: u32, output: u64) -> Result<(), SinkClosed> {
        self.work.outset.let_go();
        if self.work.reply.take().is_none() {
            return Ok(());
        }
        let Some(Charge { model, usage, cost }) = self.models.dropped(output) else { return Ok(()) };
        let report = UsageReported { turn, model, step: Some(step), usage, cost };
        self.sink.push(vec![Fact::UsageReported(report)]).await
    }

    fn understood(&mut self, spoken: Spoken) -> Input {
        match spoken {
            Spoken::Words(delta) => Input::Streamed(delta),
            Spoken::Answer(reply) => Input::Answered(self.models.answered(reply)),
            Spoken::Failed(failure) => Input::ModelFailed(failure),
        }
    }

    fn summarise(&mut self, old: Vec<PromptItem>) {
        let (model, facts) = (self.models.model(), self.models.facts());
        self.models.forget();
        self.work.aside.spawn(async move {
            let (summary, bills) = match model {
                Ok(model) => summarise(model, facts, old).await,
                Err(_) => (None, Vec::new()),
            };
            Input::Summarised { summary, bills }
        });
    }

    fn ask_for_funds(&mut self, turn: TurnId, reason: String) -> Option<Input> {
        if !self.funds.is_attended {
            return Some(Input::BudgetUnattended);
        }
        let ask = Ask {
            id: AskId::new(&*self.funds.ids),
            turn: Some(turn),
            item: None,
            question: Question::Approval(Approval {
                item: None,
                actor: "buddy".to_owned(),
                place: self.funds.place.clone(),
                target: None,
                cwd: self.funds.cwd.clone(),
                action: format!("go on beyond the budget for this turn: {reason}"),
                why: None,
                risk: Risk::Medium,
                reasons: vec![reason],
                parts: Vec::new(),
                destinations: Vec::new(),
                risky: Vec::new(),
                limits: None,
                opens: Vec::new(),
                diff: None,
                is_editable: false,
                offers: Vec::new(),
                unfit: None,
                word: None,
            }),
            expires: None,
        };
        let sink = self.sink.clone();
        self.work.aside.spawn(async move {
            Input::BudgetAnswered(matches!(sink.ask(ask).await, Ok(Answer::Allow { .. })))
        });
        None
    }

    fn run_calls(&mut self, calls: Vec<Call>) {
        self.work.cancel = CancellationToken::new();
        for planned in self.pipeline.plan(calls) {
            let item = planned.item().clone();
            let run = self.pipeline.clone().run(planned, self.work.cancel.clone());
            let task = self.work.calls.spawn(run);
            self.work.items.insert(task.id(), item);
        }
    }

    /// The item of a call that ended, also of one that panicked.
    async fn ended(&mut self, ended: Result<(Id, Item), JoinError>) -> Result<Item, SinkClosed> {
        let error = match ended {
            Ok((id, item)) => {
                self.work.items.remove(&id);
                return Ok(item);
            }
            Err(error) => error,
        };
        tracing::error!(%error, "a tool panicked");
        let item = self.work.items.remove(&error.id()).ok_or(SinkClosed)?;
        let item = broken(item, self.clock.now());
        self.sink.push(vec![Fact::ItemEnded(ItemEnded { item: item.clone() })]).await?;
        Ok(item)
    }
}

/// The item of a call whose task broke.
fn broken(item: Item, now: UnixMillis) -> Item {
    let failure = ToolFailure::new("internal", "the tool broke; its outcome is unknown");
    Item { status: ItemStatus::Failed, ..item }.with_output(Envelope::new(now, Err(failure)))
}

/// The next command in the background that ended.
async fn next_end(ends: &mut Option<mpsc::Receiver<Ran>>) -> Option<Ran> {
    match ends {
        Some(ends) => ends.recv().await,
        None => None,
    }
}

/// A message from the model.
enum Spoken {
    Words(Delta),
    Answer(Reply),
    Failed(Failure),
}

/// The next message from the model. Waits for ever when no call is under way.
async fn next_words(reply: &mut Option<ReplyStream>) -> Spoken {
    let Some(stream) = reply else { return std::future::pending().await };
    let spoken = match stream.next().await {
        Some(Ok(Delta::Finished(reply))) => Spoken::Answer(reply),
        Some(Ok(delta)) => return Spoken::Words(delta),
        Some(Err(error)) => Spoken::Failed(failure(&error)),
        None => Spoken::Failed(Failure {
            http_status: None,
            kind: FailureKind::Transport,
            message: "the model's answer was cut off".to_owned(),
            hint: None,
        }),
    };
    *reply = None;
    spoken
}

fn failure(error: &ModelError) -> Failure {
    let kind = match error.kind {
        ModelErrorKind::ContextOverflow => FailureKind::ContextOverflow,
        ModelErrorKind::Quota => FailureKind::Quota,
        ModelErrorKind::RateLimit => FailureKind::RateLimited,
        ModelErrorKind::Overloaded => FailureKind::Unavailable,
        ModelErrorKind::Auth => FailureKind::Auth,
        ModelErrorKind::InvalidRequest | ModelErrorKind::Policy => FailureKind::InvalidRequest,
        ModelErrorKind::ModelMissing => FailureKind::ModelMissing,
        ModelErrorKind::Transport | ModelErrorKind::BadStream => FailureKind::Transport,
        ModelErrorKind::Timeout => FailureKind::Timeout,
    };
    Failure { http_status: error.status, kind, message: error.to_string(), hint: error.hint.clone() }
}
