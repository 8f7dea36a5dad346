//! The list of managed processes.

use std::time::Duration;

use buddy_protocol::operations::{ManagedProcess, ProcessCondition, ProcessState};
use buddy_protocol::{UnixMillis, folded_command};
use buddy_tui::{ListView, Printer, Table, TableCell, TableColumn, describe_elapsed};

const COLUMNS: [TableColumn; 6] = [
    TableColumn::word("ID"),
    TableColumn::word("STATUS"),
    TableColumn::word("TIME").dropped_at(1),
    TableColumn::number("PID").dropped_at(3),
    TableColumn::word("SESSION").dropped_at(2),
    TableColumn::free("COMMAND"),
];

/// The processes.
pub(crate) fn processes_table(all: &[ManagedProcess], view: &ListView) -> Table {
    let mut table = Table::new(&COLUMNS, "No managed processes.");
    let sessions: Vec<&str> = all.iter().map(|process| process.record.owner.session.as_str()).collect();
    for (process, session) in all.iter().zip(view.session_ids(&sessions)) {
        let record = &process.record;
        let pid = record.process.as_ref().map(|process| process.pid.to_string());
        let name = record.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        table.add([
            record.id.as_str().into(),
            condition_cell(process),
            time_cell(process, view),
            pid.unwrap_or_default().into(),
            session.into(),
            format!("{name}{}", one_line(&record.command, view)).into(),
        ]);
    }
    table
}

/// When it was started; of an ended one, how long it ran.
fn time_cell(process: &ManagedProcess, view: &ListView) -> TableCell {
    let started = process.record.started_unix_ms;
    match process.record.state {
        ProcessState::Ended { unix_ms, .. } if view.is_terminal() => {
            format!("ran {}", describe_elapsed(Duration::from_millis(unix_ms.saturating_sub(started)))).into()
        }
        _ => view.since(UnixMillis(started)).into(),
    }
}

/// Whether one of them can be stopped.
pub(crate) fn has_live(all: &[ManagedProcess]) -> bool {
    let is_live = |process: &ManagedProcess| {
        matches!(process.condition, ProcessCondition::Running | ProcessCondition::Restarting)
    };
    all.iter().any(is_live)
}

/// Says that a process was stopped.
pub(crate) fn print_stopped(process: &ManagedProcess, printer: &mut Printer) {
    let record = &process.record;
    printer.status(&format!("stopped {}: {}", record.id, folded_command(&record.command)));
}

/// A command in one line: folded for a user, whole for a script.
fn one_line(command: &str, view: &ListView) -> String {
    if view.is_terminal() { folded_command(command) } else { command.replace('\n', "⏎") }
}

fn condition_cell(process: &ManagedProcess) -> TableCell {
    match (process.condition, &process.record.state) {
        (ProcessCondition::Running, _) if process.is_healthy == Some(false) => {
            TableCell::waiting("not ready")
        }
        (ProcessCondition::Running, _) => "running".into(),
        (ProcessCondition::Restarting, _) => TableCell::waiting("restarting"),
        (ProcessCondition::Ended, ProcessState::Ended { code: Some(0), .. }) => "exit 0".into(),
        (ProcessCondition::Ended, ProcessState::Ended { code: Some(code), .. }) => {
            TableCell::failed(format!("exit {code}"))
        }
        (ProcessCondition::Ended, ProcessState::Ended { signal: Some(signal), .. }) => {
            TableCell::failed(format!("signal {signal}"))
        }
        (ProcessCondition::Ended, _) => "ended".into(),
        (ProcessCondition::Lost, _) => TableCell::failed("lost"),
    }
}
