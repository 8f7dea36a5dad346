//! A whole answer: what it said is recorded, what it calls is made ready to run.

use buddy_calls::Call;
use buddy_model::{Arguments, Delta, Reply, ReplyItem, StopReason};
use buddy_protocol::{
    AnswerStop, AuthoredFact, Content, Fact, Failure, FailureKind, Ids, ItemEnded, ItemId, ItemStarted,
    ItemStatus, NoticeLevel, ToolCall, ToolFailure, ToolKind,
};
use serde_json::{Value, json};

use super::machine::{Answered, Effect, Machine, Running, Turn, TurnState, charged, emit, notice};
use crate::live::{LiveAnswer, Voice};

/// How often in a row a provider may pause in the middle of an answer and be asked to go on: one that only pauses is not
/// asked for ever.
const MAX_PAUSES: u32 = 8;
/// How often in a row a model is asked again after an answer that was cut off with calls in it. One that only gives such
/// answers is not asked for ever.
const MAX_CUT_ANSWERS: u32 = 2;
/// How much of arguments that are not JSON the model is shown of its own words.
const RAW_SHOWN: usize = 500;

impl Machine {
    pub(super) fn finish_answer(
        &mut self,
        mut turn: Turn,
        mut answer: LiveAnswer,
        answered: Answered,
    ) -> Vec<Effect> {
        let Answered { reply, charge } = answered;
        turn.compactions = 0;
        turn.pauses = if reply.stop == StopReason::Paused { turn.pauses + 1 } else { 0 };
        turn.stop = stop(&reply.stop);
        let cut = why_not_run(&reply);
        turn.cut_answers = if cut.is_some() { turn.cut_answers + 1 } else { 0 };
        turn.given_up = cut.filter(|_| turn.cut_answers > MAX_CUT_ANSWERS);
        let mut effects = Vec::new();
        for item in answer.finish(&reply, &*self.ids) {
            self.put(item.clone());
            effects.push(emit(Fact::ItemEnded(ItemEnded { item })));
        }
        effects.push(charged(&turn, charge));
        let is_paused = cut.is_none() && (1..=MAX_PAUSES).contains(&turn.pauses);
        effects.extend(remark(&reply).filter(|_| !is_paused).map(emit));
        let lack = self.lack_of(&turn, &reply, is_paused);
        let mut calls = self.calls(&answer, reply);
        if let Some(ending) = turn.ending.take() {
            // A model that calls tools all the same has said what it had to say.
            effects.push(ending.fact(&turn));
            return effects;
        }
        if let Some(why) = cut {
            for call in &mut calls {
                call.refusal = Some(cut_off(why));
            }
        }
        for call in &calls {
            self.put(call.item.clone());
            effects.push(emit(Fact::ItemStarted(ItemStarted { item: call.item.clone() })));
        }
        if !calls.is_empty() {
            let running = Running { open: calls.len(), interrupted_by: None, wound_up: None };
            self.state = TurnState::Running(turn, running);
            effects.push(Effect::RunCalls(calls));
        } else if turn.is_steered || is_paused {
            effects.extend(self.call_model(turn));
        } else {
            effects.extend(self.finish(turn, lack));
        }
        effects
    }

    pub(super) fn calls(&self, answer: &LiveAnswer, reply: Reply) -> Vec<Call> {
        let numbered = (1..).zip(reply.items);
        numbered.filter_map(|(place, said)| self.call(answer, place, said)).collect()
    }

    pub(super) fn call(&self, answer: &LiveAnswer, place: u32, said: ReplyItem) -> Option<Call> {
        let ReplyItem::ToolCall { id: call_id, name, arguments, private } = said else { return None };
        let (input, is_repaired, broken) = match arguments {
            Arguments::Object { value, repaired } => (Value::Object(value), repaired, None),
            Arguments::Broken { raw, error } => (json!({}), false, Some(not_json(&raw, &error))),
        };
        let (kind, title) = self.tools.describe(&name, &input);
        let guessed = (is_repaired && !is_harmless(kind)).then(not_whole);
        let target = self.target(&name, &input);
        let (input, images) = (input.into(), Vec::new());
        let (output, had_secrets) = (None, false);
        let caller = None;
        let call =
            ToolCall { call_id, name, kind, title, input, output, images, target, had_secrets, caller };
        let refusal = broken.or(guessed).or_else(|| self.repeats.refusal(&call));
        let content = Content::ToolCall(Box::new(call));
        let mut item = answer.item(ItemId::new(&*self.ids), ItemStatus::Pending, content);
        (item.place, item.private) = (Some(place), private);
        Some(Call { item, refusal })
    }
}

pub(super) fn grow(answer: &mut LiveAnswer, delta: Delta, ids: &dyn Ids) -> Vec<Effect> {
    let facts = match delta {
        Delta::Text(text) => answer.grow(Voice::Message, text, ids),
        Delta::Reasoning(text) => answer.grow(Voice::Reasoning, text, ids),
        Delta::Apart => {
            answer.part();
            Vec::new()
        }
        Delta::Restarted { attempt, delay, error } => {
            let mut facts = answer.restart();
            // The time stands first: a row that is cut still has it.
            let text =
                format!("trying again in {:.1} s, attempt {}: {error}", delay.as_secs_f32(), attempt + 1);
            facts.push(notice(NoticeLevel::Warning, "model_retry", text));
            facts
        }
        Delta::ToolArguments { .. } | Delta::Finished(_) => Vec::new(),
    };
    if facts.is_empty() {
        Vec::new()
    } else {
        vec![Effect::Emit(facts.into_iter().map(AuthoredFact::from).collect())]
    }
}

/// Why an answer ended, in the words of the log.
fn stop(reason: &StopReason) -> Option<AnswerStop> {
    match reason {
        StopReason::End | StopReason::ToolUse => Some(AnswerStop::Completed),
        StopReason::Length => Some(AnswerStop::Length),
        StopReason::Refusal => Some(AnswerStop::Refused),
        StopReason::Filter => Some(AnswerStop::Filtered),
        StopReason::Paused | StopReason::Other(_) => None,
    }
}

/// Why the calls of an answer do not run, if it has any and did not end as its model meant it to. They may lack what was
/// to come: a complete piece of JSON is no proof that the model was done.
fn why_not_run(reply: &Reply) -> Option<&'static str> {
    let has_calls = reply.items.iter().any(|item| matches!(item, ReplyItem::ToolCall { .. }));
    if !has_calls || reply.stop.lets_calls_run() {
        return None;
    }
    Some(match &reply.stop {
        StopReason::Length => "the answer reached its length limit",
        StopReason::Refusal => "the model refused in the same answer",
        StopReason::Filter => "the provider's content filter stopped the answer",
        StopReason::Paused => "the provider paused in the middle of the answer",
        _ => "the answer ended for a reason that buddy does not know",
    })
}

fn cut_off(why: &str) -> ToolFailure {
    ToolFailure::new("answer_cut", format!("{why}, so none of its calls was run"))
        .hint("nothing was run; make the calls that are still needed again, fewer or shorter")
}

/// The end of a turn whose model gives only answers that are cut off.
pub(super) fn given_up(why: &str) -> Failure {
    let asked = MAX_CUT_ANSWERS + 1;
    Failure {
        http_status: None,
        kind: FailureKind::Transport,
        message: format!("{why}, {asked} times in a row with tool calls in it; none of them was run"),
        hint: Some(
            "raise the model's output limit, ask for less at once, or choose another model".to_owned(),
        ),
    }
}

/// The warning about how an answer ended.
fn remark(reply: &Reply) -> Option<Fact> {
    let warning = |text: String| notice(NoticeLevel::Warning, "answer_incomplete", text);
    if let Some(why) = why_not_run(reply) {
        return Some(warning(format!("{why}, so none of its tool calls was run")));
    }
    let text = match &reply.stop {
        StopReason::Length => "the answer was cut at the model's output limit",
        StopReason::Refusal => "the model refused to answer",
        StopReason::Filter => "the provider's content filter stopped the answer",
        StopReason::Paused => "the provider paused again and again in the middle of the answer",
        _ if reply.items.is_empty() => "the model gave an empty answer",
        _ => return None,
    };
    Some(warning(text.to_owned()))
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
