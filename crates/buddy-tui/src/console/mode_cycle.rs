//! The key that goes through the approval modes.

use buddy_protocol::{ApprovalPolicy, Change, Command};

use super::state::Console;
use crate::approval_clock::ModeCycle;
use crate::overview;

impl Console {
    /// From `auto` to asking, to accepting edits, to planning, and round again. Any other policy leads to asking. A plan goes on in
    /// the mode that held before the first press: those in between were only passed. In production no key leads to `auto`.
    pub(super) fn cycle_mode(&mut self) {
        let is_planning = self.front().reader.transcript().is_plan_only();
        let now = self.approvals();
        let from = self.mode_cycle.filter(|cycle| cycle.to == now).map_or(now, |cycle| cycle.from);
        let (approvals, plan_only) = match (is_planning, now) {
            (true, _) if self.surroundings.is_production => (None, Some(false)),
            (true, _) => (Some(ApprovalPolicy::Auto), Some(false)),
            (false, ApprovalPolicy::Ask) => (Some(ApprovalPolicy::Edits), None),
            (false, ApprovalPolicy::Edits) => (Some(mode_of_plan(from)), Some(true)),
            (false, _) => (Some(ApprovalPolicy::Ask), None),
        };
        self.mode_cycle = approvals.map(|to| ModeCycle { from, to });
        self.send(Command::Change(Change { approvals, plan_only, ..Change::default() }));
    }

    /// Something was entered: the mode that holds now was meant, and not only passed.
    pub(super) fn settle_mode(&mut self) {
        self.mode_cycle = None;
    }

    /// The approval mode, in a sentence about the end of plan mode.
    pub(super) fn describe_left_plan(&self) -> String {
        format!("Approvals: {}", overview::describe_policy(self.approvals()))
    }
}

/// The mode in which a plan goes on that was begun in this one. A time would begin anew, so it is not brought back.
fn mode_of_plan(from: ApprovalPolicy) -> ApprovalPolicy {
    match from {
        ApprovalPolicy::All | ApprovalPolicy::Window { .. } => ApprovalPolicy::Ask,
        ApprovalPolicy::Ask | ApprovalPolicy::None | ApprovalPolicy::Edits | ApprovalPolicy::Auto => from,
    }
}
