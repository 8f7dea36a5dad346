//! The end of a round and of a turn: the gates that let a model go on, ask it to look again, or ask it for a report.

use buddy_model::{Reply, ReplyItem, StopReason};
use buddy_protocol::{Content, Fact, Failure, FailureKind, ItemEnded, ReminderCause, TurnOutcome};

use super::machine::{Checks, Effect, Ending, Machine, Turn, emit, end};
use crate::stuck::Repetition;

/// Characters of the request that a reminder repeats.
const MAX_REQUEST: usize = 2_000;

/// A lack of the last answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lack {
    Empty,
    Cut,
}

impl Machine {
    /// The lack of an answer that the model can be asked to make good.
    pub(super) fn lack_of(&self, turn: &Turn, reply: &Reply, is_paused: bool) -> Option<Lack> {
        if !self.gates.retry || turn.is_asked_again || is_paused {
            return None;
        }
        let says = |item: &ReplyItem| match item {
            ReplyItem::Text { text, .. } => !text.trim().is_empty(),
            ReplyItem::ToolCall { .. } => true,
            ReplyItem::Reasoning { .. } => false,
        };
        match reply.stop {
            StopReason::Length => Some(Lack::Cut),
            StopReason::Refusal | StopReason::Filter | StopReason::Paused => None,
            _ if !reply.items.iter().any(says) => Some(Lack::Empty),
            _ => None,
        }
    }

    /// Ends a turn whose last answer called no tool, unless something is to be looked at again.
    pub(super) fn finish(&mut self, mut turn: Turn, lack: Option<Lack>) -> Vec<Effect> {
        if let Some(lack) = lack {
            turn.is_asked_again = true;
            let text = match lack {
                Lack::Empty => {
                    "Your answer was empty. Go on with the work: call a tool, or give your answer as text."
                }
                Lack::Cut => {
                    "Your answer was cut off at the output limit. If you were answering, give the whole answer again, shorter. \
                     Otherwise go on with a tool call, and write long files in parts."
                }
            };
            return self.remind_and_call(turn, ReminderCause::Incomplete, text.to_owned());
        }
        let Checks { is_unchecked, is_reminded } = turn.checks;
        if self.gates.finish && is_unchecked && !is_reminded {
            turn.checks.is_reminded = true;
            let text = check_again(&self.request());
            return self.remind_and_call(turn, ReminderCause::Unverified, text);
        }
        vec![end(&turn, TurnOutcome::Completed, None)]
    }

    /// Ends a round of calls: goes on, tells the model that it repeats itself, or ends the turn.
    pub(super) fn end_round(&mut self, mut turn: Turn) -> Vec<Effect> {
        turn.is_asked_again = false;
        // A user who says something new breaks the cycle.
        match turn.rounds.close().filter(|_| self.gates.stuck && !turn.is_steered) {
            None => match self.plan_to_recite(&mut turn) {
                Some(text) => self.remind_and_call(turn, ReminderCause::PlanRecited, text),
                None => self.call_model(turn),
            },
            Some(Repetition::Tell(text)) => self.remind_and_call(turn, ReminderCause::Repeating, text),
            Some(Repetition::Stop(times)) => {
                let failure = Failure {
                    http_status: None,
                    kind: FailureKind::Stuck,
                    message: format!(
                        "buddy stopped the turn: the model made the same calls {times} times with the same results"
                    ),
                    hint: Some("prompt again, with more about what you want, to continue".to_owned()),
                };
                let limit = format!("you made the same calls {times} times with the same results");
                self.report(turn, Ending::failed(TurnOutcome::Failed, failure, limit))
            }
        }
    }

    /// Asks the model for a last answer without tools, after which the turn ends.
    pub(super) fn report(&mut self, mut turn: Turn, ending: Ending) -> Vec<Effect> {
        // A turn without an answer has nothing to report.
        if !self.gates.report || turn.calls == 0 {
            return vec![ending.fact(&turn)];
        }
        let text = format!(
            "The run is about to end: {}. You cannot call tools any more. Report now: what is done, what is left to do, and what you \
             have not checked. Do not claim more than you saw.",
            ending.limit
        );
        turn.ending = Some(Box::new(ending));
        self.remind_and_call(turn, ReminderCause::Limit, text)
    }

    pub(super) fn remind_and_call(&mut self, turn: Turn, cause: ReminderCause, text: String) -> Vec<Effect> {
        let item = self.whole(&turn, turn.step + 1, Content::Reminder { cause, text });
        self.put(item.clone());
        let mut effects = vec![emit(Fact::ItemEnded(ItemEnded { item }))];
        effects.extend(self.call_model(turn));
        effects
    }

    /// The words of the user that the model works on.
    fn request(&self) -> String {
        let prompts = self.items.iter().rev().filter_map(|item| match &item.content {
            Content::UserMessage { text, ran: None, .. } => Some(text),
            _ => None,
        });
        let text = prompts.take(1).next().map(String::as_str).unwrap_or_default();
        let said: String = text.chars().take(MAX_REQUEST).collect();
        if said.len() < text.len() { format!("{said}…") } else { said }
    }
}

fn check_again(request: &str) -> String {
    format!(
        "You changed files, and no command has succeeded since your last change. Before you finish, compare each requirement of \
         the request with the files as they are, run the narrowest check that would fail if something were wrong, and remove \
         files that you made only for yourself. If nothing can be run here, say so in your answer. If everything is checked, \
         answer with your final message.\n\nThe last words of the user; earlier requests still hold:\n{request}"
    )
}
