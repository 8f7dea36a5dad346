//! The list of sessions, derived from the log: how a row is made, read, listed and rebuilt.

use buddy_protocol::{Event, Fact, SessionId, SessionQuery, SessionSummary, StoreError};
use rusqlite::{Connection, OptionalExtension, Transaction, named_params, params};

use crate::error::from_sqlite;
use crate::record::{COLUMNS, decode, range};

/// What a rebuild of the list found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildReport {
    /// Rows of the list before.
    pub before: u64,
    /// Rows of the list now.
    pub after: u64,
    /// Events that were read.
    pub events: u64,
}

/// Takes one more event into a summary, which begins with the session's first fact.
pub(crate) fn fold(summary: &mut Option<SessionSummary>, event: &Event) {
    if let (None, Fact::SessionStarted(started)) = (&summary, &event.fact) {
        *summary = Some(SessionSummary::begin(&event.session, started, event.time));
    }
    if let Some(summary) = summary {
        summary.apply(event);
    }
}

/// Writes a session's row.
pub(crate) fn save(connection: &Connection, log: i64, summary: &SessionSummary) -> rusqlite::Result<()> {
    let text = serde_json::to_string(summary)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let updated = i64::try_from(summary.updated.0).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "INSERT INTO sessions (number, owner, cwd, updated, summary) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (number) DO UPDATE SET updated = excluded.updated, summary = excluded.summary",
        )?
        .execute(params![log, summary.owner.name, summary.cwd, updated, text])
        .map(drop)
}

/// Reads a session's row.
pub(crate) fn load(connection: &Connection, log: i64) -> Result<Option<SessionSummary>, StoreError> {
    connection
        .prepare_cached("SELECT summary FROM sessions WHERE number = ?1")
        .and_then(|mut statement| statement.query_row([log], |row| row.get::<_, String>(0)).optional())
        .map_err(|error| from_sqlite(&error))?
        .map(|text| parse(&text))
        .transpose()
}

/// The number of a session's log.
pub(crate) fn log_of(connection: &Connection, session: &SessionId) -> Result<Option<i64>, StoreError> {
    connection
        .prepare_cached("SELECT number FROM logs WHERE session = ?1")
        .and_then(|mut statement| statement.query_row([session.as_str()], |row| row.get(0)).optional())
        .map_err(|error| from_sqlite(&error))
}

/// Summaries, last used first, at most `limit`.
pub(crate) fn list(
    connection: &Connection,
    query: &SessionQuery,
    limit: usize,
) -> Result<Vec<SessionSummary>, StoreError> {
    let texts = (|| {
        let mut statement = connection.prepare_cached(
            "SELECT summary FROM sessions
             WHERE (:owner IS NULL OR owner = :owner) AND (:cwd IS NULL OR cwd = :cwd)
             AND (NOT :is_waiting OR json_extract(summary, '$.state') = 'waiting')
             ORDER BY updated DESC, number DESC LIMIT :limit",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = named_params! {
            ":owner": query.owner, ":cwd": query.cwd, ":is_waiting": query.is_waiting, ":limit": limit,
        };
        statement.query_map(values, |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
    })();
    texts.map_err(|error| from_sqlite(&error))?.iter().map(|text| parse(text)).collect()
}

/// Folds a log from its beginning.
pub(crate) fn derive(
    connection: &Connection,
    session: &SessionId,
    log: i64,
) -> Result<(Option<SessionSummary>, u64), StoreError> {
    let sql = |error: rusqlite::Error| from_sqlite(&error);
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM events WHERE place > ?1 AND place < ?2 ORDER BY place"
        ))
        .map_err(sql)?;
    let mut rows = statement.query(range(log, 0)).map_err(sql)?;
    let mut summary = None;
    let mut count = 0;
    while let Some(row) = rows.next().map_err(sql)? {
        let (event, _) = decode(session, row).map_err(|flaw| flaw.into_error(session, count + 1))?;
        fold(&mut summary, &event);
        count += 1;
    }
    Ok((summary, count))
}

/// Empties the list and derives it anew.
pub(crate) fn rebuild(transaction: &Transaction<'_>) -> Result<RebuildReport, StoreError> {
    let sql = |error: rusqlite::Error| from_sqlite(&error);
    let before = transaction.execute("DELETE FROM sessions", []).map_err(sql)?;
    let mut report = RebuildReport { before: before as u64, after: 0, events: 0 };
    for (log, session) in logs(transaction)? {
        let (summary, events) = derive(transaction, &session, log)?;
        report.events += events;
        if let Some(summary) = summary {
            save(transaction, log, &summary).map_err(sql)?;
            report.after += 1;
        }
    }
    Ok(report)
}

/// All logs and whose they are.
pub(crate) fn logs(connection: &Connection) -> Result<Vec<(i64, SessionId)>, StoreError> {
    let rows = (|| {
        let mut statement = connection.prepare("SELECT number, session FROM logs ORDER BY number")?;
        statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<Vec<(i64, String)>>>()
    })();
    let rows = rows.map_err(|error| from_sqlite(&error))?;
    rows.into_iter()
        .map(|(log, session)| match SessionId::try_from(session) {
            Ok(session) => Ok((log, session)),
            Err(error) => Err(StoreError::Corrupt(format!("log {log}: {error}"))),
        })
        .collect()
}

fn parse(text: &str) -> Result<SessionSummary, StoreError> {
    serde_json::from_str(text).map_err(|error| {
        StoreError::Corrupt(format!("a row of the list of sessions is damaged ({error}); rebuild it"))
    })
}
