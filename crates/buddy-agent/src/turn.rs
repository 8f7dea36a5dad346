//! The turn machine: pure. Inputs in, effects out; no clock, no I/O, no waiting.
//!
//! A turn goes round: call the model, run the tools it called, call the model again, until an answer calls none. The
//! driver does what the effects say and reports back as inputs. Whatever order results come in and whenever an
//! interrupt strikes, every call has exactly one result before the model is called again.

mod answering;
mod asking;
mod compacting;
mod finishing;
mod machine;
mod planning;
#[cfg(test)]
mod tests;

use buddy_calls::plan;
use buddy_model::tokens;
use buddy_protocol::{
    Content, Fact, Failure, FailureKind, Item, ItemEnded, Principal, TurnOutcome, TurnStarted,
};

use crate::environment::{known, news};
use crate::history::history;
use crate::live::LiveAnswer;
use crate::turn::answering::{given_up, grow};
use crate::turn::compacting::{MAX_COMPACTIONS, Want};
pub(crate) use crate::turn::machine::{Answered, Charge, Effect, Input, LoopGates, Machine, ModelCall};
use crate::turn::machine::{Ending, Running, Turn, TurnState, emit, emit_by, end, interrupt};

impl Machine {
    /// Takes in what happened and says what to do.
    pub(crate) fn step(&mut self, input: Input) -> Vec<Effect> {
        let input = match input {
            Input::PersonRan { by, item } => return vec![self.person_ran(by, item)],
            other => other,
        };
        match std::mem::replace(&mut self.state, TurnState::Idle) {
            TurnState::Idle => self.step_idle(input),
            TurnState::Looking(turn) => self.step_looking(turn, input),
            TurnState::Calling(turn, answer) => self.step_calling(turn, answer, input),
            TurnState::Running(turn, running) => self.step_running(turn, running, input),
            TurnState::Compacting(turn, cut) => self.step_compacting(turn, cut, input),
            TurnState::Asking(turn) => self.step_asking(turn, input),
        }
    }

    fn step_idle(&mut self, input: Input) -> Vec<Effect> {
        let mut turn = Turn::new(&*self.ids);
        let started = |by| emit_by(by, Fact::TurnStarted(TurnStarted { turn: turn.id.clone() }));
        match input {
            Input::Prompted { by, said } => {
                let mut effects = vec![started(&by)];
                effects.extend(self.remind_of_plan_mode(&turn));
                effects.push(self.record_message(&by, &turn, said));
                effects.push(Effect::LookAround);
                self.state = TurnState::Looking(turn);
                effects
            }
            Input::CompactRequested { by, window } => {
                let mut effects = vec![started(&by)];
                turn.is_compaction = true;
                effects.extend(self.compact(turn, window, Want::Person));
                effects
            }
            // Anything else is an echo of a turn that is over.
            _ => Vec::new(),
        }
    }

    /// The news about the environment stands before the prompt that the turn began with.
    fn step_looking(&mut self, mut turn: Turn, input: Input) -> Vec<Effect> {
        match input {
            Input::LookedAround(seen) => {
                let facts = news(&known(&self.items), seen);
                let mut effects = Vec::new();
                if !facts.is_empty() {
                    let item = self.whole(&turn, turn.step + 1, Content::Environment { facts });
                    self.put(item.clone());
                    effects.push(emit(Fact::ItemEnded(ItemEnded { item })));
                }
                effects.extend(self.call_model(turn));
                effects
            }
            Input::Interrupted(by) => vec![Effect::DropAside, interrupt(&turn, &by)],
            Input::Prompted { by, said } => {
                let said = self.steer(&by, &mut turn, said);
                self.state = TurnState::Looking(turn);
                said
            }
            _ => {
                self.state = TurnState::Looking(turn);
                Vec::new()
            }
        }
    }

    fn step_calling(&mut self, mut turn: Turn, mut answer: LiveAnswer, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Answered(answered) => return self.finish_answer(turn, answer, answered),
            Input::Streamed(delta) => effects.extend(grow(&mut answer, delta, &*self.ids)),
            Input::Prompted { by, said } => effects.extend(self.steer(&by, &mut turn, said)),
            Input::ContextFull { window, used } => {
                return self.compact(turn, window, Want::Estimated { used });
            }
            Input::ModelFailed(failure) if is_overflow(&failure) && turn.compactions < MAX_COMPACTIONS => {
                let mut effects = self.cut_off(&mut answer);
                // A prompt that did not fit is more than the window holds; half of it is a safe guess.
                let window = self.size() / 2;
                effects.extend(self.compact(turn, window, Want::Refused(failure)));
                return effects;
            }
            Input::ModelFailed(failure) => return self.fail(&turn, &mut answer, failure),
            Input::BudgetReached(reason) => {
                let ask = Effect::AskForFunds { turn: turn.id.clone(), reason };
                self.state = TurnState::Asking(turn);
                return vec![ask];
            }
            Input::Interrupted(by) => return self.interrupt_answer(&turn, &mut answer, &by),
            // The first answer of a turn may be its last one; before it there is nothing to report.
            Input::WoundUp { by, reason } if turn.ending.is_none() && turn.calls > 1 => {
                let mut effects = self.drop_answer(&turn, &mut answer);
                effects.extend(self.report(turn, Ending::wound_up(by, reason)));
                return effects;
            }
            Input::CallEnded(_)
            | Input::LookedAround(_)
            | Input::WoundUp { .. }
            | Input::PersonRan { .. }
            | Input::CompactRequested { .. }
            | Input::Summarised { .. }
            | Input::BudgetAnswered(_)
            | Input::BudgetUnattended => {}
        }
        self.state = TurnState::Calling(turn, answer);
        effects
    }

    fn step_running(&mut self, mut turn: Turn, mut running: Running, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::CallEnded(item) => {
                running.open = running.open.saturating_sub(1);
                // A call of an answer that was cut was not run, so making it again repeats no failure.
                if turn.cut_answers == 0 {
                    self.repeats.note(&item);
                    turn.rounds.note(&item);
                    turn.checks.note(&item);
                }
                let plan = plan(&item);
                if plan.is_some() {
                    turn.rounds_since_plan = 0;
                }
                self.put(item);
                effects.extend(plan.map(|steps| self.planned(&turn, steps)));
            }
            Input::Prompted { by, said } => effects.extend(self.steer(&by, &mut turn, said)),
            Input::Interrupted(by) if running.interrupted_by.is_none() => {
                running.interrupted_by = Some(by);
                effects.push(Effect::StopCalls);
            }
            Input::WoundUp { by, reason }
                if running.interrupted_by.is_none() && running.wound_up.is_none() =>
            {
                running.wound_up = Some(Ending::wound_up(by, reason));
                effects.push(Effect::StopCalls);
            }
            // A second interrupt changes nothing, and the rest are echoes of a model call that is over.
            _ => {}
        }
        if running.open > 0 {
            self.state = TurnState::Running(turn, running);
        } else if let Some(by) = running.interrupted_by {
            effects.push(interrupt(&turn, &by));
        } else if let Some(ending) = running.wound_up {
            effects.extend(self.report(turn, ending));
        } else if let Some(why) = turn.given_up {
            effects.push(end(&turn, TurnOutcome::Failed, Some(given_up(why))));
        } else {
            effects.extend(self.end_round(turn));
        }
        effects
    }

    fn steer(&mut self, by: &Principal, turn: &mut Turn, said: Content) -> Vec<Effect> {
        turn.is_steered = true;
        let reminder = self.remind_of_plan_mode(turn);
        reminder.into_iter().chain([self.record_message(by, turn, said)]).collect()
    }

    fn call_model(&mut self, mut turn: Turn) -> Vec<Effect> {
        if turn.calls >= self.max_steps && turn.ending.is_none() {
            let failure = Failure {
                http_status: None,
                kind: FailureKind::TurnLimit,
                message: format!("the turn was stopped after {}", model_calls(self.max_steps)),
                hint: Some("raise the limit, or prompt again to go on".to_owned()),
            };
            let verb = if self.max_steps == 1 { "is" } else { "are" };
            let limit = format!("its {} {verb} used up", model_calls(self.max_steps));
            return self.report(turn, Ending::failed(TurnOutcome::TurnLimit, failure, limit));
        }
        turn.step += 1;
        turn.calls += 1;
        turn.is_steered = false;
        let answer = LiveAnswer::new(turn.id.clone(), turn.step);
        let (is_funded, is_forced) = (turn.is_funded, std::mem::take(&mut turn.is_forced));
        let is_text_only = turn.ending.is_some();
        self.state = TurnState::Calling(turn, answer);
        let history = history(&self.items);
        vec![Effect::CallModel(ModelCall { history, is_funded, is_forced, is_text_only })]
    }

    fn fail(&mut self, turn: &Turn, answer: &mut LiveAnswer, failure: Failure) -> Vec<Effect> {
        let mut effects = self.cut_off(answer);
        // A report that fails does not hide why the turn ends.
        effects.push(match &turn.ending {
            Some(ending) => ending.fact(turn),
            None => end(turn, TurnOutcome::Failed, Some(failure)),
        });
        effects
    }

    fn interrupt_answer(&mut self, turn: &Turn, answer: &mut LiveAnswer, by: &Principal) -> Vec<Effect> {
        let mut effects = self.drop_answer(turn, answer);
        effects.push(interrupt(turn, by));
        effects
    }

    /// Lets go of an answer that streams in.
    fn drop_answer(&mut self, turn: &Turn, answer: &mut LiveAnswer) -> Vec<Effect> {
        let mut effects = self.cut_off(answer);
        let said = effects.iter().filter_map(|effect| match effect {
            Effect::Emit(facts) => facts.first().and_then(|authored| authored.fact.item()),
            _ => None,
        });
        let output = said.map(said_tokens).sum();
        effects.push(Effect::DropModel { turn: turn.id.clone(), step: turn.step, output });
        effects
    }

    fn cut_off(&mut self, answer: &mut LiveAnswer) -> Vec<Effect> {
        let cut = answer.interrupt();
        for item in &cut {
            self.put(item.clone());
        }
        cut.into_iter().map(|item| emit(Fact::ItemEnded(ItemEnded { item }))).collect()
    }
}

/// About how many tokens the words of an item have.
fn said_tokens(item: &Item) -> u64 {
    match &item.content {
        Content::AgentMessage { text } | Content::Reasoning { text, .. } => tokens::estimate(text),
        _ => 0,
    }
}

fn model_calls(count: u32) -> String {
    format!("{count} model call{}", if count == 1 { "" } else { "s" })
}

fn is_overflow(failure: &Failure) -> bool {
    failure.kind == FailureKind::ContextOverflow
}
