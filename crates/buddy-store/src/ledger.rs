//! Spending, read from the usage facts of the log.

use buddy_protocol::{Bill, PrincipalId, SessionId, Spending, StoreError, UnixMillis, UsageReported};
use rusqlite::{Connection, OptionalExtension, params};

use crate::error::from_sqlite;
use crate::summaries;

/// The topmost session above a session. Cycles are impossible, but the queries are bounded anyway.
const TOP: &str = "
    WITH RECURSIVE up (session, parent, depth) AS (
        SELECT logs.session, json_extract(summary, '$.parent'), 0
        FROM sessions JOIN logs USING (number) WHERE logs.session = ?1
        UNION
        SELECT logs.session, json_extract(sessions.summary, '$.parent'), depth + 1
        FROM up JOIN logs ON logs.session = up.parent JOIN sessions USING (number) WHERE depth < 100
    )
    SELECT session FROM up ORDER BY depth DESC LIMIT 1";

/// A session and those below it.
const BENEATH: &str = "
    WITH RECURSIVE down (session, depth) AS (
        SELECT ?1, 0
        UNION
        SELECT logs.session, down.depth + 1
        FROM down JOIN sessions ON json_extract(sessions.summary, '$.parent') = down.session
        JOIN logs USING (number) WHERE down.depth < 100
    )
    SELECT DISTINCT session FROM down";

const SINCE: &str = "
    SELECT data FROM events JOIN sessions ON sessions.number = events.place >> 32
    WHERE kind = 'usage' AND time >= ?1 AND owner_id = ?2";

/// The bill for a scope.
pub(crate) fn bill(connection: &Connection, scope: &Spending) -> Result<Bill, StoreError> {
    match scope {
        Spending::Tree(session) => match top_of(connection, session)? {
            Some(top) => of_subtree(connection, &top),
            None => Ok(Bill::default()),
        },
        Spending::Beneath(session) => of_subtree(connection, session),
        Spending::Since { owner, time } => since(connection, owner, *time),
    }
}

fn top_of(connection: &Connection, session: &SessionId) -> Result<Option<SessionId>, StoreError> {
    let top: Option<String> = (|| {
        let mut statement = connection.prepare_cached(TOP)?;
        statement.query_row([session.as_str()], |row| row.get(0)).optional()
    })()
    .map_err(|error| from_sqlite(&error))?;
    top.as_deref().map(session_of).transpose()
}

fn session_of(text: &str) -> Result<SessionId, StoreError> {
    text.parse().map_err(|error| StoreError::Corrupt(format!("{error}")))
}

fn of_subtree(connection: &Connection, session: &SessionId) -> Result<Bill, StoreError> {
    let sessions = (|| {
        let mut statement = connection.prepare_cached(BENEATH)?;
        statement.query_map([session.as_str()], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
    })();
    let mut bill = Bill::default();
    for session in sessions.map_err(|error| from_sqlite(&error))? {
        let Some(log) = summaries::log_of(connection, &session_of(&session)?)? else { continue };
        if let Some(summary) = summaries::load(connection, log)? {
            merge(&mut bill, &summary.bill);
        }
    }
    Ok(bill)
}

fn merge(bill: &mut Bill, other: &Bill) {
    bill.calls += other.calls;
    bill.usage += other.usage;
    bill.cost += other.cost;
    bill.unpriced += other.unpriced;
}

fn since(
    connection: &Connection,
    owner: &PrincipalId,
    UnixMillis(time): UnixMillis,
) -> Result<Bill, StoreError> {
    let time = i64::try_from(time).unwrap_or(i64::MAX);
    let rows = (|| {
        let mut statement = connection.prepare_cached(SINCE)?;
        statement
            .query_map(params![time, owner.as_str()], |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<String>>>()
    })();
    let mut bill = Bill::default();
    for data in rows.map_err(|error| from_sqlite(&error))? {
        let report: UsageReported = serde_json::from_str(&data)
            .map_err(|error| StoreError::Corrupt(format!("a usage fact cannot be read: {error}")))?;
        bill.add(report.usage, report.cost);
    }
    Ok(bill)
}
