//! Plan mode as the model learns of it: a reminder with the first prompt after it began or ended. The system prompt stays the same,
//! so that the prompt cache holds.

use buddy_protocol::{Content, Fact, Item, ItemEnded, ReminderCause};

use super::{Effect, Machine, Turn, emit};

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
        let (cause, text) = match self.is_planning {
            true => (ReminderCause::PlanBegan, BEGAN),
            false => (ReminderCause::PlanEnded, ENDED),
        };
        let item = self.whole(turn, turn.step + 1, Content::Reminder { cause, text: text.to_owned() });
        self.put(item.clone());
        Some(emit(Fact::ItemEnded(ItemEnded { item })))
    }
}

/// Whether the last reminder about plan mode says that it is on.
pub(crate) fn was_told_to_plan(items: &[Item]) -> bool {
    let told = items.iter().rev().find_map(|item| match &item.content {
        Content::Reminder { cause: ReminderCause::PlanBegan, .. } => Some(true),
        Content::Reminder { cause: ReminderCause::PlanEnded, .. } => Some(false),
        _ => None,
    });
    told.unwrap_or(false)
}
