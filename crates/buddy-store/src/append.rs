//! One transaction of appends: each is held against its log, the good ones are written, the list is kept up.

use buddy_protocol::{SessionId, SessionSummary, StoreError};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::error::from_sqlite;
use crate::lease::Lease;
use crate::record::{MAX_LOG, Record, VERSION, at, place, range};
use crate::summaries;
use crate::words;

/// What the writer knows about a log that it may write to.
#[derive(Debug)]
pub(crate) struct LogState {
    number: i64,
    head: u64,
    summary: Option<SessionSummary>,
    /// Whether the summary is ahead of its row.
    stale: bool,
}

/// Why a transaction failed.
#[derive(Debug)]
pub(crate) enum Failed {
    /// `SQLite` says why.
    Sqlite(rusqlite::Error),
    /// What is stored makes no sense.
    Stored(StoreError),
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Failed {
    pub(crate) fn to_error(&self) -> StoreError {
        match self {
            Self::Sqlite(error) => from_sqlite(error),
            Self::Stored(error) => error.clone(),
        }
    }
}

/// Writes appends in one transaction. The inner results are of each append: one that does not follow on its log is
/// refused and does not keep the others from being written. When it fails as a whole, nothing was written.
pub(crate) fn append_all(
    connection: &mut Connection,
    appends: &[(&Lease, &[Record])],
) -> Result<Vec<Result<(), StoreError>>, Failed> {
    let outcome = try_append_all(connection, appends);
    if outcome.is_err() {
        // What was taken into the states was not written: they are read anew when next needed.
        for (lease, _) in appends {
            *state_of(lease) = None;
        }
    }
    outcome
}

fn try_append_all(
    connection: &mut Connection,
    appends: &[(&Lease, &[Record])],
) -> Result<Vec<Result<(), StoreError>>, Failed> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut results = Vec::with_capacity(appends.len());
    for (lease, records) in appends {
        results.push(append(&transaction, lease, records)?);
    }
    for (lease, _) in appends {
        save_summary(&transaction, lease)?;
    }
    transaction.commit()?;
    Ok(results)
}

fn append(
    transaction: &Transaction<'_>,
    lease: &Lease,
    records: &[Record],
) -> Result<Result<(), StoreError>, Failed> {
    let mut held = state_of(lease);
    let state = match &mut *held {
        Some(state) => state,
        none => none.insert(load(transaction, &lease.session).map_err(Failed::Stored)?),
    };
    if let Err(error) = follows(&lease.session, state.head, records) {
        return Ok(Err(error));
    }
    if state.number == 0 && !records.is_empty() {
        state.number = begin(transaction, &lease.session)?;
    }
    for record in records {
        insert(transaction, state.number, record)?;
        if let Some(place) = place(state.number, record.seq) {
            words::add(transaction, place, &record.event.fact)?;
        }
        summaries::fold(&mut state.summary, &record.event);
        state.head = record.seq;
        state.stale = true;
    }
    Ok(Ok(()))
}

fn follows(session: &SessionId, head: u64, records: &[Record]) -> Result<(), StoreError> {
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

fn load(connection: &Connection, session: &SessionId) -> Result<LogState, StoreError> {
    let Some(number) = summaries::log_of(connection, session)? else {
        return Ok(LogState { number: 0, head: 0, summary: None, stale: false });
    };
    let last: Option<i64> = connection
        .prepare_cached(
            "SELECT place FROM events WHERE place > ?1 AND place < ?2 ORDER BY place DESC LIMIT 1",
        )
        .and_then(|mut statement| statement.query_row(range(number, 0), |row| row.get(0)).optional())
        .map_err(|error| from_sqlite(&error))?;
    let head = last.map_or(0, |place| at(place).1);
    let row = summaries::load(connection, number).ok().flatten().filter(|summary| summary.head == head);
    let summary = match row {
        Some(summary) => Some(summary),
        // The row is missing or does not belong to this log's end: the log decides.
        None => summaries::derive(connection, session, number)?.0,
    };
    Ok(LogState { number, head, summary, stale: false })
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

fn insert(transaction: &Transaction<'_>, log: i64, record: &Record) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO events (place, version, time, kind, data, private, crc) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            place(log, record.seq),
            VERSION,
            record.time,
            record.event.fact.kind(),
            record.data.get(),
            record.private,
            record.crc,
        ])
        .map(drop)
}

fn save_summary(transaction: &Transaction<'_>, lease: &Lease) -> rusqlite::Result<()> {
    let mut held = state_of(lease);
    let Some(state) = held.as_mut().filter(|state| state.stale) else { return Ok(()) };
    state.stale = false;
    state.summary.as_ref().map_or(Ok(()), |summary| summaries::save(transaction, state.number, summary))
}

fn state_of(lease: &Lease) -> std::sync::MutexGuard<'_, Option<LogState>> {
    // Nothing that can panic runs under this lock in a way that leaves the state half changed and believed: a
    // poisoned one is read anew.
    lease.state.lock().unwrap_or_else(|poisoned| {
        let mut state = poisoned.into_inner();
        *state = None;
        state
    })
}
