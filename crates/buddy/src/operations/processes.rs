//! The managed processes of the user.

use std::time::Duration;

use anyhow::bail;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use buddy_exec::managed::{
    Condition, Force, Health, Identity, ManagedError, ManagedProcesses, Owner, Record, Restart, State, Status,
};
use buddy_exec::{Ended, Reach};
use buddy_protocol::operations::{
    ManagedProcess, OutputChunk, ProcessCondition, ProcessEnd, ProcessHealth, ProcessIdentity, ProcessOwner,
    ProcessRecord, ProcessRestart, ProcessState, ProcessWrites, ReadProcessOutput, StopProcess,
};
use buddy_protocol::{Base64, OperationError, OperationErrorCode};
use tokio::sync::mpsc;

use crate::environment::Environment;
use crate::local_machine::managed_processes;
use crate::session_choice::short_id;

/// How often output that is followed is looked at. A file that another process writes has no events that cost less.
const LOOK_PAUSE: Duration = Duration::from_millis(200);

/// The beginning of every id.
const ID_START: &str = "proc-";

/// All of them, newest first.
pub(super) fn list(environment: &Environment) -> anyhow::Result<Vec<ManagedProcess>> {
    Ok(managed_processes(environment)?.list()?.into_iter().map(managed_process).collect())
}

/// Stops one.
pub(super) fn stop(environment: &Environment, request: &StopProcess) -> anyhow::Result<ManagedProcess> {
    let force = if request.is_forced { Force::Now } else { Force::Gentle };
    let managed = managed_processes(environment)?;
    let id = whole_id(&managed, &request.id)?;
    let stopped = managed.stop(&id, force).map_err(explain)?;
    Ok(managed_process(stopped))
}

/// Reads the end of the output of one, and follows it if that is wanted.
pub(super) async fn read(
    environment: &Environment,
    request: &ReadProcessOutput,
    parts: &mpsc::Sender<OutputChunk>,
) -> anyhow::Result<()> {
    let managed = managed_processes(environment)?;
    let id = whole_id(&managed, &request.id)?;
    let (before, mut follow) = managed.follow(&id, request.tail).map_err(explain)?;
    if !before.is_empty() && parts.send(chunk(&before)).await.is_err() {
        return Ok(());
    }
    if !request.follows {
        return Ok(());
    }
    loop {
        // Before the last look, so that nothing that came before the end is missed.
        let is_live = managed.status(&id)?.condition.is_live();
        loop {
            let bytes = follow.read()?;
            if bytes.is_empty() {
                break;
            }
            if parts.send(chunk(&bytes)).await.is_err() {
                return Ok(());
            }
        }
        if !is_live {
            return Ok(());
        }
        tokio::time::sleep(LOOK_PAUSE).await;
    }
}

/// The id that a user means by an id, the name of one that runs, or the first digits of an id. Without one such process it stays
/// as it is.
fn whole_id(managed: &ManagedProcesses, wanted: &str) -> anyhow::Result<String> {
    let all = managed.list()?;
    let of_name = |status: &&Status| status.record.name.as_deref() == Some(wanted);
    let mut named = all.iter().filter(of_name).filter(|status| status.condition.is_live());
    let ids: Vec<&str> = all.iter().map(|status| status.record.id.as_str()).collect();
    if ids.contains(&wanted) {
        return Ok(wanted.to_owned());
    }
    match (named.next(), named.next()) {
        (Some(first), Some(second)) => {
            let (first, second) = (&first.record.id, &second.record.id);
            bail!("`{wanted}` is the name of `{first}` and `{second}`; use an id")
        }
        (Some(only), None) => return Ok(only.record.id.clone()),
        (None, _) => {}
    }
    let digits = wanted.strip_prefix(ID_START).unwrap_or(wanted);
    let bare: Vec<&str> = ids.iter().map(|id| id.strip_prefix(ID_START).unwrap_or(id)).collect();
    let found = short_id(&bare, digits)?.map(|digits| format!("{ID_START}{digits}"));
    Ok(found.unwrap_or_else(|| wanted.to_owned()))
}

fn chunk(bytes: &[u8]) -> OutputChunk {
    OutputChunk { bytes: Base64::from(STANDARD.encode(bytes)) }
}

/// An error that says how to find the right id.
fn explain(error: ManagedError) -> anyhow::Error {
    match error {
        ManagedError::NotFound { .. } => {
            let message = format!("{error}; `buddy ps` lists them");
            OperationError::new(OperationErrorCode::NotFound, message).into()
        }
        error => error.into(),
    }
}

fn managed_process(status: Status) -> ManagedProcess {
    ManagedProcess {
        record: process_record(status.record),
        condition: match status.condition {
            Condition::Running => ProcessCondition::Running,
            Condition::Restarting => ProcessCondition::Restarting,
            Condition::Ended => ProcessCondition::Ended,
            Condition::Lost => ProcessCondition::Lost,
        },
        is_healthy: status.is_healthy,
    }
}

fn process_record(record: Record) -> ProcessRecord {
    let Owner { person, session } = record.owner;
    ProcessRecord {
        id: record.id,
        name: record.name,
        owner: ProcessOwner { person, session },
        command: record.command,
        argv: record.argv,
        cwd: record.cwd,
        env_names: record.env_names,
        had_secrets: record.had_secrets,
        unasked_writes: match record.unasked_writes {
            Reach::Nothing => ProcessWrites::Nothing,
            Reach::Beneath(places) => ProcessWrites::Beneath(
                places.iter().map(|place| place.to_string_lossy().into_owned()).collect(),
            ),
            Reach::Anywhere => ProcessWrites::Anywhere,
        },
        started_unix_ms: record.started_unix_ms,
        restart: match record.restart {
            Restart::Never => ProcessRestart::Never,
            Restart::OnFailure => ProcessRestart::OnFailure,
        },
        restarts: record.restarts,
        health: record.health.map(|health| match health {
            Health::Port(port) => ProcessHealth::Port(port),
            Health::Line(line) => ProcessHealth::Line(line),
        }),
        has_printed_line: record.has_printed_line,
        keeper: process_identity(record.keeper),
        process: record.process.map(process_identity),
        state: process_state(&record.state),
    }
}

fn process_identity(identity: Identity) -> ProcessIdentity {
    let Identity { pid, start_time, boot_id } = identity;
    ProcessIdentity { pid, start_time, boot_id }
}

fn process_state(state: &State) -> ProcessState {
    match *state {
        State::Running => ProcessState::Running,
        State::Restarting => ProcessState::Restarting,
        State::Lost => ProcessState::Lost,
        State::Ended { code, signal, by, unix_ms, survivors } => ProcessState::Ended {
            code,
            signal,
            by: match by {
                Ended::Exited => ProcessEnd::Exited,
                Ended::TimedOut => ProcessEnd::TimedOut,
                Ended::Stopped => ProcessEnd::Stopped,
            },
            unix_ms,
            survivors,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scripts read the JSON of `buddy ps`, which had the form of the records before.
    #[test]
    fn a_process_is_written_as_its_record_is() {
        let identity = Identity { pid: 1, start_time: 2, boot_id: "b".to_owned() };
        let state =
            State::Ended { code: Some(0), signal: None, by: Ended::Stopped, unix_ms: 3, survivors: 0 };
        let record = Record {
            id: "proc-1".to_owned(),
            name: Some("n".to_owned()),
            owner: Owner { person: "usr_ann".to_owned(), session: "ses_1".to_owned() },
            command: "c".to_owned(),
            argv: vec!["c".to_owned()],
            cwd: "/".to_owned(),
            env_names: vec!["A".to_owned()],
            had_secrets: true,
            unasked_writes: Reach::Beneath(vec!["/w".into()]),
            started_unix_ms: 4,
            restart: Restart::OnFailure,
            restarts: 5,
            health: Some(Health::Port(80)),
            has_printed_line: true,
            keeper: identity.clone(),
            process: Some(identity),
            state,
        };
        let status = Status { record, condition: Condition::Ended, is_healthy: None };
        let expected = serde_json::to_value(&status).unwrap();
        let process = managed_process(status);
        let wire = serde_json::to_value(&process).unwrap();
        assert_eq!(wire, expected);
        assert_eq!(serde_json::from_value::<ManagedProcess>(wire).unwrap(), process);
    }
}
