//! Changes of a session's settings, targets and tools. The log has each before it holds.

use std::sync::Arc;

use buddy_calls::{Attached, Slot, ToolsFound, changed, news};
use buddy_protocol::{AgentError, AuthoredFact, Change, Fact, Principal, SessionChanged, SinkClosed};

use super::Driver;
use crate::order::refused;
use crate::slow_commands::StepResult;
use crate::tool_notice::refuse_tool;

impl Driver {
    /// Changes the settings of the session. A target that is to be added or used was reached before.
    pub(super) async fn change(
        &mut self,
        by: &Principal,
        change: Change,
        found: StepResult,
    ) -> Result<Result<(), AgentError>, SinkClosed> {
        let Change { model, approvals, plan_only, panes_taken, .. } = change;
        let slots = match found.slots() {
            Ok(slots) => slots,
            Err(reason) => return Ok(Err(refused(reason))),
        };
        if model.is_some()
            && let Err(failure) = self.models.choose(model.clone())
        {
            return Ok(Err(AgentError { failure }));
        }
        if panes_taken.is_some() && !self.attached().iter().any(|attached| has_panes(attached)) {
            return Ok(Err(refused("this session has no shared panes".to_owned())));
        }
        if let Some(slots) = slots {
            self.change_targets(by, slots).await?;
        }
        // The log says who moved the gate before it moves.
        let changed =
            SessionChanged { model, approvals, plan_only, panes_taken, ..SessionChanged::default() };
        if changed != SessionChanged::default() {
            let changed = AuthoredFact::new(by, Fact::SessionChanged(changed));
            self.sink.commit_authored(vec![changed]).await?;
        }
        if let Some(approvals) = approvals {
            self.gate.set_approvals(approvals);
        }
        if let Some(plan_only) = plan_only {
            self.gate.set_plan_only(plan_only);
            self.machine.set_planning(plan_only);
        }
        if let Some(is_taken) = panes_taken {
            self.work.are_panes_taken = is_taken;
            self.hand_panes(is_taken);
        }
        Ok(Ok(()))
    }

    fn attached(&self) -> Vec<Arc<Attached>> {
        self.pipeline.parts.targets.attached()
    }

    /// Gives the panes of all targets to the user, or takes them back.
    fn hand_panes(&self, is_taken: bool) {
        for attached in self.attached() {
            match attached.host.target.panes() {
                Some(panes) if is_taken => panes.hand_over(),
                Some(panes) => panes.take_back(),
                None => {}
            }
        }
    }

    /// Takes the targets as they are after a change.
    async fn change_targets(&mut self, by: &Principal, slots: Vec<Slot>) -> Result<(), SinkClosed> {
        let targets = self.pipeline.parts.targets.clone();
        let before = self.attached();
        let facts = [changed(&slots)].into_iter().chain(news(&targets.all(), &slots));
        self.sink.commit_authored(facts.map(|fact| AuthoredFact::new(by, fact)).collect()).await?;
        targets.replace(slots);
        if self.work.are_panes_taken {
            self.hand_panes(true);
            // Who lets go of a host can give nothing back there later.
            for gone in before.iter().filter(|gone| !targets.names().contains(&gone.spec.name)) {
                if let Some(panes) = gone.host.target.panes() {
                    panes.take_back();
                }
            }
        }
        self.machine.set_targets(targets.names());
        self.brief_again();
        Ok(())
    }

    /// Tells models the tools and the targets that there are now, from the next call on.
    fn brief_again(&mut self) {
        let parts = &self.pipeline.parts;
        let briefing = self.models.briefing.again(self.pipeline.tools.current(), &parts.targets, &self.gate);
        self.models.brief(briefing);
    }

    /// Takes in tools that there are only now, before a turn begins.
    pub(super) async fn grow_tools(&mut self) -> Result<(), SinkClosed> {
        let ToolsFound { new, refused } = self.pipeline.tools.grow();
        let mut facts: Vec<Fact> = refused.into_iter().map(refuse_tool).collect();
        let has_grown = !new.is_empty();
        facts.extend(has_grown.then(|| {
            Fact::SessionChanged(SessionChanged { new_tools: Some(new), ..SessionChanged::default() })
        }));
        self.sink.push(facts).await?;
        if has_grown {
            self.machine.set_tools(self.pipeline.tools.current());
            self.brief_again();
        }
        Ok(())
    }
}

fn has_panes(attached: &Attached) -> bool {
    attached.host.target.panes().is_some()
}
