//! The machine's state, and what it takes in and gives out.
//!
//! The steps are in `turn.rs` and the files beside this one.

use std::sync::Arc;

use buddy_calls::{Call, ToolSet, registry};
use buddy_model::{Delta, PromptItem, Reply};
use buddy_protocol::{
    AnswerStop, AuthoredFact, Content, EnvironmentFact, Fact, Failure, Ids, Item, ItemEnded, ItemId,
    ItemStatus, MicroUsd, Notice, NoticeLevel, PlanStep, Principal, ToolKind, TurnEnded, TurnId, TurnOutcome,
    Usage, UsageReported,
};
use serde_json::Value;

use crate::compaction::Cut;
use crate::live::LiveAnswer;
use crate::repeat::Repeats;
use crate::stuck::{Rounds, has_succeeded};

/// An event, as the driver tells it.
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
    /// A command that the user ran, one in the background, or a call of a client has ended. It is no part of the turn; the model sees it with
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

/// The usage of a model call.
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

/// An order to the driver.
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
    pub(crate) ids: Arc<dyn Ids>,
    /// The tools of the session, of which the machine uses names and schemas alone.
    pub(crate) tools: Arc<ToolSet>,
    /// The names of the targets, the default first.
    pub(crate) targets: Vec<String>,
    pub(crate) max_steps: u32,
    pub(crate) gates: LoopGates,
    /// Whether the agent only reads and plans.
    pub(crate) is_planning: bool,
    /// Everything said and done, whole items only.
    pub(crate) items: Vec<Item>,
    pub(crate) repeats: Repeats,
    pub(crate) state: TurnState,
}

pub(crate) enum TurnState {
    Idle,
    Looking(Turn),
    Calling(Turn, LiveAnswer),
    Running(Turn, Running),
    Compacting(Turn, Cut),
    Asking(Turn),
}

pub(crate) struct Turn {
    pub(crate) id: TurnId,
    /// The model call that is being made or was made last; each has its number once.
    pub(crate) step: u32,
    /// The model calls that were made.
    pub(crate) calls: u32,
    /// How often in a row the provider paused in the middle of an answer.
    pub(crate) pauses: u32,
    /// How often in a row an answer was cut off with calls in it.
    pub(crate) cut_answers: u32,
    /// Why the turn ends once the calls are recorded, if it does: the model gave only answers that were cut off.
    pub(crate) given_up: Option<&'static str>,
    /// Why the last answer ended; none before the first, and for a reason that has no word.
    pub(crate) stop: Option<AnswerStop>,
    /// Whether a user said something that no model call has seen yet.
    pub(crate) is_steered: bool,
    /// Whether a user allowed this turn to go on beyond the budget.
    pub(crate) is_funded: bool,
    /// How often room was made since the last answer.
    pub(crate) compactions: u32,
    /// Whether the next call is made although it seems too long.
    pub(crate) is_forced: bool,
    /// Whether the turn only makes room.
    pub(crate) is_compaction: bool,
    /// The rounds of calls.
    pub(crate) rounds: Rounds,
    /// Rounds of calls since the plan changed or was repeated.
    pub(crate) rounds_since_plan: u32,
    /// The changes of the turn, and whether they were checked.
    pub(crate) checks: Checks,
    /// Whether the model was asked for a complete answer after one that was empty or cut off.
    pub(crate) is_asked_again: bool,
    /// The end of the turn after the report that the model is asked for.
    pub(crate) ending: Option<Box<Ending>>,
}

impl Turn {
    pub(crate) fn new(ids: &dyn Ids) -> Self {
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

pub(crate) struct Running {
    /// Calls that have not ended.
    pub(crate) open: usize,
    /// Who interrupted them.
    pub(crate) interrupted_by: Option<Principal>,
    /// The end of the turn after the report that the model is asked for once they have.
    pub(crate) wound_up: Option<Ending>,
}

/// The gates of the loop. Each can be off, for a model that needs none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each gate is a switch of its own")]
pub(crate) struct LoopGates {
    /// Ask once to check the changes of a turn before it ends, when no command succeeded after the last one.
    pub(crate) finish: bool,
    /// Tell a model that repeats itself, then end the turn.
    pub(crate) stuck: bool,
    /// Ask once for a complete answer after one that is empty or cut off.
    pub(crate) retry: bool,
    /// Ask for a report when a limit ends the turn.
    pub(crate) report: bool,
    /// Repeat the plan in a long turn.
    pub(crate) recite: bool,
}

impl Default for LoopGates {
    fn default() -> Self {
        Self { finish: false, stuck: true, retry: true, report: true, recite: false }
    }
}

/// The changes of a turn, and whether they were checked.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    /// Whether files changed and no command succeeded since.
    pub(crate) is_unchecked: bool,
    pub(crate) is_reminded: bool,
}

impl Checks {
    /// Takes note of a call that ended.
    pub(crate) fn note(&mut self, item: &Item) {
        let Content::ToolCall(call) = &item.content else { return };
        // Staging and committing leave the files as they were checked.
        let changes = matches!(call.kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move)
            && !registry::only_records(&call.name);
        if changes && item.status == ItemStatus::Completed {
            self.is_unchecked = true;
        } else if has_succeeded(item) {
            self.is_unchecked = false;
        }
    }
}

/// The end of a turn after its report.
pub(crate) struct Ending {
    pub(crate) outcome: TurnOutcome,
    pub(crate) failure: Option<Failure>,
    /// The limit, as the model reads it.
    pub(crate) limit: String,
    /// Who wound the turn up.
    pub(crate) by: Option<Principal>,
}

impl Ending {
    pub(crate) fn failed(outcome: TurnOutcome, failure: Failure, limit: String) -> Self {
        Self { outcome, limit, failure: Some(failure), by: None }
    }

    /// The end of a turn that a face wants a report of before it stops it.
    pub(crate) fn wound_up(by: Principal, reason: String) -> Self {
        Self { outcome: TurnOutcome::Interrupted, failure: None, limit: reason, by: Some(by) }
    }

    pub(crate) fn fact(&self, turn: &Turn) -> Effect {
        match &self.by {
            Some(by) => interrupt(turn, by),
            None => end(turn, self.outcome, self.failure.clone()),
        }
    }
}

impl Machine {
    /// A machine that goes on from these items.
    pub(crate) fn new(ids: Arc<dyn Ids>, targets: Vec<String>, max_steps: u32, items: Vec<Item>) -> Self {
        let (repeats, gates) = (Repeats::default(), LoopGates::default());
        Self {
            ids,
            tools: registry::built_in(),
            targets,
            max_steps,
            gates,
            is_planning: false,
            items,
            repeats,
            state: TurnState::Idle,
        }
    }

    /// Sets the gates of the loop from now on.
    pub(crate) fn set_gates(&mut self, gates: LoopGates) {
        self.gates = gates;
    }

    /// Other tools from now on.
    pub(crate) fn set_tools(&mut self, tools: Arc<ToolSet>) {
        self.tools = tools;
    }

    /// Other targets from now on, the default first.
    pub(crate) fn set_targets(&mut self, targets: Vec<String>) {
        self.targets = targets;
    }

    /// Whether no turn runs.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.state, TurnState::Idle)
    }

    /// The running turn.
    pub(crate) fn turn(&self) -> Option<&TurnId> {
        match &self.state {
            TurnState::Idle => None,
            TurnState::Looking(turn)
            | TurnState::Calling(turn, _)
            | TurnState::Running(turn, _)
            | TurnState::Compacting(turn, _)
            | TurnState::Asking(turn) => Some(&turn.id),
        }
    }

    /// The target that a call means: the one that it names, else the default.
    pub(crate) fn target(&self, name: &str, input: &Value) -> Option<String> {
        let named = self.tools.named_target(name, input, &self.targets);
        named.filter(|named| self.targets.contains(named)).or_else(|| self.targets.first().cloned())
    }

    /// The user's words become an item before the next model call.
    pub(crate) fn record_message(&mut self, by: &Principal, turn: &Turn, said: Content) -> Effect {
        let item = self.whole(turn, turn.step + 1, said);
        self.put(item.clone());
        emit_by(by, Fact::ItemEnded(ItemEnded { item }))
    }

    /// A command that a user ran stands after everything that the model has seen.
    pub(crate) fn person_ran(&mut self, by: Option<Principal>, mut item: Item) -> Effect {
        let (turn, step) = self.place_beside();
        (item.turn, item.step) = (turn, Some(step + 1));
        self.put(item.clone());
        Effect::Emit(vec![AuthoredFact { by, fact: Fact::ItemEnded(ItemEnded { item }) }])
    }

    /// The place of something that happened beside the turn: after everything that the model has seen.
    fn place_beside(&self) -> (Option<TurnId>, u32) {
        match &self.state {
            TurnState::Looking(turn)
            | TurnState::Calling(turn, _)
            | TurnState::Running(turn, _)
            | TurnState::Compacting(turn, _)
            | TurnState::Asking(turn) => (Some(turn.id.clone()), turn.step),
            TurnState::Idle => {
                let last = self.items.iter().rev().find_map(|item| item.turn.clone());
                let steps = self.items.iter().filter(|item| last.is_some() && item.turn == last);
                let step = steps.filter_map(|item| item.step).max().unwrap_or(0);
                (last, step)
            }
        }
    }

    /// A plan that was laid down becomes an item, which every face can draw and compaction keeps.
    pub(crate) fn planned(&mut self, turn: &Turn, steps: Vec<PlanStep>) -> Effect {
        let item = self.whole(turn, turn.step, Content::Plan { steps });
        self.put(item.clone());
        emit(Fact::ItemEnded(ItemEnded { item }))
    }

    pub(crate) fn whole(&self, turn: &Turn, step: u32, content: Content) -> Item {
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

    pub(crate) fn put(&mut self, item: Item) {
        match self.items.iter_mut().rev().find(|known| known.id == item.id) {
            Some(known) => *known = item,
            None => self.items.push(item),
        }
    }
}

pub(crate) fn emit(fact: Fact) -> Effect {
    Effect::Emit(vec![fact.into()])
}

pub(crate) fn emit_by(by: &Principal, fact: Fact) -> Effect {
    Effect::Emit(vec![AuthoredFact::new(by, fact)])
}

/// The end of a turn that somebody interrupted.
pub(crate) fn interrupt(turn: &Turn, by: &Principal) -> Effect {
    let (turn, outcome) = (turn.id.clone(), TurnOutcome::Interrupted);
    emit_by(by, Fact::TurnEnded(TurnEnded { turn, outcome, stop_reason: None, failure: None }))
}

pub(crate) fn end(turn: &Turn, outcome: TurnOutcome, failure: Option<Failure>) -> Effect {
    let stop_reason = turn.stop.filter(|_| outcome == TurnOutcome::Completed);
    emit(Fact::TurnEnded(TurnEnded { turn: turn.id.clone(), outcome, stop_reason, failure }))
}

pub(crate) fn charged(turn: &Turn, charge: Charge) -> Effect {
    let Charge { model, usage, cost } = charge;
    let step = Some(turn.step);
    emit(Fact::UsageReported(UsageReported { turn: turn.id.clone(), model, step, usage, cost }))
}

pub(crate) fn notice(level: NoticeLevel, code: &str, text: String) -> Fact {
    Fact::Notice(Notice { level, code: code.to_owned(), text })
}
