//! The figures of logs, added up.

use std::collections::BTreeMap;

use buddy_protocol::{
    Content, Event, Fact, Item, ItemStatus, ReminderCause, ToolCall, TurnId, TurnOutcome, Usage,
};

use super::edits::{EditTries, changes_files, has_succeeded};

/// The figures of any number of logs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    /// By the outcome of the turn. `unfinished` are turns whose end is not in the log.
    pub(super) outcomes: BTreeMap<String, TurnSums>,
    /// Calls that failed or were denied, by the code of the failure; commands by their exit code.
    pub(super) failures: BTreeMap<String, u64>,
    /// Changes of files.
    pub(super) edits: EditTries,
    /// Turns that changed files.
    pub(super) changing_turns: u64,
    /// Those in which a command succeeded after the last change.
    pub(super) verified_turns: u64,
    /// Reminders to check the changes.
    pub(super) reminders: u64,
    /// Model calls that read from the prompt cache.
    pub(super) cache_hits: u64,
}

/// The sums of the turns with one outcome.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct TurnSums {
    /// Turns.
    pub(super) turns: u64,
    /// Calls of the model.
    pub(super) model_calls: u64,
    /// Calls of tools.
    pub(super) tool_calls: u64,
    /// Their tokens.
    pub(super) usage: Usage,
}

/// A turn while its log is read.
#[derive(Default)]
struct OpenTurn {
    sums: TurnSums,
    edits: EditTries,
    has_changed: bool,
    is_verified: bool,
    outcome: Option<TurnOutcome>,
}

impl Figures {
    /// Adds the events of one log.
    pub(super) fn add_log(&mut self, events: &[Event]) {
        let mut turns: BTreeMap<TurnId, OpenTurn> = BTreeMap::new();
        for event in events {
            match &event.fact {
                Fact::TurnStarted(started) => drop(turns.entry(started.turn.clone()).or_default()),
                Fact::TurnEnded(ended) => {
                    turns.entry(ended.turn.clone()).or_default().outcome = Some(ended.outcome);
                }
                Fact::UsageReported(reported) => {
                    self.cache_hits += u64::from(reported.usage.cached_input > 0);
                    let sums = &mut turns.entry(reported.turn.clone()).or_default().sums;
                    sums.model_calls += 1;
                    sums.usage += reported.usage;
                }
                Fact::ItemEnded(ended) => self.add_item(&ended.item, &mut turns),
                _ => {}
            }
        }
        for turn in turns.into_values() {
            self.close(turn);
        }
    }

    fn add_item(&mut self, item: &Item, turns: &mut BTreeMap<TurnId, OpenTurn>) {
        let Some(turn) = &item.turn else { return };
        match &item.content {
            Content::Reminder { cause: ReminderCause::Unverified, .. } => self.reminders += 1,
            Content::ToolCall(call) => {
                if let Some(code) = failure_code(item, call) {
                    *self.failures.entry(code).or_default() += 1;
                }
                turns.entry(turn.clone()).or_default().add_call(item, call);
            }
            _ => {}
        }
    }

    fn close(&mut self, turn: OpenTurn) {
        let outcome = turn.outcome.map_or("unfinished", outcome_word);
        let sums = self.outcomes.entry(outcome.to_owned()).or_default();
        sums.turns += 1;
        sums.model_calls += turn.sums.model_calls;
        sums.tool_calls += turn.sums.tool_calls;
        sums.usage += turn.sums.usage;
        self.edits += turn.edits;
        self.changing_turns += u64::from(turn.has_changed);
        self.verified_turns += u64::from(turn.has_changed && turn.is_verified);
    }
}

impl OpenTurn {
    fn add_call(&mut self, item: &Item, call: &ToolCall) {
        self.sums.tool_calls += 1;
        if changes_files(call) {
            self.edits.note(call, item.status);
            if item.status == ItemStatus::Completed {
                self.has_changed = true;
                self.is_verified = false;
            }
        } else if has_succeeded(item.status, call) {
            self.is_verified = true;
        }
    }
}

fn outcome_word(outcome: TurnOutcome) -> &'static str {
    match outcome {
        TurnOutcome::Completed => "completed",
        TurnOutcome::Interrupted => "interrupted",
        TurnOutcome::Failed => "failed",
        TurnOutcome::TurnLimit => "turn_limit",
    }
}

/// The code under which a call counts as failed; `None` if it worked.
fn failure_code(item: &Item, call: &ToolCall) -> Option<String> {
    let output = call.output.as_ref();
    if let Some(error) = output.and_then(|output| output.error.as_ref()) {
        return Some(error.code.clone());
    }
    match item.status {
        ItemStatus::Failed => Some("failed".to_owned()),
        ItemStatus::Denied => Some("denied".to_owned()),
        ItemStatus::Interrupted => Some("interrupted".to_owned()),
        _ => {
            let code = output?.result.as_ref()?.value().get("exit_code")?.as_i64()?;
            (code != 0).then(|| format!("exit code {code}"))
        }
    }
}
