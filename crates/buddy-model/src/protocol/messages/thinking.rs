//! Requests for thinking: with a token budget, or with an effort that leaves the budget to the model.

use serde_json::{Map, Value, json};

use crate::Options;

/// The smallest budget that the provider accepts.
const MIN_BUDGET: u64 = 1024;

/// The requested thinking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Thinking {
    /// A token budget. The provider then wants each answer of an open tool loop to begin with its thinking.
    Budget(u64),
    /// An effort, with a budget chosen by the model.
    Effort(String),
}

/// The thinking that the options request, within the bound on the answer.
pub(super) fn wished(options: &Options, max_tokens: u64) -> Option<Thinking> {
    if let Some(budget) = options.thinking_budget {
        // The budget is part of the bound and must leave room for an answer.
        let budget = if budget < max_tokens { budget } else { max_tokens / 2 };
        return (budget >= MIN_BUDGET).then_some(Thinking::Budget(budget));
    }
    options.reasoning_effort.clone().filter(|effort| effort != "none").map(Thinking::Effort)
}

impl Thinking {
    /// Writes the request into a body.
    pub(super) fn write(&self, body: &mut Map<String, Value>) {
        match self {
            Self::Budget(budget) => {
                body.insert("thinking".to_owned(), json!({ "type": "enabled", "budget_tokens": budget }));
            }
            Self::Effort(effort) => {
                body.insert("thinking".to_owned(), json!({ "type": "adaptive" }));
                body.insert("output_config".to_owned(), json!({ "effort": effort }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_leaves_room_for_the_answer() {
        let check = |budget, max_tokens| {
            wished(&Options { thinking_budget: Some(budget), ..Options::default() }, max_tokens)
        };
        assert_eq!(check(2000, 8000), Some(Thinking::Budget(2000)));
        assert_eq!(check(9000, 8000), Some(Thinking::Budget(4000)));
        assert_eq!(check(9000, 2000), None);
        assert_eq!(check(100, 2000), None);
    }
}
