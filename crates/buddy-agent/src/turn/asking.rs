//! Waiting for a user who decides whether to go on beyond the budget.

use buddy_protocol::{Failure, FailureKind, TurnOutcome};

use super::machine::{Effect, Ending, Input, Machine, Turn, TurnState, interrupt};

impl Machine {
    pub(super) fn step_asking(&mut self, mut turn: Turn, input: Input) -> Vec<Effect> {
        match input {
            Input::BudgetAnswered(true) => {
                turn.is_funded = true;
                turn.calls = turn.calls.saturating_sub(1);
                self.call_model(turn)
            }
            // Someone who says no does not pay for a report.
            Input::BudgetAnswered(false) => vec![spent().fact(&turn)],
            Input::BudgetUnattended => {
                turn.calls = turn.calls.saturating_sub(1);
                turn.is_funded = true;
                self.report(turn, spent())
            }
            Input::Interrupted(by) => vec![Effect::DropAside, interrupt(&turn, &by)],
            Input::Prompted { by, said } => {
                let said = self.steer(&by, &mut turn, said);
                self.state = TurnState::Asking(turn);
                said
            }
            _ => {
                self.state = TurnState::Asking(turn);
                Vec::new()
            }
        }
    }
}

/// The end of a turn whose budget is used up.
fn spent() -> Ending {
    let failure = Failure {
        http_status: None,
        kind: FailureKind::Budget,
        message: "the budget is used up".to_owned(),
        hint: Some("raise the limit in [budget], or with --max-cost and --max-tokens".to_owned()),
    };
    let limit = failure.message.clone();
    Ending::failed(TurnOutcome::Failed, failure, limit)
}
