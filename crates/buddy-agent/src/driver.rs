//! The driver: the one loop that does what the turn machine says and tells it what happened.

use std::collections::HashMap;
use std::sync::Arc;

use buddy_model::{ModelError, ModelErrorKind, PromptItem, ReplyStream};
use buddy_protocol::{
    AgentError, Command, Envelope, EventSink, Fact, Failure, FailureKind, Item, ItemEnded, ItemStatus,
    Principal, SessionChanged, SinkClosed, ToolFailure,
};
use futures::StreamExt;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::agent::Models;
use crate::tools::{Call, Pipeline};
use crate::turn::{Effect, Input, Machine};

/// A command on its way to the driver.
pub(crate) struct Order {
    pub(crate) by: Principal,
    pub(crate) command: Command,
    pub(crate) done: oneshot::Sender<Result<(), AgentError>>,
}

/// What runs one session.
pub(crate) struct Driver {
    pub(crate) machine: Machine,
    pub(crate) models: Models,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) orders: mpsc::Receiver<Order>,
    pub(crate) clock: Arc<dyn buddy_protocol::Clock>,
    pub(crate) work: Work,
}

/// What is under way.
#[derive(Default)]
pub(crate) struct Work {
    /// The model call whose answer streams in. Dropping it closes the connection.
    reply: Option<ReplyStream>,
    /// The calls that run, each ending in its recorded item.
    calls: JoinSet<Item>,
    /// The item of each call, for the case that its task panics.
    items: HashMap<Id, Item>,
    /// Cancelled to stop all calls of the turn.
    cancel: CancellationToken,
}

impl Driver {
    /// Runs until the session is closed or takes no more facts.
    pub(crate) async fn run(mut self) {
        // A closed sink means that the hub has given the session up; there is nobody left to tell.
        let _ = self.drive().await;
        let _ = self.wind_down().await;
    }

    async fn drive(&mut self) -> Result<(), SinkClosed> {
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(order) => self.take(order).await?,
                    None => return Ok(()),
                },
                input = next_input(&mut self.work.reply) => self.feed(input).await?,
                Some(ended) = self.work.calls.join_next_with_id() => {
                    let item = self.ended(ended).await?;
                    self.feed(Input::CallEnded(item)).await?;
                }
            }
        }
    }

    /// Stops what runs and waits for its end, so that nothing outlives the session.
    async fn wind_down(&mut self) -> Result<(), SinkClosed> {
        self.feed(Input::Interrupted).await?;
        while let Some(ended) = self.work.calls.join_next_with_id().await {
            let item = self.ended(ended).await?;
            self.feed(Input::CallEnded(item)).await?;
        }
        self.sink.commit(Vec::new()).await
    }

    async fn take(&mut self, order: Order) -> Result<(), SinkClosed> {
        let Order { by, command, done } = order;
        match command {
            Command::Prompt { text } => self.feed(Input::Prompted { by, text }).await?,
            Command::Interrupt => self.feed(Input::Interrupted).await?,
            Command::Change { model, .. } => {
                let changed = self.change_model(model).await?;
                let _ = done.send(changed);
                return Ok(());
            }
            Command::Answer { .. } | Command::End => {}
        }
        // What is acknowledged is durable.
        self.sink.commit(Vec::new()).await?;
        let _ = done.send(Ok(()));
        Ok(())
    }

    async fn change_model(&mut self, model: Option<String>) -> Result<Result<(), AgentError>, SinkClosed> {
        if let Err(failure) = self.models.choose(model.clone()) {
            return Ok(Err(AgentError { failure }));
        }
        self.sink.commit(vec![Fact::SessionChanged(SessionChanged { title: None, model })]).await?;
        Ok(Ok(()))
    }

    async fn feed(&mut self, input: Input) -> Result<(), SinkClosed> {
        let mut inputs = vec![input];
        while let Some(input) = inputs.pop() {
            for effect in self.machine.step(input) {
                inputs.extend(self.perform(effect).await?);
            }
        }
        Ok(())
    }

    async fn perform(&mut self, effect: Effect) -> Result<Option<Input>, SinkClosed> {
        match effect {
            Effect::Emit(facts) => self.sink.push(facts).await?,
            Effect::CallModel(items) => return Ok(self.call_model(items)),
            Effect::DropModel => self.work.reply = None,
            Effect::RunCalls(calls) => self.run_calls(calls),
            Effect::StopCalls => self.work.cancel.cancel(),
        }
        Ok(None)
    }

    fn call_model(&mut self, items: Vec<PromptItem>) -> Option<Input> {
        match self.models.call(items) {
            Ok(reply) => {
                self.work.reply = Some(reply);
                None
            }
            Err(failure) => Some(Input::ModelFailed(failure)),
        }
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
        let failure = ToolFailure::new("internal", "the tool broke; its outcome is unknown");
        let item = Item { status: ItemStatus::Failed, ..item }
            .with_output(Envelope::new(self.clock.now(), Err(failure)));
        self.sink.push(vec![Fact::ItemEnded(ItemEnded { item: item.clone() })]).await?;
        Ok(item)
    }
}

/// What the model says next. Waits for ever when no call is under way.
async fn next_input(reply: &mut Option<ReplyStream>) -> Input {
    let Some(stream) = reply else { return std::future::pending().await };
    let input = match stream.next().await {
        Some(Ok(delta)) if !matches!(delta, buddy_model::Delta::Finished(_)) => {
            return Input::Streamed(delta);
        }
        Some(Ok(finished)) => Input::Streamed(finished),
        Some(Err(error)) => Input::ModelFailed(failure(&error)),
        None => Input::ModelFailed(Failure {
            kind: FailureKind::Transport,
            message: "the model's answer broke off".to_owned(),
            hint: None,
        }),
    };
    *reply = None;
    input
}

fn failure(error: &ModelError) -> Failure {
    let kind = match error.kind {
        ModelErrorKind::ContextOverflow => FailureKind::ContextOverflow,
        ModelErrorKind::Quota => FailureKind::Quota,
        ModelErrorKind::RateLimit | ModelErrorKind::Overloaded => FailureKind::Unavailable,
        ModelErrorKind::Auth => FailureKind::Auth,
        ModelErrorKind::InvalidRequest | ModelErrorKind::Policy => FailureKind::InvalidRequest,
        ModelErrorKind::ModelMissing => FailureKind::ModelMissing,
        ModelErrorKind::Transport | ModelErrorKind::BadStream => FailureKind::Transport,
        ModelErrorKind::Timeout => FailureKind::Timeout,
    };
    Failure { kind, message: error.to_string(), hint: error.hint.clone() }
}
