//! The turn machine: pure. Inputs in, effects out; no clock, no I/O, no waiting.
//!
//! A turn goes round: call the model, run the tools it called, call the model again, until an answer calls none. The
//! driver does what the effects say and reports back as inputs. Whatever order results come in and whenever an
//! interrupt strikes, every call has exactly one result before the model is called again.

mod answering;
mod asking;
mod compacting;
mod finishing;
mod planning;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use buddy_model::{Delta, PromptItem, Reply, tokens};
use buddy_protocol::{
    AnswerStop, AuthoredFact, Content, EnvironmentFact, Fact, Failure, FailureKind, Ids, Item, ItemEnded,
    ItemId, ItemStatus, MicroUsd, Notice, NoticeLevel, PlanStep, Principal, TurnEnded, TurnId, TurnOutcome,
    TurnStarted, Usage, UsageReported,
};
use serde_json::Value;

use crate::compaction::Cut;
use crate::environment::{known, news};
use crate::history::history;
use crate::live::LiveAnswer;
use crate::repeat::Repeats;
use crate::stuck::Rounds;
use crate::tools::{Call, plan, registry};
use crate::turn::answering::{given_up, grow};
use crate::turn::compacting::{MAX_COMPACTIONS, Want};
pub(crate) use crate::turn::finishing::LoopGates;
use crate::turn::finishing::{Checks, Ending};

/// What happened, as the driver tells it.
pub(crate) enum Input {
    /// A user said something.
    Prompted { by: Principal, said: Content },
    /// The facts about the environment, as far as they were found.
    LookedAround(Vec<EnvironmentFact>),
    /// The model streams.
    Streamed(Delta),
    /// The model has answered.
    Answered(Answered),
    /// The history has about so many tokens, and does not fit the model's window with room for an answer.
    ContextFull { window: u64, used: u64 },
    /// A user wants room to be made in the model's window.
    CompactRequested { by: Principal, window: u64 },
    /// The summary is made; none when no model could make it. With it comes what making it took.
    Summarised { summary: Option<String>, bills: Vec<Charge> },
    /// The budget does not allow the call, for this reason.
    BudgetReached(String),
    /// A user has decided whether to go on beyond the budget.
    BudgetAnswered(bool),
    /// Nobody is there to decide whether to go on beyond the budget.
    BudgetUnattended,
    /// The model call failed for good.
    ModelFailed(Failure),
    /// A call ended; its item is recorded already.
    CallEnded(Item),
    /// A command that the user ran, or one in the background, has ended. It is no part of the turn; the model sees it with
    /// its next call.
    PersonRan { by: Option<Principal>, item: Item },
    /// The turn is to stop.
    Interrupted(Principal),
    /// The turn is to stop with a report, for this reason.
    WoundUp { by: Principal, reason: String },
}

/// A whole answer and what it took.
pub(crate) struct Answered {
    pub(crate) reply: Reply,
    pub(crate) charge: Charge,
}

/// What a model call took.
#[derive(Debug, Clone)]
pub(crate) struct Charge {
    pub(crate) model: String,
    pub(crate) usage: Usage,
    pub(crate) cost: Option<MicroUsd>,
}

/// A call of the model.
pub(crate) struct ModelCall {
    pub(crate) history: Vec<PromptItem>,
    /// Whether it is made whatever the budget says.
    pub(crate) is_funded: bool,
    /// Whether it is made whatever the estimate of its size says.
    pub(crate) is_forced: bool,
    /// Whether the answer must be text, without tool calls.
    pub(crate) is_text_only: bool,
}

/// What the driver is to do.
pub(crate) enum Effect {
    /// Report facts.
    Emit(Vec<AuthoredFact>),
    /// Look around at the beginning of a turn.
    LookAround,
    /// Call the model.
    CallModel(ModelCall),
    /// Forget how many tokens the history was counted to have.
    ForgetCount,
    /// Have a model sum this up.
    Summarise(Vec<PromptItem>),
    /// Ask a user whether to go on beyond the budget.
    AskForFunds { turn: TurnId, reason: String },
    /// Let go of the summary or the question that is under way.
    DropAside,
    /// Let go of the model call, which has said about so many tokens. What it took until then is counted.
    DropModel { turn: TurnId, step: u32, output: u64 },
    /// Run these calls; each must come back as `CallEnded`.
    RunCalls(Vec<Call>),
    /// Stop all calls that run; each still comes back as `CallEnded`.
    StopCalls,
}

/// The machine of one session.
pub(crate) struct Machine {
    ids: Arc<dyn Ids>,
    /// The names of the targets, the default first.
    targets: Vec<String>,
    max_steps: u32,
    gates: LoopGates,
    /// Whether the agent only reads and plans.
    is_planning: bool,
    /// Everything said and done, whole items only.
    items: Vec<Item>,
    repeats: Repeats,
    state: State,
}

enum State {
    Idle,
    Looking(Turn),
    Calling(Turn, LiveAnswer),
    Running(Turn, Running),
    Compacting(Turn, Cut),
    Asking(Turn),
}

struct Turn {
    id: TurnId,
    /// The model call that is being made or was made last; each has its number once.
    step: u32,
    /// The model calls that were made.
    calls: u32,
    /// How often in a row the provider paused in the middle of an answer.
    pauses: u32,
    /// How often in a row an answer was cut off with calls in it.
    cut_answers: u32,
    /// Why the turn ends once the calls are recorded, if it does: the model gave only answers that were cut off.
    given_up: Option<&'static str>,
    /// Why the last answer ended; none before the first, and for a reason that has no word.
    stop: Option<AnswerStop>,
    /// Whether a user said something that no model call has seen yet.
    is_steered: bool,
    /// Whether a user allowed this turn to go on beyond the budget.
    is_funded: bool,
    /// How often room was made since the last answer.
    compactions: u32,
    /// Whether the next call is made although it seems too long.
    is_forced: bool,
    /// Whether the turn only makes room.
    is_compaction: bool,
    /// The rounds of calls.
    rounds: Rounds,
    /// Rounds of calls since the plan changed or was repeated.
    rounds_since_plan: u32,
    /// The changes of the turn, and whether they were checked.
    checks: Checks,
    /// Whether the model was asked for a complete answer after one that was empty or cut off.
    is_asked_again: bool,
    /// The end of the turn after the report that the model is asked for.
    ending: Option<Box<Ending>>,
}

impl Turn {
    fn new(ids: &dyn Ids) -> Self {
        Self {
            id: TurnId::new(ids),
            step: 0,
            calls: 0,
            pauses: 0,
            cut_answers: 0,
            given_up: None,
            stop: None,
            is_steered: false,
            is_funded: false,
            compactions: 0,
            is_forced: false,
            is_compaction: false,
            rounds: Rounds::default(),
            rounds_since_plan: 0,
            checks: Checks::default(),
            is_asked_again: false,
            ending: None,
        }
    }
}

struct Running {
    /// Calls that have not ended.
    open: usize,
    /// Who interrupted them.
    interrupted_by: Option<Principal>,
    /// The end of the turn after the report that the model is asked for once they have.
    wound_up: Option<Ending>,
}

impl Machine {
    /// A machine that goes on from these items.
    pub(crate) fn new(ids: Arc<dyn Ids>, targets: Vec<String>, max_steps: u32, items: Vec<Item>) -> Self {
        let (repeats, gates) = (Repeats::default(), LoopGates::default());
        Self { ids, targets, max_steps, gates, is_planning: false, items, repeats, state: State::Idle }
    }

    /// Sets the gates of the loop from now on.
    pub(crate) fn set_gates(&mut self, gates: LoopGates) {
        self.gates = gates;
    }

    /// Other targets from now on, the default first.
    pub(crate) fn set_targets(&mut self, targets: Vec<String>) {
        self.targets = targets;
    }

    /// Whether no turn runs.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle)
    }

    /// The running turn.
    pub(crate) fn turn(&self) -> Option<&TurnId> {
        match &self.state {
            State::Idle => None,
            State::Looking(turn)
            | State::Calling(turn, _)
            | State::Running(turn, _)
            | State::Compacting(turn, _)
            | State::Asking(turn) => Some(&turn.id),
        }
    }

    /// The target that a call means: the one that it names, else the default.
    fn target(&self, name: &str, input: &Value) -> Option<String> {
        let named = registry::named_target(name, input, &self.targets);
        named.filter(|named| self.targets.contains(named)).or_else(|| self.targets.first().cloned())
    }

    /// Takes in what happened and says what to do.
    pub(crate) fn step(&mut self, input: Input) -> Vec<Effect> {
        let input = match input {
            Input::PersonRan { by, item } => return vec![self.person_ran(by, item)],
            other => other,
        };
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle => self.step_idle(input),
            State::Looking(turn) => self.step_looking(turn, input),
            State::Calling(turn, answer) => self.step_calling(turn, answer, input),
            State::Running(turn, running) => self.step_running(turn, running, input),
            State::Compacting(turn, cut) => self.step_compacting(turn, cut, input),
            State::Asking(turn) => self.step_asking(turn, input),
        }
    }

    fn step_idle(&mut self, input: Input) -> Vec<Effect> {
        let mut turn = Turn::new(&*self.ids);
        let started = |by| emit_by(by, Fact::TurnStarted(TurnStarted { turn: turn.id.clone() }));
        match input {
            Input::Prompted { by, said } => {
                let mut effects = vec![started(&by)];
                effects.extend(self.remind_of_plan_mode(&turn));
                effects.push(self.said(&by, &turn, said));
                effects.push(Effect::LookAround);
                self.state = State::Looking(turn);
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
                self.state = State::Looking(turn);
                said
            }
            _ => {
                self.state = State::Looking(turn);
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
                // What did not fit is more than the window holds; half of it is a safe guess.
                let window = self.size() / 2;
                effects.extend(self.compact(turn, window, Want::Refused(failure)));
                return effects;
            }
            Input::ModelFailed(failure) => return self.fail(&turn, &mut answer, failure),
            Input::BudgetReached(reason) => {
                let ask = Effect::AskForFunds { turn: turn.id.clone(), reason };
                self.state = State::Asking(turn);
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
        self.state = State::Calling(turn, answer);
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
            self.state = State::Running(turn, running);
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

    /// What a user said becomes an item before the next model call.
    fn said(&mut self, by: &Principal, turn: &Turn, said: Content) -> Effect {
        let item = self.whole(turn, turn.step + 1, said);
        self.put(item.clone());
        emit_by(by, Fact::ItemEnded(ItemEnded { item }))
    }

    /// A command that a user ran stands after everything that the model has seen.
    fn person_ran(&mut self, by: Option<Principal>, mut item: Item) -> Effect {
        let (turn, step) = match &self.state {
            State::Looking(turn)
            | State::Calling(turn, _)
            | State::Running(turn, _)
            | State::Compacting(turn, _)
            | State::Asking(turn) => (Some(turn.id.clone()), turn.step),
            State::Idle => {
                let last = self.items.iter().rev().find_map(|item| item.turn.clone());
                let steps = self.items.iter().filter(|item| last.is_some() && item.turn == last);
                let step = steps.filter_map(|item| item.step).max().unwrap_or(0);
                (last, step)
            }
        };
        (item.turn, item.step) = (turn, Some(step + 1));
        self.put(item.clone());
        Effect::Emit(vec![AuthoredFact { by, fact: Fact::ItemEnded(ItemEnded { item }) }])
    }

    /// A plan that was laid down becomes an item, which every face can draw and compaction keeps.
    fn planned(&mut self, turn: &Turn, steps: Vec<PlanStep>) -> Effect {
        let item = self.whole(turn, turn.step, Content::Plan { steps });
        self.put(item.clone());
        emit(Fact::ItemEnded(ItemEnded { item }))
    }

    fn whole(&self, turn: &Turn, step: u32, content: Content) -> Item {
        Item {
            id: ItemId::new(&*self.ids),
            turn: Some(turn.id.clone()),
            step: Some(step),
            place: None,
            parent: None,
            status: ItemStatus::Completed,
            content,
            private: None,
        }
    }

    fn steer(&mut self, by: &Principal, turn: &mut Turn, said: Content) -> Vec<Effect> {
        turn.is_steered = true;
        let reminder = self.remind_of_plan_mode(turn);
        reminder.into_iter().chain([self.said(by, turn, said)]).collect()
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
        self.state = State::Calling(turn, answer);
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

    fn put(&mut self, item: Item) {
        match self.items.iter_mut().rev().find(|known| known.id == item.id) {
            Some(known) => *known = item,
            None => self.items.push(item),
        }
    }
}

/// About how many tokens the words of an item have.
fn said_tokens(item: &Item) -> u64 {
    match &item.content {
        Content::AgentMessage { text } | Content::Reasoning { text, .. } => tokens::rough(text),
        _ => 0,
    }
}

fn model_calls(count: u32) -> String {
    format!("{count} model call{}", if count == 1 { "" } else { "s" })
}

fn emit(fact: Fact) -> Effect {
    Effect::Emit(vec![fact.into()])
}

fn emit_by(by: &Principal, fact: Fact) -> Effect {
    Effect::Emit(vec![AuthoredFact::new(by, fact)])
}

/// The end of a turn that somebody interrupted.
fn interrupt(turn: &Turn, by: &Principal) -> Effect {
    let (turn, outcome) = (turn.id.clone(), TurnOutcome::Interrupted);
    emit_by(by, Fact::TurnEnded(TurnEnded { turn, outcome, stop_reason: None, failure: None }))
}

fn end(turn: &Turn, outcome: TurnOutcome, failure: Option<Failure>) -> Effect {
    let stop_reason = turn.stop.filter(|_| outcome == TurnOutcome::Completed);
    emit(Fact::TurnEnded(TurnEnded { turn: turn.id.clone(), outcome, stop_reason, failure }))
}

fn charged(turn: &Turn, charge: Charge) -> Effect {
    let Charge { model, usage, cost } = charge;
    let step = Some(turn.step);
    emit(Fact::UsageReported(UsageReported { turn: turn.id.clone(), model, step, usage, cost }))
}

fn is_overflow(failure: &Failure) -> bool {
    failure.kind == FailureKind::ContextOverflow
}

fn notice(level: NoticeLevel, code: &str, text: String) -> Fact {
    Fact::Notice(Notice { level, code: code.to_owned(), text })
}
