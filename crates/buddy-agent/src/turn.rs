//! The turn machine: pure. Inputs in, effects out; no clock, no I/O, no waiting.
//!
//! A turn goes round: call the model, run the tools it called, call the model again, until an answer calls none. The
//! driver does what the effects say and reports back as inputs. Whatever order results come in and whenever an
//! interrupt strikes, every call has exactly one result before the model is called again.

use std::sync::Arc;

use buddy_model::{Arguments, Delta, PromptItem, Reply, ReplyItem, StopReason};
use buddy_protocol::{
    Content, Fact, Failure, FailureKind, Ids, Item, ItemEnded, ItemId, ItemStarted, ItemStatus, Notice,
    NoticeLevel, Principal, ToolCall, ToolFailure, ToolKind, TurnEnded, TurnId, TurnOutcome, TurnStarted,
    UsageReported,
};
use serde_json::{Value, json};

use crate::history::history;
use crate::live::{LiveAnswer, Voice};
use crate::repeat::Repeats;
use crate::tools::{Call, registry};

/// How much of arguments that are not JSON the model is shown of its own words.
const RAW_SHOWN: usize = 500;

/// What happened, as the driver tells it.
pub(crate) enum Input {
    /// A person said something.
    Prompted { by: Principal, text: String },
    /// The model streams.
    Streamed(Delta),
    /// The model call failed for good.
    ModelFailed(Failure),
    /// A call ended; its item is recorded already.
    CallEnded(Item),
    /// The turn is to stop.
    Interrupted,
}

/// What the driver is to do.
pub(crate) enum Effect {
    /// Report facts.
    Emit(Vec<Fact>),
    /// Call the model with this history.
    CallModel(Vec<PromptItem>),
    /// Let go of the model call.
    DropModel,
    /// Run these calls; each must come back as `CallEnded`.
    RunCalls(Vec<Call>),
    /// Stop all calls that run; each still comes back as `CallEnded`.
    StopCalls,
}

/// The machine of one session.
pub(crate) struct Machine {
    ids: Arc<dyn Ids>,
    target: String,
    max_steps: u32,
    /// Everything said and done, whole items only.
    items: Vec<Item>,
    repeats: Repeats,
    state: State,
}

enum State {
    Idle,
    Calling(Turn, LiveAnswer),
    Running(Turn, Running),
}

struct Turn {
    id: TurnId,
    /// The model calls made in this turn.
    step: u32,
    /// Whether a person said something that no model call has seen yet.
    is_steered: bool,
}

struct Running {
    /// Calls that have not ended.
    open: usize,
    is_interrupted: bool,
}

impl Machine {
    /// A machine that goes on from these items.
    pub(crate) fn new(ids: Arc<dyn Ids>, target: String, max_steps: u32, items: Vec<Item>) -> Self {
        Self { ids, target, max_steps, items, repeats: Repeats::default(), state: State::Idle }
    }

    /// Takes in what happened and says what to do.
    pub(crate) fn step(&mut self, input: Input) -> Vec<Effect> {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Idle => self.step_idle(input),
            State::Calling(turn, answer) => self.step_calling(turn, answer, input),
            State::Running(turn, running) => self.step_running(turn, running, input),
        }
    }

    fn step_idle(&mut self, input: Input) -> Vec<Effect> {
        // Anything but a prompt is an echo of a turn that is over.
        let Input::Prompted { by, text } = input else { return Vec::new() };
        let turn = Turn { id: TurnId::new(&*self.ids), step: 0, is_steered: false };
        let mut effects = vec![emit(Fact::TurnStarted(TurnStarted { turn: turn.id.clone(), by }))];
        effects.push(self.said(&turn, text));
        effects.extend(self.call_model(turn));
        effects
    }

    fn step_calling(&mut self, mut turn: Turn, mut answer: LiveAnswer, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Streamed(Delta::Finished(reply)) => return self.finish_answer(turn, answer, reply),
            Input::Streamed(delta) => effects.extend(grow(&mut answer, delta, &*self.ids)),
            Input::Prompted { text, .. } => effects.push(self.steer(&mut turn, text)),
            Input::ModelFailed(failure) => return self.fail(&turn, &mut answer, failure),
            Input::Interrupted => return self.interrupt_answer(&turn, &mut answer),
            Input::CallEnded(_) => {}
        }
        self.state = State::Calling(turn, answer);
        effects
    }

    fn step_running(&mut self, mut turn: Turn, mut running: Running, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::CallEnded(item) => {
                running.open = running.open.saturating_sub(1);
                self.repeats.note(&item);
                self.put(item);
            }
            Input::Prompted { text, .. } => effects.push(self.steer(&mut turn, text)),
            Input::Interrupted if !running.is_interrupted => {
                running.is_interrupted = true;
                effects.push(Effect::StopCalls);
            }
            Input::Interrupted | Input::Streamed(_) | Input::ModelFailed(_) => {}
        }
        if running.open > 0 {
            self.state = State::Running(turn, running);
        } else if running.is_interrupted {
            effects.push(end(&turn, TurnOutcome::Interrupted, None));
        } else {
            effects.extend(self.call_model(turn));
        }
        effects
    }

    /// What a person said becomes an item before the next model call.
    fn said(&mut self, turn: &Turn, text: String) -> Effect {
        let item = Item {
            id: ItemId::new(&*self.ids),
            turn: Some(turn.id.clone()),
            step: Some(turn.step + 1),
            place: None,
            parent: None,
            status: ItemStatus::Completed,
            content: Content::UserMessage { text },
            private: None,
        };
        self.put(item.clone());
        emit(Fact::ItemEnded(ItemEnded { item }))
    }

    fn steer(&mut self, turn: &mut Turn, text: String) -> Effect {
        turn.is_steered = true;
        self.said(turn, text)
    }

    fn call_model(&mut self, mut turn: Turn) -> Vec<Effect> {
        if turn.step >= self.max_steps {
            let failure = Failure {
                kind: FailureKind::TurnLimit,
                message: format!("the turn was stopped after {} model calls", self.max_steps),
                hint: Some("raise the limit, or prompt again to go on".to_owned()),
            };
            return vec![end(&turn, TurnOutcome::TurnLimit, Some(failure))];
        }
        turn.step += 1;
        turn.is_steered = false;
        let answer = LiveAnswer::new(turn.id.clone(), turn.step);
        self.state = State::Calling(turn, answer);
        vec![Effect::CallModel(history(&self.items))]
    }

    fn finish_answer(&mut self, turn: Turn, mut answer: LiveAnswer, reply: Reply) -> Vec<Effect> {
        let mut effects = Vec::new();
        for item in answer.finish(&reply, &*self.ids) {
            self.put(item.clone());
            effects.push(emit(Fact::ItemEnded(ItemEnded { item })));
        }
        if let Some(usage) = reply.usage {
            let model = reply.model.clone().unwrap_or_default();
            effects.push(emit(Fact::UsageReported(UsageReported { turn: turn.id.clone(), model, usage })));
        }
        effects.extend(remark(&reply).map(emit));
        let calls = self.calls(&answer, reply);
        for call in &calls {
            self.put(call.item.clone());
            effects.push(emit(Fact::ItemStarted(ItemStarted { item: call.item.clone() })));
        }
        if !calls.is_empty() {
            let running = Running { open: calls.len(), is_interrupted: false };
            self.state = State::Running(turn, running);
            effects.push(Effect::RunCalls(calls));
        } else if turn.is_steered {
            effects.extend(self.call_model(turn));
        } else {
            effects.push(end(&turn, TurnOutcome::Completed, None));
        }
        effects
    }

    fn calls(&self, answer: &LiveAnswer, reply: Reply) -> Vec<Call> {
        let numbered = (1..).zip(reply.items);
        numbered.filter_map(|(place, said)| self.call(answer, place, said)).collect()
    }

    fn call(&self, answer: &LiveAnswer, place: u32, said: ReplyItem) -> Option<Call> {
        let ReplyItem::ToolCall { id: call_id, name, arguments, private } = said else { return None };
        let (input, is_repaired, broken) = match arguments {
            Arguments::Object { value, repaired } => (Value::Object(value), repaired, None),
            Arguments::Broken { raw, error } => (json!({}), false, Some(not_json(&raw, &error))),
        };
        let (kind, title) = registry::describe(&name, &input);
        let guessed = (is_repaired && !is_harmless(kind)).then(not_whole);
        let target = Some(self.target.clone());
        let call = ToolCall { call_id, name, kind, title, input: input.into(), output: None, target };
        let refusal = broken.or(guessed).or_else(|| self.repeats.refusal(&call));
        let content = Content::ToolCall(Box::new(call));
        let mut item = answer.item(ItemId::new(&*self.ids), ItemStatus::Pending, content);
        (item.place, item.private) = (Some(place), private);
        Some(Call { item, refusal })
    }

    fn fail(&mut self, turn: &Turn, answer: &mut LiveAnswer, failure: Failure) -> Vec<Effect> {
        let mut effects = self.cut_off(answer);
        effects.push(end(turn, TurnOutcome::Failed, Some(failure)));
        effects
    }

    fn interrupt_answer(&mut self, turn: &Turn, answer: &mut LiveAnswer) -> Vec<Effect> {
        let mut effects = vec![Effect::DropModel];
        effects.extend(self.cut_off(answer));
        effects.push(end(turn, TurnOutcome::Interrupted, None));
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

fn grow(answer: &mut LiveAnswer, delta: Delta, ids: &dyn Ids) -> Vec<Effect> {
    let facts = match delta {
        Delta::Text(text) => answer.grow(Voice::Message, text, ids),
        Delta::Reasoning(text) => answer.grow(Voice::Reasoning, text, ids),
        Delta::Restarted { attempt, delay, error } => {
            let mut facts = answer.restart();
            let text = format!("{error}; try {} in {} s", attempt + 1, delay.as_secs_f32());
            facts.push(notice(NoticeLevel::Warning, "model_retry", text));
            facts
        }
        Delta::ToolArguments { .. } | Delta::Finished(_) => Vec::new(),
    };
    if facts.is_empty() { Vec::new() } else { vec![Effect::Emit(facts)] }
}

fn emit(fact: Fact) -> Effect {
    Effect::Emit(vec![fact])
}

fn end(turn: &Turn, outcome: TurnOutcome, failure: Option<Failure>) -> Effect {
    emit(Fact::TurnEnded(TurnEnded { turn: turn.id.clone(), outcome, failure }))
}

/// What people should know about how an answer ended.
fn remark(reply: &Reply) -> Option<Fact> {
    let text = match &reply.stop {
        StopReason::Length => "the answer was cut at the model's output limit",
        StopReason::Refusal => "the model refused to answer",
        StopReason::Filter => "the provider's content filter stopped the answer",
        _ if reply.items.is_empty() => "the model gave an empty answer",
        _ => return None,
    };
    Some(notice(NoticeLevel::Warning, "answer_incomplete", text.to_owned()))
}

fn notice(level: NoticeLevel, code: &str, text: String) -> Fact {
    Fact::Notice(Notice { level, code: code.to_owned(), text })
}

/// Whether a call of this kind may run with arguments that had to be mended.
fn is_harmless(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Think)
}

fn not_whole() -> ToolFailure {
    ToolFailure::new(
        "invalid_input",
        "the arguments were not whole JSON; what changes things is not run on a guess",
    )
    .hint("nothing was run; call the tool again with complete arguments")
}

fn not_json(raw: &str, error: &str) -> ToolFailure {
    let raw: String = raw.chars().take(RAW_SHOWN).collect();
    ToolFailure::new("invalid_input", format!("the arguments were not whole JSON ({error}): {raw}"))
        .hint("nothing was run; call the tool again with complete arguments")
}

#[cfg(test)]
mod tests;
