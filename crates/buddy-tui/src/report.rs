//! The result of a headless run, folded from its events.

use buddy_protocol::{
    AnswerStop, Bill, Content, DENIED_HOSTS, Event, Fact, Failure, Item, ItemStatus, Json, MicroUsd,
    SessionId, ToolCall, TurnEnded, TurnId, TurnOutcome, Usage,
};
use serde::Serialize;
use serde_json::Value;

use crate::exit::Exit;

/// The class of failure of a command that nothing could keep to its bounds.
const NOT_JAILED: &str = "not_jailed";

/// The state of a headless run.
#[derive(Debug, Default)]
pub(crate) struct RunReport {
    /// The turn of this run. What comes before it closes what a dead writer left open, and is none of this run's.
    turn: Option<TurnId>,
    text: String,
    bill: Bill,
    /// Model calls of this turn.
    steps: u32,
    /// Those of the turns before it.
    steps_before: u32,
    calls: CallCounts,
    was_not_jailed: bool,
    ended: Option<TurnEnded>,
    /// The failure of a run that broke off.
    broken: Option<Failure>,
    /// The value of an answer that fits the schema.
    structured: Option<Value>,
}

/// How a run was stopped from outside, where it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopCause {
    Timeout,
    Signal,
    OutputClosed,
}

/// How the calls of a run ended.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct CallCounts {
    /// All that the model made.
    total: u32,
    /// Those that ran and failed.
    failed: u32,
    /// Those that were not allowed, and commands that were kept from a host that they needed.
    denied: u32,
}

impl CallCounts {
    fn add(&mut self, call: &ToolCall, status: ItemStatus) {
        let result = call.output.as_ref().and_then(|output| output.result.as_ref()).map(Json::value);
        let lacked_host = result.is_some_and(|result| result.get(DENIED_HOSTS).is_some());
        self.total += 1;
        self.failed += u32::from(status == ItemStatus::Failed);
        self.denied += u32::from(status == ItemStatus::Denied || lacked_host);
    }
}

/// The last object that a run prints.
#[derive(Debug, Serialize)]
pub(crate) struct RunResult<'a> {
    r#type: &'static str,
    status: &'static str,
    /// Why the last answer ended; null where there is none.
    stop_reason: Option<AnswerStop>,
    text: &'a str,
    /// Null where the run ended before there was one.
    session_id: Option<&'a SessionId>,
    usage: Usage,
    /// In US dollars; null while the price is not known.
    cost: Option<f64>,
    duration_ms: u64,
    turns: u32,
    calls: CallCounts,
    /// Ids of commands in the background that end with the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ended_with_run: Vec<String>,
    /// The value of the answer, if a schema was set and it fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Failure>,
}

impl RunReport {
    /// Takes in one event of the run. True when the run is over.
    pub(crate) fn apply(&mut self, event: &Event) -> bool {
        match (&event.fact, &self.turn) {
            (Fact::TurnStarted(started), None) => self.turn = Some(started.turn.clone()),
            (Fact::ItemEnded(ended), Some(_)) => self.note(&ended.item),
            (Fact::UsageReported(report), Some(_)) => self.bill.add(report.usage, report.cost),
            (Fact::TurnEnded(ended), Some(turn)) if ended.turn == *turn => self.ended = Some(ended.clone()),
            _ => {}
        }
        self.ended.is_some()
    }

    fn note(&mut self, item: &Item) {
        self.steps = self.steps.max(item.step.filter(|_| !is_prompt(item)).unwrap_or(0));
        match &item.content {
            // An answer may come in several pieces, with thoughts or a provider's pause between them.
            Content::AgentMessage { text } => self.text.push_str(text),
            // Text before a prompt, a reminder or a summary answered something else, or the model says it again.
            Content::UserMessage { ran: None, .. }
            | Content::Compaction { .. }
            | Content::Reminder { .. } => {
                self.text.clear();
            }
            Content::ToolCall(call) => {
                // A message before a call announces it and answers nothing.
                self.text.clear();
                self.calls.add(call, item.status);
                let error = call.output.as_ref().and_then(|output| output.error.as_ref());
                self.was_not_jailed |= error.is_some_and(|error| error.code == NOT_JAILED);
            }
            _ => {}
        }
    }

    /// Whether a turn runs.
    pub(crate) fn is_running(&self) -> bool {
        self.turn.is_some() && self.ended.is_none()
    }

    /// Whether the turn came to its own end.
    pub(crate) fn has_completed(&self) -> bool {
        self.ended
            .as_ref()
            .is_some_and(|ended| ended.outcome == TurnOutcome::Completed && ended.failure.is_none())
    }

    /// Goes on with a further turn of the same run, which answers in the place of this one.
    pub(crate) fn next_turn(&mut self) {
        self.turn = None;
        self.ended = None;
        self.text.clear();
        self.steps_before += std::mem::take(&mut self.steps);
    }

    /// The answer fits: this is its text, and what that says.
    pub(crate) fn accept(&mut self, text: String, structured: Value) {
        self.text = text;
        self.structured = Some(structured);
    }

    /// Whether an answer fitted.
    pub(crate) fn is_accepted(&self) -> bool {
        self.structured.is_some()
    }

    /// The answer does not fit, and that is how the run failed.
    pub(crate) fn reject(&mut self, failure: Failure) {
        if let Some(ended) = &mut self.ended {
            ended.failure = Some(failure);
        }
    }

    /// The run cannot be followed to its end. What was said until then is no answer.
    pub(crate) fn break_off(&mut self, failure: Failure) {
        self.text.clear();
        self.broken = Some(failure);
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// How many calls were not allowed.
    pub(crate) fn denied(&self) -> u32 {
        self.calls.denied
    }

    /// The cost; none while the price is not known.
    pub(crate) fn cost(&self) -> Option<MicroUsd> {
        self.bill.total()
    }

    pub(crate) fn usage(&self) -> Usage {
        self.bill.usage
    }

    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.broken.as_ref().or_else(|| self.ended.as_ref().and_then(|ended| ended.failure.as_ref()))
    }

    pub(crate) fn exit(&self, stop: Option<StopCause>) -> Exit {
        match (stop, &self.ended) {
            (Some(StopCause::Timeout), _) => Exit::Timeout,
            (Some(StopCause::OutputClosed), _) => Exit::OutputClosed,
            (None, _) if self.broken.is_some() => Exit::Failed,
            (None, Some(TurnEnded { failure: Some(failure), .. })) => Exit::of(failure.kind),
            (None, Some(TurnEnded { outcome: TurnOutcome::Completed, .. })) if self.was_not_jailed => {
                Exit::NotJailed
            }
            (None, Some(TurnEnded { outcome: TurnOutcome::Completed, .. })) if self.calls.denied > 0 => {
                Exit::ApprovalNeeded
            }
            (None, Some(TurnEnded { outcome: TurnOutcome::Completed, .. })) => Exit::Ok,
            (Some(StopCause::Signal), _)
            | (None, Some(TurnEnded { outcome: TurnOutcome::Interrupted, .. })) => Exit::Interrupted,
            (None, _) => Exit::Failed,
        }
    }

    pub(crate) fn result<'a>(
        &'a self,
        session: Option<&'a SessionId>,
        exit: Exit,
        duration_ms: u64,
    ) -> RunResult<'a> {
        RunResult {
            r#type: "result",
            status: status(exit),
            stop_reason: self.ended.as_ref().and_then(|ended| ended.stop_reason),
            text: &self.text,
            session_id: session,
            usage: self.bill.usage,
            cost: self.bill.total().map(MicroUsd::dollars),
            duration_ms,
            turns: self.steps_before + self.steps,
            calls: self.calls,
            ended_with_run: Vec::new(),
            structured: self.structured.as_ref(),
            error: self.failure(),
        }
    }
}

/// The result of a run that ended before it had a session, as one line of JSON.
pub fn refusal_line(exit: Exit, failure: Failure) -> String {
    let report = RunReport { broken: Some(failure), ..RunReport::default() };
    serde_json::to_string(&report.result(None, exit, 0)).unwrap_or_default()
}

fn is_prompt(item: &Item) -> bool {
    matches!(item.content, Content::UserMessage { .. } | Content::Environment { .. })
}

fn status(exit: Exit) -> &'static str {
    match exit {
        Exit::Ok => "completed",
        Exit::TurnLimit => "turn_limit",
        Exit::Budget => "budget",
        Exit::ApprovalNeeded => "approval_needed",
        Exit::NotJailed => "not_jailed",
        Exit::Timeout => "timeout",
        Exit::Interrupted | Exit::OutputClosed => "interrupted",
        Exit::Auth => "auth",
        Exit::ContextOverflow => "context_overflow",
        Exit::Usage => "usage",
        Exit::Failed => "failed",
    }
}
