//! Commands that take a while: hosts to reach, images to decode, a model to find out about. The slow step of one passes
//! beside the loop; the commands behind it wait, except for those that stop something.

use std::collections::VecDeque;

use buddy_calls::{Slot, all_attached};
use buddy_protocol::{AgentError, Attachment, Change, Command, Failure, FailureKind, Image, SinkClosed};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::task::{JoinError, JoinSet};

use super::{Driver, Order, refused};

/// Commands that wait behind a slow one. More are refused.
const MAX_WAITING: usize = 64;

/// The slow command, and those behind it.
#[derive(Default)]
pub(crate) struct SlowCommands {
    /// The step under way. Dropping it lets go of it.
    step: JoinSet<StepResult>,
    /// The command that it is a step of.
    order: Option<Order>,
    waiting: VecDeque<Order>,
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
    pub(super) fn images(self) -> Result<Vec<Image>, AgentError> {
        match self {
            Self::Images(images) => images,
            Self::Broken => Err(refused("an image could not be decoded".to_owned())),
            Self::Nothing | Self::Slots(_) => Ok(Vec::new()),
        }
    }

    pub(super) fn slots(self) -> Result<Option<Vec<Slot>>, String> {
        match self {
            Self::Slots(slots) => slots.map(Some),
            Self::Broken => Err("the target could not be reached".to_owned()),
            Self::Nothing | Self::Images(_) => Ok(None),
        }
    }
}

impl SlowCommands {
    fn begin(&mut self, order: Order, step: BoxFuture<'static, StepResult>) {
        self.order = Some(order);
        self.step.spawn(step);
    }

    fn wait(&mut self, order: Order) {
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push_back(order);
        } else {
            let reason = format!("{MAX_WAITING} commands wait in this session already");
            let _ = order.done.send(Err(refused(reason)));
        }
    }

    /// Gives up the slow command and those behind it. Nothing of them was done.
    pub(super) fn let_go(&mut self) {
        self.step = JoinSet::new();
        for order in self.order.take().into_iter().chain(self.waiting.drain(..)) {
            let reason = "interrupted before it began; nothing was done".to_owned();
            let _ = order.done.send(Err(refused(reason)));
        }
    }

    /// The result of the step under way; none if there is none.
    pub(super) async fn next_found(&mut self) -> Option<Result<StepResult, JoinError>> {
        self.step.join_next().await
    }
}

impl Driver {
    /// Takes a command: at once, unless it has to wait for another.
    pub(super) async fn take(&mut self, order: Order) -> Result<(), SinkClosed> {
        if self.work.slow.order.is_some() && !stops_something(&order.command) {
            self.work.slow.wait(order);
            return Ok(());
        }
        self.begin(order).await
    }

    async fn begin(&mut self, mut order: Order) -> Result<(), SinkClosed> {
        match self.slow_step(&mut order.command) {
            Some(step) => {
                self.work.slow.begin(order, step);
                Ok(())
            }
            None => self.carry_out(order, StepResult::Nothing).await,
        }
    }

    /// The slow step of a command, if it has one.
    fn slow_step(&self, command: &mut Command) -> Option<BoxFuture<'static, StepResult>> {
        match command {
            Command::Prompt { images, .. } if !images.is_empty() => {
                let images = std::mem::take(images);
                Some(async { StepResult::Images(decode(images).await) }.boxed())
            }
            Command::Change(Change { target: Some(change), .. }) => {
                let (targets, change) = (self.pipeline.parts.targets.clone(), change.clone());
                Some(async move { StepResult::Slots(targets.after(&change).await) }.boxed())
            }
            Command::Compact if self.machine.is_idle() => {
                let (source, chosen) = (self.models.source.clone(), self.models.chosen.clone());
                let ready = async move {
                    source.ready(chosen.as_deref()).await;
                    StepResult::Nothing
                };
                Some(ready.boxed())
            }
            _ => None,
        }
    }

    /// Carries the slow command out, then those behind it.
    pub(super) async fn slow_step_ended(
        &mut self,
        ended: Result<StepResult, JoinError>,
    ) -> Result<(), SinkClosed> {
        let found = ended.unwrap_or_else(|error| {
            tracing::error!(%error, "a step of a command broke");
            StepResult::Broken
        });
        if let Some(order) = self.work.slow.order.take() {
            self.carry_out(order, found).await?;
        }
        while self.work.slow.order.is_none()
            && let Some(next) = self.work.slow.waiting.pop_front()
        {
            self.begin(next).await?;
        }
        Ok(())
    }
}

/// Whether a command stops something, and therefore waits for no other.
fn stops_something(command: &Command) -> bool {
    matches!(command, Command::Interrupt { .. } | Command::WindUp { .. } | Command::Stop { .. })
}

/// The images that come with a prompt, as the model sees them.
async fn decode(attachments: Vec<Attachment>) -> Result<Vec<Image>, AgentError> {
    let decoded = tokio::task::spawn_blocking(move || all_attached(attachments)).await;
    let decoded = decoded.map_err(|_| refused("an image could not be decoded".to_owned()))?;
    decoded.map_err(|error| AgentError {
        failure: Failure {
            http_status: None,
            kind: FailureKind::InvalidRequest,
            message: error.to_string(),
            hint: None,
        },
    })
}
