//! A model that repeats itself: rounds of the same calls with the same results, in cycles of up to five rounds, and edits of
//! one file without a command that succeeds in between.
//!
//! A round is the calls of one answer. Rounds that only poll have more patience: waiting looks the same until something happens.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use buddy_protocol::{Content, Item, ItemStatus, ToolCall, ToolKind};
use serde_json::Value;

/// The longest cycle of rounds that is noticed.
const MAX_CYCLE: usize = 5;
/// The model is told after so many repetitions of a cycle.
const TELL: usize = 3;
/// The turn ends after so many.
const STOP: usize = 5;
/// Edits of one file, without a command that succeeds in between, after which the model is told.
const MAX_EDITS: u32 = 6;
/// Rounds that are remembered.
const REMEMBERED: usize = MAX_CYCLE * STOP;

/// The same for rounds that only poll, with the same results: nothing else bounds a run without a limit on model calls. The model is advised to
/// look once a minute, and a command may run in the background for two hours.
const TELL_POLLING: usize = 30;
const STOP_POLLING: usize = 150;

/// Tools whose use is to look again until something changes.
const POLLING: &[&str] = &["process_status", "process_logs", "tmux_capture_pane", CLOCK];
/// Programs in a command that make it wait.
const WAITING: &[&str] = &["sleep", "wait", "watch"];
/// The tool whose result always differs although nothing happened.
const CLOCK: &str = "time";
/// Fields of a result that differ from run to run although nothing else does.
const VOLATILE: &[&str] = &["duration_ms", "log", "id", "pid", "started_at", "time", "expires", "age_ms"];

/// Something to do about the repetition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// Tell the model this.
    Tell(String),
    /// End the turn: this many repetitions.
    Stop(usize),
}

/// The rounds of a turn.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// Hashes of the calls and results of past rounds, oldest first.
    past: Vec<u64>,
    /// The round that runs: the hashes of its calls, and whether all of them poll.
    open: Vec<u64>,
    has_work: bool,
    /// The last round that only polled, and how often it came one after the other.
    polls: (u64, usize),
    /// Edits of each file since a command last succeeded.
    edits: HashMap<String, u32>,
}

impl Rounds {
    /// Adds a call that ended to the round.
    pub(crate) fn note(&mut self, item: &Item) {
        let Content::ToolCall(call) = &item.content else { return };
        self.open.push(hash_call(call));
        self.has_work |= !is_polling(call);
        match call.kind {
            ToolKind::Edit if item.status == ItemStatus::Completed => {
                if let Some(path) = edited_path(call) {
                    *self.edits.entry(path).or_default() += 1;
                }
            }
            _ if has_succeeded(item) => self.edits.clear(),
            _ => {}
        }
    }

    /// Ends the round. Returns the step against a repetition, if there is one.
    pub(crate) fn close(&mut self) -> Option<Repetition> {
        let mut calls = std::mem::take(&mut self.open);
        if calls.is_empty() {
            return None;
        }
        // Calls of one answer end in any order.
        calls.sort_unstable();
        let round = hash(&calls);
        if !std::mem::take(&mut self.has_work) {
            return self.close_poll(round);
        }
        self.polls = (0, 0);
        self.past.push(round);
        if self.past.len() > REMEMBERED {
            self.past.remove(0);
        }
        let cycle = (1..=MAX_CYCLE).map(|length| (length, repetitions(&self.past, length)));
        let (length, times) = cycle.max_by_key(|(length, times)| (*times, MAX_CYCLE - length))?;
        if times >= STOP {
            return Some(Repetition::Stop(times));
        }
        // A cycle is told about once, when its third repetition is complete.
        if times == TELL && is_just_complete(&self.past, length) {
            return Some(Repetition::Tell(repeating(length)));
        }
        let worn = self.edits.iter().find(|(_, count)| **count >= MAX_EDITS).map(|(path, _)| path.clone())?;
        self.edits.remove(&worn);
        Some(Repetition::Tell(reconsider(&worn)))
    }

    /// Ends a round that only polled.
    fn close_poll(&mut self, round: u64) -> Option<Repetition> {
        let times = if self.polls.0 == round { self.polls.1 + 1 } else { 1 };
        self.polls = (round, times);
        match times {
            TELL_POLLING => Some(Repetition::Tell(format!(
                "You looked {times} times and nothing changed. Find out whether what you wait for still goes on, wait longer at a \
                 time, or do something else."
            ))),
            STOP_POLLING.. => Some(Repetition::Stop(times)),
            _ => None,
        }
    }
}

/// Whether the item is a command that ran to exit code 0.
pub(crate) fn has_succeeded(item: &Item) -> bool {
    let Content::ToolCall(call) = &item.content else { return false };
    if call.kind != ToolKind::Execute || item.status != ItemStatus::Completed {
        return false;
    }
    let result = call.output.as_ref().and_then(|output| output.result.as_ref());
    result.and_then(|result| result.value().get("exit_code").cloned()) == Some(Value::from(0))
}

/// The number of times that the last `length` rounds came one after the other.
fn repetitions(past: &[u64], length: usize) -> usize {
    let mut chunks = past.rchunks_exact(length);
    let Some(last) = chunks.next() else { return 0 };
    // A cycle that is itself a shorter one counts there.
    let is_shorter = (1..length).any(|part| length.is_multiple_of(part) && is_made_of(last, part));
    if is_shorter { 0 } else { 1 + chunks.take_while(|chunk| *chunk == last).count() }
}

fn is_made_of(rounds: &[u64], part: usize) -> bool {
    rounds.chunks(part).all(|chunk| Some(chunk) == rounds.get(..part))
}

/// Whether the cycle had one repetition less a round ago.
fn is_just_complete(past: &[u64], length: usize) -> bool {
    let before = past.get(..past.len().saturating_sub(1)).unwrap_or_default();
    repetitions(before, length) < TELL
}

fn hash_call(call: &ToolCall) -> u64 {
    let output = call.output.as_ref();
    let result = output
        .and_then(|output| output.result.as_ref())
        .filter(|_| call.name != CLOCK)
        .map(|result| steady(result.value().clone()));
    let error = output.and_then(|output| output.error.as_ref()).map(|error| (&error.code, &error.message));
    hash(&(&call.name, call.input.text(), result.map(|result| result.to_string()), error))
}

/// A result without the fields that always differ.
fn steady(result: Value) -> Value {
    match result {
        Value::Object(fields) => {
            fields.into_iter().filter(|(name, _)| !VOLATILE.contains(&name.as_str())).collect()
        }
        other => other,
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn is_polling(call: &ToolCall) -> bool {
    let waits = |command: &str| {
        command.split(|letter: char| !letter.is_alphanumeric()).any(|word| WAITING.contains(&word))
    };
    let command = call.input.value().get("command").and_then(Value::as_str).map(waits);
    POLLING.contains(&call.name.as_str()) || (call.kind == ToolKind::Execute && command == Some(true))
}

fn edited_path(call: &ToolCall) -> Option<String> {
    let input = call.input.value();
    ["path", "file_path"].iter().find_map(|name| input.get(name)?.as_str().map(str::to_owned))
}

fn repeating(length: usize) -> String {
    let calls = match length {
        1 => "the same calls".to_owned(),
        _ => format!("the same cycle of {length} rounds of calls"),
    };
    format!(
        "You made {calls} {TELL} times, with the same results each time. Once more will not change them. Say what you expected, \
         find out why it did not happen, and do something else; if you cannot go on, finish and say what is missing."
    )
}

fn reconsider(path: &str) -> String {
    format!(
        "You edited `{path}` {MAX_EDITS} times and no command has succeeded since. List your assumptions, check the one that \
         could be wrong by reading or running something, and then change your approach."
    )
}

#[cfg(test)]
mod tests {
    use buddy_protocol::{Envelope, UnixMillis};
    use serde_json::json;

    use super::*;

    fn call(name: &str, kind: ToolKind, input: Value, result: Value) -> Item {
        let envelope = Envelope::new(UnixMillis(0), Ok(result));
        let call = ToolCall {
            call_id: "c".to_owned(),
            name: name.to_owned(),
            kind,
            title: String::new(),
            input: input.into(),
            output: Some(envelope),
            images: Vec::new(),
            target: None,
            had_secrets: false,
            caller: None,
        };
        Item {
            id: "itm_00000000000000000000000001".parse().unwrap(),
            turn: None,
            step: None,
            place: None,
            parent: None,
            status: ItemStatus::Completed,
            content: Content::ToolCall(Box::new(call)),
            private: None,
        }
    }

    fn shell(command: &str, duration: u64, exit_code: u64) -> Item {
        let result = json!({"exit_code": exit_code, "stdout": "", "duration_ms": duration});
        call("run_shell", ToolKind::Execute, json!({ "command": command }), result)
    }

    fn rounds(rounds: &mut Rounds, items: impl IntoIterator<Item = Item>) -> Vec<Option<Repetition>> {
        let close = |item| {
            rounds.note(&item);
            rounds.close()
        };
        items.into_iter().map(close).collect()
    }

    fn told(found: Option<&Repetition>) -> bool {
        matches!(found, Some(Repetition::Tell(_)))
    }

    #[test]
    fn identical_rounds_are_told_at_three_and_stopped_at_five() {
        let found = rounds(&mut Rounds::default(), (0..5).map(|run| shell("make", run, 2)));
        let seen: Vec<bool> = found.iter().map(|found| told(found.as_ref())).collect();
        assert_eq!(seen, [false, false, true, false, false]);
        assert_eq!(found.last(), Some(&Some(Repetition::Stop(5))));
    }

    #[test]
    fn a_cycle_of_three_rounds_is_told_once_it_came_three_times() {
        let commands = ["a", "b", "c"];
        let found = rounds(&mut Rounds::default(), (0..15).map(|run| shell(commands[run % 3], 0, 1)));
        let places: Vec<usize> = (0..15).filter(|place| told(found[*place].as_ref())).collect();
        assert_eq!(places, [8]);
        assert_eq!(found[14], Some(Repetition::Stop(5)));
    }

    #[test]
    fn another_result_is_no_repetition_and_polling_has_patience() {
        let mut others = Rounds::default();
        assert!(rounds(&mut others, (0..9).map(|run| shell("make", 0, run))).iter().all(Option::is_none));
        let mut polls = Rounds::default();
        let poll = |_| call("process_logs", ToolKind::Read, json!({"id": "p"}), json!({"output": ""}));
        assert!(rounds(&mut polls, (0..9).map(poll)).iter().all(Option::is_none));
        let sleeps = (0..9).map(|_| shell("sleep 5; curl -s localhost:1", 0, 7));
        assert!(rounds(&mut polls, sleeps).iter().all(Option::is_none));
    }

    #[test]
    fn polling_without_any_change_is_told_and_stopped_late() {
        let poll = |output: usize| {
            call("process_logs", ToolKind::Read, json!({"id": "p"}), json!({ "output": output }))
        };
        let found = rounds(&mut Rounds::default(), (0..150).map(|_| poll(0)));
        let places: Vec<usize> = (0..150).filter(|place| told(found[*place].as_ref())).collect();
        assert_eq!((places, &found[149]), (vec![29], &Some(Repetition::Stop(150))));
        let grown = rounds(&mut Rounds::default(), (0..99).map(poll));
        assert!(grown.iter().all(Option::is_none), "output that grows is a change");
    }

    #[test]
    fn looks_at_the_clock_are_polls_and_a_timeout_is_no_wait() {
        let time = |second: u64| call("time", ToolKind::Other, json!({}), json!({ "unix_seconds": second }));
        assert!(told(rounds(&mut Rounds::default(), (0..30).map(time))[29].as_ref()));
        let make = rounds(&mut Rounds::default(), (0..3).map(|_| shell("timeout 60 make", 0, 2)));
        assert!(told(make[2].as_ref()));
    }

    #[test]
    fn six_edits_of_a_file_without_a_passing_command_are_told() {
        let edit = |run: u64| call("edit_file", ToolKind::Edit, json!({"path": "a", "old": run}), json!({}));
        let found = rounds(&mut Rounds::default(), (0..7).map(edit));
        assert_eq!(found.iter().filter(|found| told(found.as_ref())).count(), 1);
        let checked =
            (0..12).map(|run| if run % 4 == 3 { shell(&format!("t{run}"), 0, 0) } else { edit(run) });
        assert!(rounds(&mut Rounds::default(), checked).iter().all(Option::is_none));
    }
}
