//! Plan mode as the model learns of it: a reminder with the first prompt after it began or ended. The system prompt stays the same,
//! so that the prompt cache holds. In a long turn, models that lose sight of their plan are told it again.

use buddy_protocol::{Content, Fact, ItemEnded, PlanStepState, ReminderCause};

use super::machine::{Effect, Machine, Turn, emit};
use crate::compaction::was_told_to_plan;

/// Rounds of calls without a change of the plan after which it is repeated.
const RECITE_AFTER: u32 = 15;

const BEGAN: &str = "Plan mode is on: nothing is changed now. Calls that write, and commands that are not known to only read, are denied. \
                     Find out what you need by reading, then answer with a plan: what you would change and where, how you would \
                     check it, and what is open.";
const ENDED: &str =
    "Plan mode is off: you can change files and run commands again, as far as they are allowed.";

impl Machine {
    /// Sets whether the agent only reads and plans. The model is told with the next prompt.
    pub(crate) fn set_planning(&mut self, is_planning: bool) {
        self.is_planning = is_planning;
    }

    /// The reminder that goes before a prompt, where plan mode began or ended since the last one.
    pub(super) fn remind_of_plan_mode(&mut self, turn: &Turn) -> Option<Effect> {
        if was_told_to_plan(&self.items) == self.is_planning {
            return None;
        }
        let (cause, text) = if self.is_planning {
            (ReminderCause::PlanBegan, BEGAN)
        } else {
            (ReminderCause::PlanEnded, ENDED)
        };
        let item = self.whole(turn, turn.step + 1, Content::Reminder { cause, text: text.to_owned() });
        self.put(item.clone());
        Some(emit(Fact::ItemEnded(ItemEnded { item })))
    }
}

impl Machine {
    /// The open plan, for a model that has not touched it for many rounds. Call once a round.
    pub(super) fn plan_to_recite(&self, turn: &mut Turn) -> Option<String> {
        turn.rounds_since_plan += 1;
        if !self.gates.recite || turn.rounds_since_plan < RECITE_AFTER {
            return None;
        }
        turn.rounds_since_plan = 0;
        let steps = self.items.iter().rev().find_map(|item| match &item.content {
            Content::Plan { steps } => Some(steps),
            _ => None,
        })?;
        if steps.iter().all(|step| step.state == PlanStepState::Done) {
            return None;
        }
        let lines: Vec<String> =
            steps.iter().map(|step| format!("- [{:?}] {}", step.state, step.text)).collect();
        Some(format!(
            "This is your plan. Go on with the next open step; if the plan no longer fits, change it with `update_plan`.\n{}",
            lines.join("\n")
        ))
    }
}
