//! A managed process as the model reads it.

use buddy_exec::Ended;
use buddy_exec::managed::{State, Status};
use serde_json::{Value, json};

/// The facts with which the model can go on.
pub(crate) fn shown(status: &Status) -> Value {
    let record = &status.record;
    let mut value = json!({
        "id": record.id,
        "name": record.name,
        "command": record.command,
        "cwd": record.cwd,
        "condition": status.condition,
        "healthy": status.is_healthy,
        "pid": record.process.as_ref().map(|process| process.pid),
        "started_unix_ms": record.started_unix_ms,
        "restarts": record.restarts,
        "session": record.owner.session,
    });
    if let State::Ended { code, signal, by, .. } = record.state {
        value["exit_code"] = json!(code);
        value["signal"] = json!(signal);
        value["stopped"] = json!(by == Ended::Stopped);
    }
    value
}
