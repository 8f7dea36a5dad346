//! The command that takes a while, and those that wait behind it. Its slow step passes beside the driver's loop.

use std::collections::VecDeque;

use buddy_calls::Slot;
use buddy_protocol::{AgentError, Image};
use futures::future::BoxFuture;
use tokio::task::{JoinError, JoinSet};

use crate::order::{DriverOrder, refused};

/// Commands that wait behind a slow one. More are refused.
const MAX_WAITING: usize = 64;

/// The slow command, and those behind it.
#[derive(Default)]
pub(crate) struct SlowCommands {
    /// The step under way. Dropping it lets go of it.
    step: JoinSet<StepResult>,
    /// The command that it is a step of.
    order: Option<DriverOrder>,
    waiting: VecDeque<DriverOrder>,
}

/// The result of a slow step.
pub(crate) enum StepResult {
    /// The command had none, or only had to wait.
    Nothing,
    /// The images of a prompt, as the model sees them.
    Images(Result<Vec<Image>, AgentError>),
    /// The targets after a change.
    Slots(Result<Vec<Slot>, String>),
    /// The step broke.
    Broken,
}

impl StepResult {
    pub(crate) fn images(self) -> Result<Vec<Image>, AgentError> {
        match self {
            Self::Images(images) => images,
            Self::Broken => Err(refused("an image could not be decoded".to_owned())),
            Self::Nothing | Self::Slots(_) => Ok(Vec::new()),
        }
    }

    pub(crate) fn slots(self) -> Result<Option<Vec<Slot>>, String> {
        match self {
            Self::Slots(slots) => slots.map(Some),
            Self::Broken => Err("the target could not be reached".to_owned()),
            Self::Nothing | Self::Images(_) => Ok(None),
        }
    }
}

impl SlowCommands {
    /// Begins the slow step of a command.
    pub(crate) fn begin(&mut self, order: DriverOrder, step: BoxFuture<'static, StepResult>) {
        self.order = Some(order);
        self.step.spawn(step);
    }

    /// Has a command wait.
    pub(crate) fn wait(&mut self, order: DriverOrder) {
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back(order);
        } else {
            let reason = format!("{MAX_WAITING} commands wait in this session already");
            let _ = order.done.send(Err(refused(reason)));
        }
    }

    /// Gives up the slow command and those behind it. Nothing of them was done.
    pub(crate) fn let_go(&mut self) {
        self.step = JoinSet::new();
        for order in self.order.take().into_iter().chain(self.waiting.drain(..)) {
            let reason = "interrupted before it began; nothing was done".to_owned();
            let _ = order.done.send(Err(refused(reason)));
        }
    }

    /// Whether a command is under way.
    pub(crate) fn is_under_way(&self) -> bool {
        self.order.is_some()
    }

    /// The command whose step has ended.
    pub(crate) fn take_order(&mut self) -> Option<DriverOrder> {
        self.order.take()
    }

    /// The next command that waits, unless one is under way.
    pub(crate) fn next_waiting(&mut self) -> Option<DriverOrder> {
        if self.is_under_way() { None } else { self.waiting.pop_front() }
    }

    /// The result of the step under way; none if there is none.
    pub(crate) async fn next_found(&mut self) -> Option<Result<StepResult, JoinError>> {
        self.step.join_next().await
    }
}
