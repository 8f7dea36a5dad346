//! The result of a call as the model reads it: a short header and plain text. The log keeps the whole result as JSON.

use buddy_calls::{ADVICE_FIELDS, CHECKS, for_model};
use buddy_protocol::{Envelope, Json, ToolCall, ToolFailure, ToolKind};
use serde_json::Value;

/// The longest text that stands in the header.
const HEADER_CHARS: usize = 120;
/// Lists that say something when they are empty: nothing was found.
const FINDINGS: &[&str] = &["files", "matches", "results", "videos"];
/// Commands that ran for less do not say how long.
const SHORT_RUN_MS: u64 = 1_000;

/// The text for the model about a call that ended; none if it has no result.
pub(crate) fn result_text(call: &ToolCall) -> Option<String> {
    let Envelope { result, error, .. } = call.output.as_ref()?;
    if let Some(failure) = error {
        return Some(failure_text(failure));
    }
    let text = match result.as_ref().map(Json::value) {
        None | Some(Value::Null) => "done".to_owned(),
        Some(Value::String(text)) => text,
        Some(Value::Object(fields)) => {
            let is_edit = matches!(call.kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move);
            let mut sheet = ResultSheet {
                is_edit,
                is_truncated: fields.get("truncated") == Some(&Value::Bool(true)),
                ..Default::default()
            };
            for (name, value) in &fields {
                if ADVICE_FIELDS.contains(&name.as_str()) {
                    sheet.add(name, &advice_for_model(value));
                } else {
                    sheet.add(name, value);
                }
            }
            sheet.text()
        }
        Some(other) => other.to_string(),
    };
    Some(if text.trim().is_empty() { "done".to_owned() } else { text })
}

fn failure_text(failure: &ToolFailure) -> String {
    let ToolFailure { code, message, hint, .. } = failure;
    let hint = hint.as_ref().map(|hint| format!("\nhint: {}", for_model(hint))).unwrap_or_default();
    format!("error {code}: {}{hint}", for_model(message))
}

fn advice_for_model(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(for_model(text)),
        Value::Array(values) => values.iter().map(advice_for_model).collect(),
        other => other.clone(),
    }
}

/// A result on its way to text.
#[derive(Default)]
struct ResultSheet {
    is_edit: bool,
    is_truncated: bool,
    header: Vec<String>,
    /// Texts of several lines, with their names.
    blocks: Vec<(String, String)>,
}

impl ResultSheet {
    fn add(&mut self, name: &str, value: &Value) {
        let label = name.replace('_', " ");
        match (name, value) {
            ("healthy", Value::Bool(false)) => self.header.push("healthy: no".to_owned()),
            // Nothing else that is empty or off says anything.
            (_, Value::Null | Value::Bool(false)) => {}
            (_, Value::String(text)) if text.is_empty() => {}
            (_, Value::Array(elements)) if elements.is_empty() && !FINDINGS.contains(&name) => {}
            ("duration_ms", value) => {
                let ran = value.as_u64().filter(|ran| *ran >= SHORT_RUN_MS);
                self.header.extend(ran.map(|ran| format!("took {:.1} s", seconds(ran))));
            }
            // The log matters where the result does not have everything.
            ("log", _) if !self.is_truncated => {}
            ("log", Value::String(path)) => self.header.push(format!("whole output: `read_file` {path}")),
            ("diff", Value::String(diff)) if self.is_edit && diff.contains("@@") => {
                self.header.push(diff_summary(diff));
            }
            (CHECKS, Value::Array(checks)) => checks.iter().for_each(|check| self.add_check(check)),
            (_, Value::String(text)) if text.contains('\n') || text.chars().count() > HEADER_CHARS => {
                self.blocks.push((label, text.clone()));
            }
            (_, Value::String(text)) => self.header.push(format!("{label}: {text}")),
            (_, Value::Array(elements)) => {
                let lines: Vec<String> = elements.iter().map(line).collect();
                self.blocks.push((label, lines.join("\n")));
            }
            (_, Value::Bool(true)) => self.header.push(label),
            (_, other) => self.header.push(format!("{label}: {other}")),
        }
    }

    /// The outcome of a check of an edited file, which says nothing where nothing is new.
    fn add_check(&mut self, check: &Value) {
        let text = |name: &str| check.get(name).and_then(Value::as_str);
        let name = text("name").unwrap_or_default();
        if let Some(why) = text("not_run") {
            self.header.push(format!("check: {name}: not run: {why}"));
        }
        let new: Vec<&str> = check
            .get("new")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if !new.is_empty() {
            let count = check.get("count").and_then(Value::as_u64).unwrap_or_default();
            let file = text("file").unwrap_or_default();
            self.blocks.push((format!("check: {name}: {count} new in {file}"), new.join("\n")));
        }
    }

    fn text(self) -> String {
        let header = self.header.join("\n");
        let blocks =
            self.blocks.into_iter().map(|(name, text)| format!("{name}:\n{}", text.trim_end_matches('\n')));
        let parts = std::iter::once(header).filter(|header| !header.is_empty()).chain(blocks);
        parts.collect::<Vec<_>>().join("\n")
    }
}

fn line(element: &Value) -> String {
    element.as_str().map_or_else(|| element.to_string(), str::to_owned)
}

#[expect(clippy::cast_precision_loss, reason = "no command runs for 2^53 ms")]
fn seconds(millis: u64) -> f64 {
    millis as f64 / 1_000.0
}

/// The number of lines that a unified diff adds and removes, and the first line that it changes.
fn diff_summary(diff: &str) -> String {
    let count = |sign: &str, head: &str| {
        diff.lines().filter(|line| line.starts_with(sign) && !line.starts_with(head)).count()
    };
    let (added, removed) = (count("+", "+++"), count("-", "---"));
    let mut lines = diff.lines();
    let begin = lines.find_map(|line| {
        let (_, new) = line.strip_prefix("@@ ")?.split_once('+')?;
        new.split([',', ' ']).next()?.parse::<usize>().ok()
    });
    // Lines that stay come first.
    let place = begin.map(|begin| begin + lines.take_while(|line| line.starts_with(' ')).count());
    let place = place.map(|place| format!(", from line {place}")).unwrap_or_default();
    format!("changed: +{added} −{removed}{place}")
}

#[cfg(test)]
mod tests {
    use buddy_protocol::UnixMillis;
    use serde_json::json;

    use super::*;

    fn told(kind: ToolKind, outcome: Result<Value, ToolFailure>) -> String {
        let call = ToolCall {
            call_id: "c".to_owned(),
            name: "t".to_owned(),
            kind,
            title: String::new(),
            input: json!({}).into(),
            output: Some(Envelope::new(UnixMillis(0), outcome)),
            images: Vec::new(),
            target: None,
            had_secrets: false,
            caller: None,
        };
        result_text(&call).unwrap()
    }

    #[test]
    fn a_command_is_its_exit_code_and_its_output() {
        let ran = json!({"exit_code": 1, "signal": null, "stdout": "a \"b\"\n", "stderr": "", "duration_ms": 20,
            "truncated": false, "log": "/l"});
        assert_eq!(told(ToolKind::Execute, Ok(ran)), "exit code: 1\nstdout:\na \"b\"");
        let long = json!({"exit_code": 0, "stdout": "x\ny\n", "duration_ms": 12_340, "truncated": true, "log": "/l"});
        assert_eq!(
            told(ToolKind::Execute, Ok(long)),
            "exit code: 0\ntook 12.3 s\ntruncated\nwhole output: `read_file` /l\nstdout:\nx\ny"
        );
    }

    #[test]
    fn an_edit_tells_how_much_it_changed_and_a_look_at_a_diff_shows_it() {
        let diff = "--- a\n+++ a\n@@ -40,2 +40,3 @@\n one\n-two\n+2\n+3\n";
        let edited = told(ToolKind::Edit, Ok(json!({"path": "/w/a", "diff": diff})));
        assert_eq!(edited, "path: /w/a\nchanged: +2 −1, from line 41");
        assert!(told(ToolKind::Read, Ok(json!({"diff": diff}))).contains("+2\n+3"));
    }

    #[test]
    fn failures_lists_and_nothing_have_a_form_too() {
        let failure = ToolFailure::new("not_found", "no such file").hint("list it");
        assert_eq!(told(ToolKind::Read, Err(failure)), "error not_found: no such file\nhint: list it");
        let list = json!({"entries": ["a", {"name": "b"}]});
        assert_eq!(told(ToolKind::Read, Ok(list)), "entries:\na\n{\"name\":\"b\"}");
        assert_eq!(told(ToolKind::Read, Ok(Value::Null)), "done");
    }
}
