//! Making room: the old part of a history is summed up, and the turn goes on.

use buddy_model::tokens;
use buddy_protocol::{
    Content, Fact, Failure, FailureKind, Item, ItemEnded, ItemId, ItemStatus, NoticeLevel, TurnOutcome,
};

use super::{Charge, Effect, Input, Machine, State, Turn, charged, emit, end, notice};
use crate::compaction::{Cut, cut, cut_all, mechanical, reminders};
use crate::history::{history, visible};

impl Machine {
    pub(super) fn step_compacting(&mut self, mut turn: Turn, cut: Cut, input: Input) -> Vec<Effect> {
        match input {
            Input::Summarised { summary, bills } => self.finish_compaction(turn, &cut, summary, bills),
            Input::Interrupted => vec![Effect::DropAside, end(&turn, TurnOutcome::Interrupted, None)],
            Input::Prompted { said, .. } => {
                let said = self.steer(&mut turn, said);
                // Whoever says something while room is made wants an answer.
                turn.is_compaction = false;
                self.state = State::Compacting(turn, cut);
                vec![said]
            }
            _ => {
                self.state = State::Compacting(turn, cut);
                Vec::new()
            }
        }
    }

    /// Makes room in a window of so many tokens, or says that it cannot be made, in the provider's words where it has
    /// some.
    pub(super) fn compact(&mut self, mut turn: Turn, window: u64, refusal: Option<Failure>) -> Vec<Effect> {
        let cut = match turn {
            Turn { is_compacted: true, .. } => None,
            Turn { is_compaction: true, .. } => cut_all(&self.items),
            _ => cut(&self.items, window, size),
        };
        let Some(cut) = cut else {
            if turn.is_compaction {
                let text = "there is nothing to sum up yet".to_owned();
                let notice = emit(notice(NoticeLevel::Info, "nothing_to_compact", text));
                return vec![notice, end(&turn, TurnOutcome::Completed, None)];
            }
            let failure = refusal.unwrap_or_else(|| Failure {
                http_status: None,
                kind: FailureKind::ContextOverflow,
                message: "the conversation does not fit the model's context window, and cannot be made to"
                    .to_owned(),
                hint: Some("start a new session, or choose a model with a larger context window".to_owned()),
            });
            return vec![end(&turn, TurnOutcome::Failed, Some(failure))];
        };
        turn.calls = turn.calls.saturating_sub(1);
        let old: Vec<Item> = visible(&self.items).into_iter().take(cut.summed_up).cloned().collect();
        self.state = State::Compacting(turn, cut);
        vec![Effect::Summarise(history(&old))]
    }

    pub(super) fn finish_compaction(
        &mut self,
        mut turn: Turn,
        cut: &Cut,
        summary: Option<String>,
        bills: Vec<Charge>,
    ) -> Vec<Effect> {
        let mut effects: Vec<Effect> = bills.into_iter().map(|charge| charged(&turn, charge)).collect();
        let is_mechanical = summary.is_none();
        let seen = visible(&self.items);
        let old = seen.get(..cut.summed_up).unwrap_or_default();
        // What was said meanwhile is kept too.
        let kept_from = seen.get(cut.summed_up).map(|item| item.id.clone());
        let mut text = summary.unwrap_or_else(|| mechanical(old));
        text.push_str(&reminders(&self.items));
        let item = Item {
            id: ItemId::new(&*self.ids),
            turn: Some(turn.id.clone()),
            step: None,
            place: None,
            parent: None,
            status: ItemStatus::Completed,
            content: Content::Compaction { summary: text, kept_from },
            private: None,
        };
        let how = if is_mechanical { "by rule, as no model could do it" } else { "by the model" };
        let text = format!("{} earlier items were summed up {how}", cut.summed_up);
        effects.push(emit(notice(NoticeLevel::Info, "compacted", text)));
        self.put(item.clone());
        effects.push(emit(Fact::ItemEnded(ItemEnded { item })));
        turn.is_compacted = true;
        if turn.is_compaction {
            effects.push(end(&turn, TurnOutcome::Completed, None));
        } else {
            effects.extend(self.call_model(turn));
        }
        effects
    }

    /// About how many tokens the history has.
    pub(super) fn size(&self) -> u64 {
        visible(&self.items).into_iter().map(size).sum()
    }
}

/// About how many tokens an item takes in a prompt.
fn size(item: &Item) -> u64 {
    tokens::of_items(&history(std::slice::from_ref(item)), None)
}
