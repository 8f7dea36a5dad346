//! Commands that take a while: hosts to reach, images to decode, a model to find out about. The slow step of one passes
//! beside the loop; the commands behind it wait, except for those that stop something.

use buddy_calls::all_attached;
use buddy_protocol::{AgentError, Attachment, Change, Command, Failure, FailureKind, Image, SinkClosed};
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::task::JoinError;

use super::Driver;
use crate::order::{DriverOrder, refused};
use crate::slow_commands::StepResult;

impl Driver {
    /// Takes a command: at once, unless it has to wait for another.
    pub(super) async fn take(&mut self, order: DriverOrder) -> Result<(), SinkClosed> {
        if self.work.slow.is_under_way() && !stops_something(&order.command) {
            self.work.slow.wait(order);
            return Ok(());
        }
        self.begin(order).await
    }

    async fn begin(&mut self, mut order: DriverOrder) -> Result<(), SinkClosed> {
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
        if let Some(order) = self.work.slow.take_order() {
            self.carry_out(order, found).await?;
        }
        while let Some(next) = self.work.slow.next_waiting() {
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
