//! One transaction of appends: compares each with its log, writes the valid ones, and updates the list of
//! sessions.

use std::sync::Arc;

use buddy_protocol::{SessionId, StoreError};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::anchors::{Anchor, Anchors, LogEnd};
use crate::chain::{Hash, link, origin};
use crate::error::from_sqlite;
use crate::lease::Lease;
use crate::log_state::WriterLogState;
use crate::record::{EventRecord, MAX_LOG, VERSION, place};
use crate::summaries;
use crate::verify::{self, Checked};
use crate::words;

/// Evidence outside the database that an append is checked against.
#[derive(Debug)]
pub(crate) struct Witness {
    pub(crate) anchors: Arc<Anchors>,
    pub(crate) checked: Arc<Checked>,
}

/// The reason why a transaction failed.
#[derive(Debug)]
pub(crate) enum AppendFailure {
    /// An error of `SQLite`.
    Sqlite(rusqlite::Error),
    /// The stored data is invalid.
    Stored(StoreError),
}

impl From<rusqlite::Error> for AppendFailure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl AppendFailure {
    pub(crate) fn to_error(&self) -> StoreError {
        match self {
            Self::Sqlite(error) => from_sqlite(error),
            Self::Stored(error) => error.clone(),
        }
    }
}

/// Writes appends in one transaction. The inner results belong to the single appends: one that does not
/// follow the end of its log is refused, and the others are still written. If the whole transaction fails,
/// nothing is written.
pub(crate) fn append_all(
    connection: &mut Connection,
    witness: &Witness,
    appends: &[(&Lease, &[EventRecord])],
) -> Result<Vec<Result<(), StoreError>>, AppendFailure> {
    let outcome = try_append_all(connection, witness, appends);
    if outcome.is_err() {
        // The states include events that were not written, so they are reloaded when next needed.
        for (lease, _) in appends {
            *state_of(lease) = None;
        }
    }
    outcome
}

fn try_append_all(
    connection: &mut Connection,
    witness: &Witness,
    appends: &[(&Lease, &[EventRecord])],
) -> Result<Vec<Result<(), StoreError>>, AppendFailure> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut results = Vec::with_capacity(appends.len());
    for (lease, records) in appends {
        results.push(append(&transaction, witness, lease, records)?);
    }
    for (lease, _) in appends {
        save_summary(&transaction, lease)?;
        announce(&witness.anchors, lease).map_err(AppendFailure::Stored)?;
    }
    transaction.commit()?;
    for (lease, _) in appends {
        settle(&witness.anchors, lease);
    }
    Ok(results)
}

fn append(
    transaction: &Transaction<'_>,
    witness: &Witness,
    lease: &Lease,
    records: &[EventRecord],
) -> Result<Result<(), StoreError>, AppendFailure> {
    let mut held = state_of(lease);
    let state = match &mut *held {
        Some(state) => state,
        none => match load(transaction, witness, &lease.session) {
            Ok(state) => none.insert(state),
            // Only this log is damaged, not the store, so only appends to it are refused.
            Err(error) => return Ok(Err(error)),
        },
    };
    if let Err(error) = follows(&lease.session, state.head, records) {
        return Ok(Err(error));
    }
    if state.number == 0 && !records.is_empty() {
        state.number = begin(transaction, &lease.session)?;
    }
    for record in records {
        let linked = link(&state.link, &record.digest);
        insert(transaction, state.number, record, &linked)?;
        if let Some(place) = place(state.number, record.seq) {
            words::add(transaction, place, &record.event.fact)?;
        }
        summaries::fold(&mut state.summary, &record.event);
        state.head = record.seq;
        state.link = linked;
        state.stale = true;
    }
    Ok(Ok(()))
}

fn follows(session: &SessionId, head: u64, records: &[EventRecord]) -> Result<(), StoreError> {
    for (expected, record) in (head + 1..).zip(records) {
        if record.seq != expected {
            let head = expected - 1;
            return Err(StoreError::OutOfOrder { session: session.clone(), head, found: record.seq });
        }
        if record.event.session != *session {
            return Err(StoreError::Io(format!(
                "an event of session `{}` cannot be appended to session `{session}`",
                record.event.session
            )));
        }
    }
    Ok(())
}

/// Loads the state of a log. Refuses a log with any event that differs from what buddy wrote.
fn load(
    connection: &Connection,
    witness: &Witness,
    session: &SessionId,
) -> Result<WriterLogState, StoreError> {
    let link = origin(session);
    let anchored = LogEnd { count: 0, link };
    let Some(number) = summaries::log_of(connection, session)? else {
        return Ok(WriterLogState { number: 0, head: 0, link, anchored, summary: None, stale: false });
    };
    let end = verify::check_end(connection, &witness.anchors, session, number)?;
    let head = end.count;
    let checked = witness.checked.take(session).min(head);
    if checked < head {
        verify::check_part(connection, session, number, (checked, head))?;
    }
    let row = summaries::load(connection, number).ok().flatten().filter(|summary| summary.head == head);
    let summary = match row {
        Some(summary) => Some(summary),
        // The row is missing or does not match the end of this log, so the log decides.
        None => summaries::derive(connection, session, number)?.0,
    };
    Ok(WriterLogState { number, head, link: end.link, anchored: end, summary, stale: false })
}

fn begin(transaction: &Transaction<'_>, session: &SessionId) -> rusqlite::Result<i64> {
    let number = transaction
        .prepare_cached(
            "INSERT INTO logs (number, session)
             SELECT max(number) + 1, ?1 FROM (SELECT 0 AS number UNION ALL SELECT max(number) FROM logs)
             RETURNING number",
        )?
        .query_row([session.as_str()], |row| row.get(0))?;
    if number > MAX_LOG {
        return Err(rusqlite::Error::IntegralValueOutOfRange(0, number));
    }
    Ok(number)
}

fn insert(
    transaction: &Transaction<'_>,
    log: i64,
    record: &EventRecord,
    link: &Hash,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO events (place, version, time, kind, data, private, author, crc, link)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            place(log, record.seq),
            VERSION,
            record.time,
            record.event.fact.kind(),
            record.data.get(),
            record.private,
            record.author,
            record.crc,
            link,
        ])
        .map(drop)
}

fn save_summary(transaction: &Transaction<'_>, lease: &Lease) -> rusqlite::Result<()> {
    let mut held = state_of(lease);
    let Some(state) = held.as_mut().filter(|state| state.stale) else { return Ok(()) };
    state.stale = false;
    state.summary.as_ref().map_or(Ok(()), |summary| summaries::save(transaction, state.number, summary))
}

/// Announces outside the database where a log will end.
fn announce(anchors: &Anchors, lease: &Lease) -> Result<(), StoreError> {
    let held = state_of(lease);
    let Some(state) = held.as_ref().filter(|state| state.end() != state.anchored) else { return Ok(()) };
    let session = lease.session.as_str().to_owned();
    anchors.write(state.number, &Anchor { session, settled: state.anchored, intended: state.end() })
}

/// Confirms outside the database where a log ends. If that fails, the announcement says the same.
fn settle(anchors: &Anchors, lease: &Lease) {
    let mut held = state_of(lease);
    let Some(state) = held.as_mut().filter(|state| state.end() != state.anchored) else { return };
    // Set even if writing the slot failed, because the next announcement follows this end.
    state.anchored = state.end();
    if let Err(error) = anchors.write(state.number, &verify::settled(&lease.session, state.end())) {
        tracing::warn!(%error, "cannot anchor a session");
    }
}

fn state_of(lease: &Lease) -> std::sync::MutexGuard<'_, Option<WriterLogState>> {
    // A panic under this lock cannot leave a half-changed state that is later trusted: a poisoned state is
    // reloaded.
    lease.state.lock().unwrap_or_else(|poisoned| {
        let mut state = poisoned.into_inner();
        *state = None;
        state
    })
}
