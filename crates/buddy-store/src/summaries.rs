//! The list of sessions, derived from the log: how rows are written, read, listed and rebuilt.

use std::collections::BTreeSet;

use buddy_protocol::{
    Event, Fact, PrincipalId, SessionId, SessionQuery, SessionSummary, StoreError, UnixMillis,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params, params};
use serde_json::Value;

use crate::error::from_sqlite;
use crate::record::{COLUMNS, at, decode, range};

/// The result of a rebuild of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildReport {
    /// The number of rows before.
    pub before: u64,
    /// The number of rows after.
    pub after: u64,
    /// The number of events that were read.
    pub events: u64,
}

/// Applies one more event to a summary, which begins with the session's first fact.
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
            "INSERT INTO sessions (number, owner_id, cwd, updated, summary) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (number) DO UPDATE SET updated = excluded.updated, summary = excluded.summary",
        )?
        .execute(params![log, summary.owner.id.as_str(), summary.cwd, updated, text])
        .map(drop)
}

/// Reads a session's summary from its row.
pub(crate) fn load(connection: &Connection, log: i64) -> Result<Option<SessionSummary>, StoreError> {
    Ok(load_row(connection, log)?.map(|row| row.summary))
}

/// Reads a session's row.
pub(crate) fn load_row(connection: &Connection, log: i64) -> Result<Option<SummaryRow>, StoreError> {
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, String>(3)?));
    connection
        .prepare_cached("SELECT owner_id, cwd, updated, summary FROM sessions WHERE number = ?1")
        .and_then(|mut statement| statement.query_row([log], read).optional())
        .map_err(|error| from_sqlite(&error))?
        .map(|(owner_id, cwd, updated, text)| {
            Ok(SummaryRow { owner_id, cwd, updated, summary: parse(&text)? })
        })
        .transpose()
}

/// All columns of a session's row except its number.
pub(crate) struct SummaryRow {
    owner_id: String,
    cwd: String,
    updated: i64,
    pub(crate) summary: SessionSummary,
}

impl SummaryRow {
    /// The columns that disagree with the summary derived from the log. Parts of the `summary` column are
    /// named too.
    pub(crate) fn differences(&self, derived: &SessionSummary) -> Vec<String> {
        let updated = i64::try_from(derived.updated.0).unwrap_or(i64::MAX);
        let columns = [
            ("owner_id", self.owner_id != derived.owner.id.as_str()),
            ("cwd", self.cwd != derived.cwd),
            ("updated", self.updated != updated),
        ];
        let mut names: Vec<String> = Vec::new();
        names.extend(columns.iter().filter(|(_, differs)| *differs).map(|(name, _)| (*name).to_owned()));
        names.extend(differing_parts(&self.summary, derived));
        names
    }
}

/// The parts in which two summaries differ.
fn differing_parts(row: &SessionSummary, derived: &SessionSummary) -> Vec<String> {
    let (Ok(Value::Object(row)), Ok(Value::Object(derived))) =
        (serde_json::to_value(row), serde_json::to_value(derived))
    else {
        return vec!["summary".to_owned()];
    };
    let names: BTreeSet<&String> = row.keys().chain(derived.keys()).collect();
    let differs = |name: &&String| row.get(*name) != derived.get(*name);
    names.into_iter().filter(differs).map(|name| format!("summary.{name}")).collect()
}

/// The summary of a session for a client. Its owner and its directory must match its first event.
pub(crate) fn find(
    connection: &Connection,
    session: &SessionId,
    log: i64,
) -> Result<Option<SessionSummary>, StoreError> {
    let Some(row) = load_row(connection, log)? else { return Ok(None) };
    let mut first = None;
    each(connection, session, log, "kind = 'session.started'", |event| {
        fold(&mut first, event);
        true
    })?;
    let differs = first.is_some_and(|first: SessionSummary| {
        let fixed = |summary: &SessionSummary| {
            let SessionSummary { id, owner, agent, cwd, parent, created, .. } = summary.clone();
            // Names do not make principals equal, but a changed one is a changed row.
            (id, owner.name.clone(), owner, agent, cwd, parent, created)
        };
        fixed(&row.summary) != fixed(&first)
            || (row.owner_id.as_str(), &row.cwd) != (first.owner.id.as_str(), &first.cwd)
    });
    if differs {
        check_row(connection, session, log)?;
    }
    Ok(Some(row.summary))
}

/// Compares a session's row with its log. Reads only the events that a summary consists of.
pub(crate) fn check_row(connection: &Connection, session: &SessionId, log: i64) -> Result<(), StoreError> {
    let row = load_row(connection, log)?;
    let derived = derive_lightly(connection, session, log)?;
    let how = match (&row, &derived) {
        // A missing row is harmless: the next append recreates it.
        (None, _) => return Ok(()),
        (Some(_), None) => "has a row though it never started".to_owned(),
        (Some(row), Some(derived)) => match row.differences(derived).as_slice() {
            [] => return Ok(()),
            names => format!("differs from its log in {}", names.join(", ")),
        },
    };
    Err(StoreError::Corrupt(format!(
        "session `{session}` {how} in the list of sessions; `buddy store rebuild` makes the list anew from the logs"
    )))
}

/// The number of a session's log.
pub(crate) fn log_of(connection: &Connection, session: &SessionId) -> Result<Option<i64>, StoreError> {
    connection
        .prepare_cached("SELECT number FROM logs WHERE session = ?1")
        .and_then(|mut statement| statement.query_row([session.as_str()], |row| row.get(0)).optional())
        .map_err(|error| from_sqlite(&error))
}

/// Summaries, most recently used first, at most `limit`.
pub(crate) fn list(
    connection: &Connection,
    query: &SessionQuery,
    limit: usize,
) -> Result<Vec<SessionSummary>, StoreError> {
    let texts = (|| {
        let mut statement = connection.prepare_cached(
            "SELECT summary FROM sessions
             WHERE (:owner IS NULL OR owner_id = :owner) AND (:cwd IS NULL OR cwd = :cwd)
             AND (NOT :is_waiting OR json_extract(summary, '$.state') = 'waiting')
             AND (:updated IS NULL OR updated < :updated
                  OR (updated = :updated AND number < (SELECT number FROM logs WHERE session = :session)))
             ORDER BY updated DESC, number DESC LIMIT :limit",
        )?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = named_params! {
            ":owner": query.owner.as_ref().map(PrincipalId::as_str), ":cwd": query.cwd, ":is_waiting": query.is_waiting, ":limit": limit,
            ":updated": query.after.as_ref().map(|after| i64::try_from(after.updated.0).unwrap_or(i64::MAX)),
            ":session": query.after.as_ref().map(|after| after.session.as_str()),
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

/// Kinds of events that change nothing in a summary except its time.
const SILENT: &str = "'item.started', 'item.changed', 'item.delta', 'item.ended', 'notice', 'native'";

/// Like [`derive()`], but skips the bulk of long logs: of the items it reads only the first one that gives the
/// title.
fn derive_lightly(
    connection: &Connection,
    session: &SessionId,
    log: i64,
) -> Result<Option<SessionSummary>, StoreError> {
    let mut summary = None;
    let facts = format!("kind NOT IN ({SILENT})");
    each(connection, session, log, &facts, |event| {
        fold(&mut summary, event);
        false
    })?;
    let Some(summary) = &mut summary else { return Ok(None) };
    if summary.title.is_none() {
        let (updated, head) = (summary.updated, summary.head);
        each(connection, session, log, "kind = 'item.ended'", |event| {
            summary.apply(event);
            summary.title.is_some()
        })?;
        (summary.updated, summary.head) = (updated, head);
    }
    let last = connection
        .prepare_cached(
            "SELECT place, time FROM events WHERE place > ?1 AND place < ?2 ORDER BY place DESC LIMIT 1",
        )
        .and_then(|mut last| last.query_row(range(log, 0), |row| Ok((row.get(0)?, row.get::<_, i64>(1)?))));
    let (place, time) = last.map_err(|error| from_sqlite(&error))?;
    (summary.head, summary.updated) = (at(place).1, UnixMillis(time.cast_unsigned()));
    Ok(Some(summary.clone()))
}

/// Calls a function with the events of a log that meet a condition, in order, until it stops.
fn each(
    connection: &Connection,
    session: &SessionId,
    log: i64,
    condition: &str,
    mut is_enough: impl FnMut(&Event) -> bool,
) -> Result<(), StoreError> {
    let sql = |error: rusqlite::Error| from_sqlite(&error);
    let text = format!(
        "SELECT {COLUMNS} FROM events WHERE place > ?1 AND place < ?2 AND {condition} ORDER BY place"
    );
    let mut statement = connection.prepare_cached(&text).map_err(sql)?;
    let mut rows = statement.query(range(log, 0)).map_err(sql)?;
    while let Some(row) = rows.next().map_err(sql)? {
        let seq = at(row.get(0).map_err(sql)?).1;
        let (event, _) = decode(session, row).map_err(|flaw| flaw.into_error(session, seq))?;
        if is_enough(&event) {
            break;
        }
    }
    Ok(())
}

/// Empties the list and derives it again.
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

/// Empties the list.
pub(crate) fn clear(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    transaction.execute("DELETE FROM sessions", []).map(drop).map_err(|error| from_sqlite(&error))
}

/// Writes every row again with the id of its owner. A row that cannot be read is derived from its log; the row of a
/// damaged log is left out, so that one session does not keep the others from being opened.
pub(crate) fn fill_owners(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    for (log, session) in logs(transaction)? {
        let summary = match load(transaction, log) {
            Ok(Some(summary)) => Some(summary),
            _ => derive(transaction, &session, log).ok().and_then(|(summary, _)| summary),
        };
        transaction
            .execute("DELETE FROM sessions WHERE number = ?1", [log])
            .and_then(|_| summary.map_or(Ok(()), |summary| save(transaction, log, &summary)))
            .map_err(|error| from_sqlite(&error))?;
    }
    Ok(())
}

/// All logs and their sessions.
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
