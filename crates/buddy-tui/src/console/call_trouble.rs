//! The parts of a call's result that say what went wrong: a failure, a refusal of the jail, a no of the user.

use buddy_protocol::{DENIED_HOSTS, ItemStatus, Json, ToolCall, ToolKind};
use serde_json::Value;

use super::summary::summarise_result;
use crate::addressing::address_user;

/// The words of a result about a no of the user, for the model.
pub(super) const SAID_NO: &str = "the user said no";

/// The accesses that the jail stopped in a call and the connections that failed, each after the name of what it is about. Of
/// each, the last line says what opens it.
pub(crate) fn list_stopped(call: &ToolCall) -> Vec<(&'static str, String)> {
    let result = call.output.as_ref().and_then(|output| output.result.as_ref()).map(Json::value);
    let texts = |name: &str| {
        let texts = result.as_ref().and_then(|result| result.get(name)?.as_array());
        texts.cloned().unwrap_or_default()
    };
    let mut all = Vec::new();
    for name in ["jail", "network"] {
        let texts = texts(name);
        let texts = texts.iter().filter_map(Value::as_str);
        // The model reads the same words.
        all.extend(texts.map(|text| (name, address_user(&text.replace(SAID_NO, "you denied it")))));
    }
    all
}

/// Why a command did not reach a host that it needed, in a few words; none if it lacked no host.
pub(super) fn describe_lacked_host(result: &Value) -> Option<&'static str> {
    result.get(DENIED_HOSTS)?;
    let mut lines = result.get("jail").and_then(Value::as_array).into_iter().flatten();
    let is_by_user = lines.any(|line| line.as_str().is_some_and(|line| line.contains(SAID_NO)));
    Some(if is_by_user { "you denied it" } else { "host denied" })
}

/// The failure of a call, in one line.
pub(crate) fn describe_trouble(call: &ToolCall, status: ItemStatus) -> Option<String> {
    let body = ResultBody::of(call, status);
    let lines: Vec<&str> = body.text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let text = match lines.as_slice() {
        // How a command ended comes first, and why mostly last.
        [how, .., why] if call.kind == ToolKind::Execute && status == ItemStatus::Completed => {
            format!("{how}: {why}")
        }
        [first, ..] => (*first).to_owned(),
        [] => String::new(),
    };
    (body.is_bad && !text.is_empty()).then_some(text)
}

/// The shown part of a result.
struct ResultBody {
    text: String,
    is_bad: bool,
}

impl ResultBody {
    fn of(call: &ToolCall, status: ItemStatus) -> Self {
        let Some(output) = &call.output else {
            let text = if status == ItemStatus::Interrupted { "interrupted" } else { "" };
            return Self { text: text.to_owned(), is_bad: true };
        };
        if let Some(error) = &output.error {
            // The advice to a refused call is for the agent.
            let hint = error.hint.as_deref().filter(|_| status != ItemStatus::Denied);
            let hint = hint.map(|hint| format!("\n{hint}")).unwrap_or_default();
            return Self { text: address_user(&format!("{}{hint}", error.message)), is_bad: true };
        }
        let result: Value = output.result.as_ref().map_or(Value::Null, Json::value);
        Self {
            text: text_of(call.kind, &result),
            is_bad: result.get("exit_code").and_then(Value::as_i64).is_some_and(|code| code != 0),
        }
    }
}

fn text_of(kind: ToolKind, result: &Value) -> String {
    let part = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default();
    match kind {
        ToolKind::Execute if result.get("exit_code").is_some() && result.get("stdout").is_some() => {
            let mut text = format!("{}{}", part("stdout"), part("stderr"));
            if let Some(code) = result.get("exit_code").and_then(Value::as_i64).filter(|code| *code != 0) {
                text = format!("exit code {code}\n{text}");
            }
            if let Some(signal) = result.get("signal").and_then(Value::as_i64) {
                text = format!("ended by signal {signal}\n{text}");
            }
            let note = part("note");
            match (text.trim_end().is_empty(), note.is_empty()) {
                (_, true) => text,
                (true, false) => note.to_owned(),
                (false, false) => format!("{}\n{note}", text.trim_end()),
            }
        }
        _ => summarise_result(result),
    }
}
