//! `buddy ps`, `buddy logs` and `buddy kill`: the managed processes.

use std::time::Duration;

use buddy_exec::managed::{Condition, Force, ManagedError, State, Status};
use buddy_protocol::UnixMillis;
use buddy_tui::{Exit, Printer, local_time};

use crate::cli::{Kill, Listing, Logs};
use crate::commands::{listing, printer};
use crate::environment::Environment;
use crate::signals::interrupts;
use crate::wiring::managed_processes;

/// How often a log that is followed is looked at. A file that another process writes has no events that cost less.
const LOOK_PAUSE: Duration = Duration::from_millis(200);

/// Lists them, the newest first.
pub(crate) fn list(environment: &Environment, listing: &Listing) -> anyhow::Result<Exit> {
    let all = managed_processes(environment)?.list()?;
    listing::print(listing, all, |all, printer| {
        all.iter().try_for_each(|status| printer.answer(&format!("{}\n", described(status))))
    })
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
            printer().status(&described(&status));
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

fn described(status: &Status) -> String {
    let record = &status.record;
    let time = local_time(UnixMillis(record.started_unix_ms));
    let name = record.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
    let command = record.command.replace('\n', "⏎");
    format!("{}  {time}  {}  {name}{command}", record.id, condition(status))
}

fn condition(status: &Status) -> String {
    let pid = status.record.process.as_ref().map(|process| format!(" {}", process.pid)).unwrap_or_default();
    match (status.condition, &status.record.state) {
        (Condition::Running, _) if status.is_healthy == Some(false) => format!("running{pid} (not ready)"),
        (Condition::Running, _) => format!("running{pid}"),
        (Condition::Restarting, _) => "restarting".to_owned(),
        (Condition::Ended, State::Ended { code: Some(code), .. }) => format!("ended with code {code}"),
        (Condition::Ended, State::Ended { signal: Some(signal), .. }) => format!("ended by signal {signal}"),
        (Condition::Ended, _) => "ended".to_owned(),
        (Condition::Lost, _) => "lost".to_owned(),
    }
}
