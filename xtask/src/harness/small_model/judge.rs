//! Judges a run by its effects, and names the reason of a failure. The model's claims count for nothing.

use std::fmt;

use serde_json::{Value, json};

use super::task::{Effect, SmallTask, TaskKind};

/// The reason why a task is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TaskFailure {
    /// The model called no tool.
    NoCall,
    /// No call succeeded: the tool or its arguments were wrong, or policy denied it.
    BadArguments,
    /// The model repeated itself, or reached the limit on model calls.
    Stuck,
    /// The time was over.
    Timeout,
    /// The run ended with another error.
    Error,
    /// Calls succeeded, but the file or the answer is wrong.
    WrongContent,
}

impl fmt::Display for TaskFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoCall => "no call",
            Self::BadArguments => "bad arguments",
            Self::Stuck => "stuck",
            Self::Timeout => "timeout",
            Self::Error => "error",
            Self::WrongContent => "wrong content",
        })
    }
}

/// The record of a run: the lines of `buddy exec --json`, read.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct RunRecord {
    /// The exit code; `None` if the run had to be killed.
    pub(super) code: Option<i32>,
    pub(super) model_calls: u64,
    /// Each tool call, and whether it succeeded.
    pub(super) calls: Vec<(String, bool)>,
    pub(super) answer: String,
    /// The class of the error that ended the run.
    pub(super) error: Option<String>,
}

impl RunRecord {
    /// Reads the lines. Lines that are no JSON, such as one that a kill cut off, are left out.
    pub(super) fn read(code: Option<i32>, lines: &str) -> Self {
        let mut record = Self { code, ..Self::default() };
        for event in lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            match event["type"].as_str() {
                Some("usage") => record.model_calls += 1,
                Some("item.ended") => record.add_item(&event["data"]["item"]),
                Some("turn.ended") => record.add_error(&event["data"]["error"]),
                Some("result") => {
                    event["text"].as_str().unwrap_or_default().clone_into(&mut record.answer);
                    record.add_error(&event["error"]);
                }
                _ => {}
            }
        }
        record
    }

    fn add_item(&mut self, item: &Value) {
        let content = &item["content"];
        if content["type"] == "tool_call" {
            let name = content["name"].as_str().unwrap_or_default().to_owned();
            self.calls.push((name, item["status"] == "completed"));
        }
    }

    fn add_error(&mut self, error: &Value) {
        if let Some(kind) = error["kind"].as_str() {
            self.error = Some(kind.to_owned());
        }
    }

    /// The reason why a run without the effect failed.
    fn failure(&self) -> TaskFailure {
        const TIMEOUT: i32 = 124;
        const TURN_LIMIT: i32 = 3;
        match self.code {
            None | Some(TIMEOUT) => TaskFailure::Timeout,
            _ if self.error.as_deref() == Some("stuck") => TaskFailure::Stuck,
            Some(TURN_LIMIT) => TaskFailure::Stuck,
            _ if self.calls.is_empty() && self.error.is_none() => TaskFailure::NoCall,
            _ if !self.calls.is_empty() && self.calls.iter().all(|(_, is_success)| !is_success) => {
                TaskFailure::BadArguments
            }
            Some(0) => TaskFailure::WrongContent,
            Some(_) => TaskFailure::Error,
        }
    }
}

/// The time that a run took.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct RunCost {
    pub(super) seconds: f64,
    /// CPU seconds of the model's server, which other programs on the machine hardly change.
    pub(super) cpu: f64,
}

/// A judged run.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) task: String,
    pub(super) kind: TaskKind,
    pub(super) run: u32,
    pub(super) cost: RunCost,
    pub(super) record: RunRecord,
    /// `None` if the effect is there.
    pub(super) failure: Option<TaskFailure>,
}

impl Judged {
    /// Judges a run by its answer, or by the content of the file that the task is about.
    pub(super) fn new(
        task: &SmallTask,
        run: u32,
        cost: RunCost,
        record: RunRecord,
        file: Option<&str>,
    ) -> Self {
        let is_right = match &task.effect {
            Effect::Answer(word) => has_word(&record.answer, word),
            Effect::File { content, .. } => has_content(file, content),
        };
        let failure = (!is_right).then(|| record.failure());
        Self { task: task.id.clone(), kind: task.kind, run, cost, record, failure }
    }

    /// The run in a line.
    pub(super) fn line(&self) -> String {
        let word = self.failure.map_or("right".to_owned(), |failure| failure.to_string());
        let (calls, model_calls) = (self.record.calls.len(), self.record.model_calls);
        format!(
            "{:8} {}  {word:13} {calls} calls, {model_calls} model calls, {:.1} s, CPU {:.1} s",
            self.task, self.run, self.cost.seconds, self.cost.cpu
        )
    }

    pub(super) fn to_json(&self) -> Value {
        let calls = self.record.calls.iter();
        json!({
            "task": self.task, "kind": self.kind.name(), "run": self.run, "seconds": self.cost.seconds, "cpu_seconds": self.cost.cpu,
            "right": self.failure.is_none(), "failure": self.failure.map(|failure| failure.to_string()),
            "exit_code": self.record.code, "error": self.record.error, "model_calls": self.record.model_calls,
            "calls": calls.map(|(name, is_success)| json!({"name": name, "success": is_success})).collect::<Vec<_>>(),
            "answer": self.record.answer,
        })
    }
}

/// Whether a text has a word, in capitals or not.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric()).any(|part| part.eq_ignore_ascii_case(word))
}

/// Whether a file is there with this content. White space around it does not count.
pub(super) fn has_content(text: Option<&str>, content: &str) -> bool {
    text.is_some_and(|text| text.trim() == content.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = r#"{"type":"item.ended","data":{"item":{"status":"STATUS","content":{"type":"tool_call","name":"read_file"}}}}"#;
    const ANSWER: &str = r#"{"type":"result","text":"It is Velmora."}"#;

    fn task(effect: Effect) -> SmallTask {
        SmallTask {
            id: "a".to_owned(),
            kind: TaskKind::Read,
            prompt: String::new(),
            files: std::collections::BTreeMap::new(),
            effect,
        }
    }

    fn check(code: Option<i32>, lines: &[&str], failure: TaskFailure) {
        let record = RunRecord::read(code, &lines.join("\n"));
        let judged =
            Judged::new(&task(Effect::Answer("absent".to_owned())), 1, RunCost::default(), record, None);
        assert_eq!(judged.failure, Some(failure), "{code:?} {lines:?}");
    }

    #[test]
    fn a_failure_has_its_reason() {
        let (done, failed) = (CALL.replace("STATUS", "completed"), CALL.replace("STATUS", "failed"));
        let ended = |kind: &str| format!(r#"{{"type":"turn.ended","data":{{"error":{{"kind":"{kind}"}}}}}}"#);
        check(Some(0), &[ANSWER], TaskFailure::NoCall);
        check(Some(0), &[&failed, ANSWER], TaskFailure::BadArguments);
        check(Some(0), &[&failed, &done, ANSWER], TaskFailure::WrongContent);
        check(Some(1), &[&done, &ended("stuck")], TaskFailure::Stuck);
        check(Some(3), &[&failed], TaskFailure::Stuck);
        check(Some(124), &[&done], TaskFailure::Timeout);
        check(None, &["{\"cut"], TaskFailure::Timeout);
        check(Some(1), &[&ended("transport")], TaskFailure::Error);
    }

    #[test]
    fn the_lines_of_a_recorded_run_are_read() {
        let recorded = include_str!("../../trajectory/fixtures/recorded.json");
        let events: Vec<Value> = serde_json::from_str(recorded).unwrap();
        let lines: Vec<String> = events.iter().map(Value::to_string).collect();
        let record = RunRecord::read(Some(0), &lines.join("\n"));
        let calls: Vec<(&str, bool)> =
            record.calls.iter().map(|(name, is_done)| (&**name, *is_done)).collect();
        let edits = [("edit_file", false), ("run_shell", true), ("edit_file", true), ("write_file", true)];
        assert_eq!(calls, [&[("read_file", true)][..], &edits, &[("run_shell", true)]].concat());
        assert_eq!((record.model_calls, record.error), (7, None));
    }

    #[test]
    fn the_effect_decides_and_not_the_claim() {
        let file = || task(Effect::File { path: "f".to_owned(), content: "banana".to_owned() });
        let claim =
            || RunRecord { code: Some(0), answer: "I wrote banana.".to_owned(), ..RunRecord::default() };
        let failure = |text: Option<&str>| Judged::new(&file(), 1, RunCost::default(), claim(), text).failure;
        assert_eq!(failure(Some("banana\n")), None);
        assert_eq!(failure(Some("a banana")), Some(TaskFailure::NoCall));
        assert_eq!(failure(None), Some(TaskFailure::NoCall));
    }

    #[test]
    fn an_answer_is_right_if_it_has_the_word() {
        let judge = |word: &str| {
            Judged::new(
                &task(Effect::Answer(word.to_owned())),
                1,
                RunCost::default(),
                RunRecord::read(Some(0), ANSWER),
                None,
            )
        };
        assert_eq!(judge("velmora").failure, None);
        assert_eq!(judge("elmo").failure, Some(TaskFailure::NoCall));
    }
}
