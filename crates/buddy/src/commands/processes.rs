//! `buddy ps`, `buddy logs` and `buddy kill`: the managed processes.

use std::time::Duration;

use buddy_exec::managed::{Condition, Force, ManagedError, State, Status};
use buddy_protocol::{UnixMillis, folded_command};
use buddy_tui::{Exit, ListView, Printer, Table, TableCell, TableColumn};

use crate::cli::{Kill, Listing, Logs};
use crate::commands::setup::Invocation;
use crate::commands::{listing, printer};
use crate::environment::Environment;
use crate::signals::interrupts;
use crate::wiring::managed_processes;

/// How often a log that is followed is looked at. A file that another process writes has no events that cost less.
const LOOK_PAUSE: Duration = Duration::from_millis(200);

const COLUMNS: [TableColumn; 6] = [
    TableColumn::word("ID"),
    TableColumn::word("STATUS"),
    TableColumn::word("TIME").dropped_at(1),
    TableColumn::number("PID").dropped_at(3),
    TableColumn::word("SESSION").dropped_at(2),
    TableColumn::free("COMMAND"),
];

/// The list for a conversation; none if there is no process.
pub(crate) fn text(environment: &Environment, view: &ListView) -> anyhow::Result<Option<String>> {
    let all = managed_processes(environment)?.list()?;
    let shown = || table(&all, view).hint("Stop one with `/kill ID`").text(view);
    Ok((!all.is_empty()).then(shown))
}

/// Lists them, the newest first.
pub(crate) fn list(invocation: &Invocation<'_>, listing: &Listing) -> anyhow::Result<Exit> {
    let all = managed_processes(invocation.environment)?.list()?;
    listing::print(invocation, listing, all, |all, view, printer| {
        table(all, view)
            .hint("Read output with `buddy logs ID`, stop one with `buddy kill ID`")
            .print(view, printer)
    })
}

fn table(all: &[Status], view: &ListView) -> Table {
    let mut table = Table::new(&COLUMNS, "No managed processes.");
    let sessions: Vec<&str> = all.iter().map(|status| status.record.owner.session.as_str()).collect();
    for (status, session) in all.iter().zip(view.session_ids(&sessions)) {
        let record = &status.record;
        let pid = record.process.as_ref().map(|process| process.pid.to_string());
        let name = record.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        table.add([
            record.id.as_str().into(),
            condition(status),
            view.since(UnixMillis(record.started_unix_ms)).into(),
            pid.unwrap_or_default().into(),
            session.into(),
            format!("{name}{}", command(&record.command, view)).into(),
        ]);
    }
    table
}

/// A command in one line: folded for a user, whole for a script.
fn command(command: &str, view: &ListView) -> String {
    if view.is_terminal() { folded_command(command) } else { command.replace('\n', "⏎") }
}

/// Shows the end of an output, and what follows it.
pub(crate) async fn logs(environment: &Environment, logs: &Logs) -> anyhow::Result<Exit> {
    let managed = managed_processes(environment)?;
    let (before, mut follow) = match managed.follow(&logs.id, logs.tail) {
        Err(error @ ManagedError::NotFound { .. }) => return Ok(not_found(&error)),
        found => found?,
    };
    let mut printer = printer();
    if !show(&mut printer, &before) {
        return Ok(Exit::OutputClosed);
    }
    if !logs.follow {
        return Ok(Exit::Ok);
    }
    let (mut stop, _tasks) = interrupts()?;
    loop {
        // Before the last look, so that nothing that came before the end is missed.
        let is_live = managed.status(&logs.id)?.condition.is_live();
        loop {
            let bytes = follow.read()?;
            if bytes.is_empty() {
                break;
            }
            if !show(&mut printer, &bytes) {
                return Ok(Exit::OutputClosed);
            }
        }
        if !is_live {
            return Ok(Exit::Ok);
        }
        tokio::select! {
            _ = stop.recv() => return Ok(Exit::Interrupted),
            () = tokio::time::sleep(LOOK_PAUSE) => {}
        }
    }
}

/// Ends one.
pub(crate) fn kill(environment: &Environment, kill: &Kill) -> anyhow::Result<Exit> {
    let managed = managed_processes(environment)?;
    let force = if kill.force { Force::Now } else { Force::Gentle };
    match managed.stop(&kill.id, force) {
        Err(error @ ManagedError::NotFound { .. }) => Ok(not_found(&error)),
        Err(error) => Err(error.into()),
        Ok(status) => {
            printer().status(&format!(
                "stopped {}: {}",
                status.record.id,
                folded_command(&status.record.command)
            ));
            Ok(Exit::Ok)
        }
    }
}

fn not_found(error: &ManagedError) -> Exit {
    printer().status(&format!("buddy: {error}; `buddy ps` lists them"));
    Exit::Failed
}

/// Prints output. Says whether somebody takes it.
fn show(printer: &mut Printer, bytes: &[u8]) -> bool {
    printer.answer(&String::from_utf8_lossy(bytes)).is_ok()
}

fn condition(status: &Status) -> TableCell {
    match (status.condition, &status.record.state) {
        (Condition::Running, _) if status.is_healthy == Some(false) => TableCell::waiting("not ready"),
        (Condition::Running, _) => "running".into(),
        (Condition::Restarting, _) => TableCell::waiting("restarting"),
        (Condition::Ended, State::Ended { code: Some(0), .. }) => "exit 0".into(),
        (Condition::Ended, State::Ended { code: Some(code), .. }) => {
            TableCell::failed(format!("exit {code}"))
        }
        (Condition::Ended, State::Ended { signal: Some(signal), .. }) => {
            TableCell::failed(format!("signal {signal}"))
        }
        (Condition::Ended, _) => "ended".into(),
        (Condition::Lost, _) => TableCell::failed("lost"),
    }
}
