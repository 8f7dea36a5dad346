//! Making room: the old part of a history is summed up, and the turn goes on.

use buddy_model::tokens;
use buddy_protocol::{
    Content, Fact, Failure, FailureKind, Item, ItemEnded, ItemId, ItemStatus, NoticeLevel, TurnOutcome,
};

use super::machine::{
    Charge, Effect, Input, Machine, Turn, TurnState, charged, emit, end, interrupt, notice,
};
use crate::compaction::{Cut, clearable, cut, cut_all, mechanical, reminders, requests};
use crate::history::{history, visible};

/// How often in a row room is made for one call. Each time less is kept.
pub(super) const MAX_COMPACTIONS: u32 = 3;

/// Why room is to be made.
pub(super) enum Want {
    /// By an estimate there are so many tokens.
    Estimated { used: u64 },
    /// The provider refused, in these words.
    Refused(Failure),
    /// A user asked for it.
    Person,
}

impl Machine {
    pub(super) fn step_compacting(&mut self, mut turn: Turn, cut: Cut, input: Input) -> Vec<Effect> {
        match input {
            Input::Summarised { summary, bills } => self.finish_compaction(turn, &cut, summary, bills),
            Input::Interrupted(by) => vec![Effect::DropAside, interrupt(&turn, &by)],
            Input::Prompted { by, said } => {
                let said = self.steer(&by, &mut turn, said);
                // A user who says something while room is made wants an answer.
                turn.is_compaction = false;
                self.state = TurnState::Compacting(turn, cut);
                said
            }
            _ => {
                self.state = TurnState::Compacting(turn, cut);
                Vec::new()
            }
        }
    }

    /// Makes room in a window of so many tokens. Where nothing is left to sum up, the call is made all the same unless it is far too
    /// long or the provider has refused it.
    pub(super) fn compact(&mut self, mut turn: Turn, window: u64, want: Want) -> Vec<Effect> {
        if !turn.is_compaction
            && let Some(kept_from) = clearable(&self.items, window, size)
        {
            return self.clear_results(turn, kept_from);
        }
        let cut = match turn {
            Turn { is_compaction: true, .. } => cut_all(&self.items),
            Turn { compactions: MAX_COMPACTIONS.., .. } => None,
            _ => cut(&self.items, window, size),
        };
        let Some(cut) = cut else {
            if turn.is_compaction {
                let text = "there is nothing to summarise yet".to_owned();
                let notice = emit(notice(NoticeLevel::Info, "nothing_to_compact", text));
                return vec![notice, end(&turn, TurnOutcome::Completed, None)];
            }
            let failure = match want {
                // It may be the estimate that is wrong. The provider knows.
                Want::Estimated { used } if used <= window.saturating_mul(3) / 2 => {
                    turn.calls = turn.calls.saturating_sub(1);
                    turn.is_forced = true;
                    return self.call_model(turn);
                }
                Want::Estimated { used } => cannot_fit(used, window),
                Want::Refused(failure) => failure,
                Want::Person => cannot_fit(self.size(), window),
            };
            return vec![end(&turn, TurnOutcome::Failed, Some(failure))];
        };
        turn.calls = turn.calls.saturating_sub(1);
        let old: Vec<Item> = visible(&self.items).into_iter().take(cut.summed_up).cloned().collect();
        self.state = TurnState::Compacting(turn, cut);
        vec![Effect::Summarise(history(&old))]
    }

    /// Clears the results of the calls before an item, and goes on.
    fn clear_results(&mut self, mut turn: Turn, kept_from: ItemId) -> Vec<Effect> {
        let item = self.whole(&turn, turn.step, Content::ResultsCleared { kept_from });
        self.put(item.clone());
        let text = "buddy cleared long results of older calls to free context".to_owned();
        let mut effects = vec![
            emit(notice(NoticeLevel::Info, "results_cleared", text)),
            emit(Fact::ItemEnded(ItemEnded { item })),
            Effect::ForgetCount,
        ];
        turn.calls = turn.calls.saturating_sub(1);
        effects.extend(self.call_model(turn));
        effects
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
        // Words that came meanwhile are kept too.
        let kept_from = seen.get(cut.summed_up).map(|item| item.id.clone());
        let mut text = summary.unwrap_or_else(|| mechanical(old));
        text.push_str(&requests(&self.items, seen.get(cut.summed_up..).unwrap_or_default()));
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
        let how = if is_mechanical { "without the model, which could not do it" } else { "by the model" };
        let text = format!("{} earlier items summarised {how}", cut.summed_up);
        effects.push(emit(notice(NoticeLevel::Info, "compacted", text)));
        self.put(item.clone());
        effects.push(emit(Fact::ItemEnded(ItemEnded { item })));
        turn.compactions += 1;
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

fn cannot_fit(used: u64, window: u64) -> Failure {
    Failure {
        kind: FailureKind::ContextOverflow,
        message: format!(
            "the conversation does not fit the model's context window, and cannot be made to: it has about {used} tokens, \
             and the window holds {window}"
        ),
        hint: Some("start a new session, or choose a model with a larger context window".to_owned()),
        http_status: None,
    }
}

/// About how many tokens an item takes in a prompt.
fn size(item: &Item) -> u64 {
    tokens::of_items(&history(std::slice::from_ref(item)))
}
