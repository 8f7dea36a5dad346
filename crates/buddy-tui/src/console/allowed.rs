//! The approvals of calls, for their rows.

use std::collections::{HashMap, VecDeque};

use buddy_protocol::{Answer, Approval, Ask, AskId, Fact, GrantScope, ItemId, Question};

use crate::visible::one_line;

/// Calls whose approval is remembered: more than the rows of a conversation that is taken up.
const REMEMBERED: usize = 50;
/// Characters of the command that the user changed.
const PROPOSED: usize = 40;
const CHANGED: &str = "you changed it";

/// The answers that allowed something, by the item that they were about.
#[derive(Debug, Default)]
pub(super) struct AllowedCalls {
    /// The items of the questions that wait.
    asked: HashMap<AskId, Vec<AskedCall>>,
    /// The newest last.
    allowed: VecDeque<(ItemId, String)>,
}

/// A call that is asked about.
#[derive(Debug)]
struct AskedCall {
    item: Option<ItemId>,
    action: String,
}

impl AllowedCalls {
    pub(super) fn note(&mut self, fact: &Fact) {
        match fact {
            Fact::Asked(asked) => {
                self.asked.insert(asked.ask.id.clone(), items(&asked.ask));
            }
            Fact::Answered(answered) => {
                let items = self.asked.remove(&answered.ask).unwrap_or_default();
                match &answered.answer {
                    Answer::Each { answers } => {
                        items.into_iter().zip(answers).for_each(|(call, answer)| self.allow(call, answer));
                    }
                    answer => items.into_iter().for_each(|call| self.allow(call, answer)),
                }
            }
            Fact::TurnEnded(_) => self.asked.clear(),
            _ => {}
        }
    }

    fn allow(&mut self, call: AskedCall, answer: &Answer) {
        let (Some(item), Answer::Allow { grant, edit, .. }) = (call.item, answer) else { return };
        if edit.is_some() {
            let words = format!("{CHANGED} from `{}`", one_line(&call.action, PROPOSED));
            return self.remember(item, words);
        }
        let words = match grant.as_ref().map(|grant| grant.scope) {
            None => "allowed once",
            Some(GrantScope::Session) => "allowed this session",
            Some(GrantScope::Project) => "allowed in this project",
            Some(GrantScope::User) => "allowed everywhere",
        };
        // A changed command may be asked about again; the change is what a reader has to know.
        if !self.find(&item).is_some_and(|words| words.starts_with(CHANGED)) {
            self.remember(item, words.to_owned());
        }
    }

    fn remember(&mut self, item: ItemId, words: String) {
        self.allowed.retain(|(other, _)| *other != item);
        if self.allowed.len() == REMEMBERED {
            self.allowed.pop_front();
        }
        self.allowed.push_back((item, words));
    }

    /// How an item was allowed; none where nobody was asked.
    pub(super) fn find(&self, item: &ItemId) -> Option<&str> {
        self.allowed.iter().find(|(other, _)| other == item).map(|(_, words)| words.as_str())
    }
}

fn items(ask: &Ask) -> Vec<AskedCall> {
    let call = |approval: &Approval, other: Option<&ItemId>| AskedCall {
        item: approval.item.as_ref().or(other).cloned(),
        action: approval.action.clone(),
    };
    match &ask.question {
        Question::Batch { approvals } => approvals.iter().map(|approval| call(approval, None)).collect(),
        Question::Approval(approval) => vec![call(approval, ask.item.as_ref())],
        Question::Text { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use buddy_protocol::{TurnEnded, TurnOutcome};

    use super::*;

    #[test]
    fn an_approval_is_known_after_its_turn_for_rows_that_are_painted_again() {
        let mut calls = AllowedCalls::default();
        let item: ItemId = format!("itm_{:026}", 1).parse().unwrap();
        calls.remember(item.clone(), "allowed once".to_owned());
        let turn = format!("trn_{:026}", 1).parse().unwrap();
        let outcome = TurnOutcome::Completed;
        calls.note(&Fact::TurnEnded(TurnEnded { turn, outcome, stop_reason: None, failure: None }));
        assert_eq!(calls.find(&item), Some("allowed once"));
    }
}
