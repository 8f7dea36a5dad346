//! The approvals of calls, for their rows.

use std::collections::HashMap;

use buddy_protocol::{Answer, Ask, AskId, Fact, GrantScope, ItemId, Question};

/// The answers that allowed something, by the item that they were about.
#[derive(Debug, Default)]
pub(super) struct Allowed {
    /// The items of the questions that wait.
    asked: HashMap<AskId, Vec<Option<ItemId>>>,
    allowed: HashMap<ItemId, &'static str>,
}

impl Allowed {
    pub(super) fn note(&mut self, fact: &Fact) {
        match fact {
            Fact::Asked(asked) => {
                self.asked.insert(asked.ask.id.clone(), items(&asked.ask));
            }
            Fact::Answered(answered) => {
                let items = self.asked.remove(&answered.ask).unwrap_or_default();
                match &answered.answer {
                    Answer::Each { answers } => {
                        items.into_iter().zip(answers).for_each(|(item, answer)| self.allow(item, answer));
                    }
                    answer => items.into_iter().for_each(|item| self.allow(item, answer)),
                }
            }
            Fact::TurnEnded(_) => *self = Self::default(),
            _ => {}
        }
    }

    fn allow(&mut self, item: Option<ItemId>, answer: &Answer) {
        let (Some(item), Answer::Allow { grant, .. }) = (item, answer) else { return };
        let words = match grant.as_ref().map(|grant| grant.scope) {
            None => "allowed once",
            Some(GrantScope::Session) => "allowed this session",
            Some(GrantScope::Project) => "allowed in this project",
            Some(GrantScope::User) => "allowed everywhere",
        };
        self.allowed.insert(item, words);
    }

    /// How an item was allowed; none where nobody was asked.
    pub(super) fn take(&mut self, item: &ItemId) -> Option<&'static str> {
        self.allowed.remove(item)
    }
}

fn items(ask: &Ask) -> Vec<Option<ItemId>> {
    match &ask.question {
        Question::Batch { approvals } => approvals.iter().map(|approval| approval.item.clone()).collect(),
        Question::Approval(approval) => vec![approval.item.clone().or_else(|| ask.item.clone())],
        Question::Text { .. } => Vec::new(),
    }
}
