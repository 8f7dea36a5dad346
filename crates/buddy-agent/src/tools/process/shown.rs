//! A managed process as the model reads it.

use buddy_exec::Ended;
use buddy_exec::managed::{ManagedProcesses, State, Status};
use serde_json::{Value, json};

/// What the model needs to go on.
pub(super) fn shown(managed: &ManagedProcesses, status: &Status) -> Value {
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
        "log": managed.log_path(&record.id).to_string_lossy(),
    });
    if let State::Ended { code, signal, by, .. } = record.state {
        value["exit_code"] = json!(code);
        value["signal"] = json!(signal);
        value["stopped"] = json!(by == Ended::Stopped);
    }
    value
}
