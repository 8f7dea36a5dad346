//! Commands of the user's own: started, stopped and taken in beside the turn, one at a time; and ends of commands in the background.

use buddy_protocol::{
    AgentError, AuthoredFact, Fact, Item, ItemId, ItemStarted, ItemStatus, Principal, Ran, SinkClosed,
};
use tokio::task::JoinError;

use super::Driver;
use crate::order::refused;
use crate::person_run::{PersonRun, run_item};
use crate::turn::Input;

impl Driver {
    /// Starts a command of the user's own, beside the turn.
    pub(super) async fn run_as_person(
        &mut self,
        by: Principal,
        command: String,
        target: Option<String>,
    ) -> Result<Result<(), AgentError>, SinkClosed> {
        if self.work.person.is_some() {
            return Ok(Err(refused("a command of yours runs already; stop it first".to_owned())));
        }
        let targets = &self.pipeline.parts.targets;
        let name = target.or_else(|| targets.names().first().cloned()).unwrap_or_default();
        let target = match targets.find(&name) {
            Ok(target) => target,
            Err(failure) => return Ok(Err(refused(failure.message))),
        };
        let reads_secret = self.gate.person_runs(&command, target.ground());
        let run = PersonRun::new(command, reads_secret, target, &self.pipeline.parts);
        self.gate.trace(|trail| trail.called(run.item().id.as_str()));
        // A command is in the log before it runs.
        let started = Fact::ItemStarted(ItemStarted { item: run.item().clone() });
        self.sink.commit_authored(vec![AuthoredFact::new(&by, started)]).await?;
        self.work.person = Some(run.underway(by));
        self.work.runs.spawn(run.run());
        Ok(Ok(()))
    }

    /// Takes in that a command in the background has ended: the model sees it with its next call.
    pub(super) async fn background_ended(&mut self, ran: Ran) -> Result<(), SinkClosed> {
        let item = run_item(ItemId::new(&*self.funds.ids), &ran, ItemStatus::Completed);
        self.feed(Input::PersonRan { by: None, item }).await
    }

    /// Stops the user's command, or the call of a client.
    pub(super) fn stop(&self, item: &ItemId) -> Result<(), AgentError> {
        if self.work.clients.stop(item) {
            return Ok(());
        }
        match self.work.person.as_ref().filter(|underway| underway.item.id == *item) {
            Some(underway) => {
                underway.stop();
                Ok(())
            }
            None => Err(refused("no command of yours runs under this name".to_owned())),
        }
    }

    /// Takes in how it ended, also where its task broke.
    pub(super) async fn person_ran(&mut self, ended: Result<Item, JoinError>) -> Result<(), SinkClosed> {
        let underway = self.work.person.take();
        let by = underway.as_ref().map(|underway| underway.by.clone());
        let item = match (ended, underway) {
            (Ok(item), _) => item,
            (Err(error), Some(underway)) => {
                tracing::error!(%error, "a command of the user broke");
                underway.broken()
            }
            (Err(_), None) => return Ok(()),
        };
        self.feed(Input::PersonRan { by, item }).await
    }
}
