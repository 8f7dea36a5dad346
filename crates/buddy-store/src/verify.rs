//! Verification of a log against its chain and its anchor.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use buddy_protocol::{SessionId, StoreError};
use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::anchors::{Anchor, AnchorReading, Anchors, Drift, LogEnd, hold};
use crate::chain::{Hash, digest_of, link, link_of, origin};
use crate::error::from_sqlite;
use crate::record::{COLUMNS, COLUMNS_BEFORE_AUTHORS, Flaw, LINK, at, place, range, raw};
use crate::summaries;

/// The number of rows per batch that are given links in the migration of an older database.
const FILLED: usize = 1000;

/// The number of sessions whose checks the store remembers. Forgotten ones are checked again.
const REMEMBERED: usize = 1024;

/// The link of an event, or the link before the first event for number 0; `None` if there is no such event.
pub(crate) fn link_at(
    connection: &Connection,
    session: &SessionId,
    log: i64,
    seq: u64,
) -> rusqlite::Result<Option<Hash>> {
    if seq == 0 {
        return Ok(Some(origin(session)));
    }
    // An event without a link still exists, but nothing follows it.
    let found = connection
        .prepare_cached("SELECT link FROM events WHERE place = ?1")?
        .query_row([place(log, seq)], |row| link_of(row, 0))
        .optional()?;
    Ok(found.map(Option::unwrap_or_default))
}

/// The end of a log.
pub(crate) fn end_of(connection: &Connection, session: &SessionId, log: i64) -> rusqlite::Result<LogEnd> {
    let last = connection
        .prepare_cached(
            "SELECT place, link FROM events WHERE place > ?1 AND place < ?2 ORDER BY place DESC LIMIT 1",
        )?
        .query_row(range(log, 0), |row| Ok((row.get(0)?, link_of(row, 1)?)))
        .optional()?;
    Ok(match last {
        Some((place, link)) => LogEnd { count: at(place).1, link: link.unwrap_or_default() },
        None => LogEnd { count: 0, link: origin(session) },
    })
}

/// Compares the end of a log with its anchor. Without a file of anchors there is nothing to compare with.
pub(crate) fn check_end(
    connection: &Connection,
    anchors: &Anchors,
    session: &SessionId,
    log: i64,
) -> Result<LogEnd, StoreError> {
    let before = anchors.read(log);
    let end = end_of(connection, session, log).map_err(|error| from_sqlite(&error))?;
    if anchors.is_kept() {
        hold(&before, end, &anchors.read(log)).map_err(|drift| drift.into_error(session))?;
    }
    Ok(end)
}

/// Checks the events after `after` up to `until`, from first to last. Returns the link of the last one.
pub(crate) fn check_part(
    connection: &Connection,
    session: &SessionId,
    log: i64,
    (after, until): (u64, u64),
) -> Result<Hash, StoreError> {
    let sql = |error: rusqlite::Error| from_sqlite(&error);
    let missing = |seq: u64| StoreError::Corrupt(format!("event {seq} of session `{session}` is missing"));
    let mut chain = link_at(connection, session, log, after).map_err(sql)?.ok_or_else(|| missing(after))?;
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS}, link FROM events WHERE place > ?1 AND place <= ?2 ORDER BY place"
        ))
        .map_err(sql)?;
    let (start, _) = range(log, after);
    let mut rows = statement.query((start, place(log, until).unwrap_or(start))).map_err(sql)?;
    let mut expected = after;
    while let Some(row) = rows.next().map_err(sql)? {
        expected += 1;
        let (_, seq) = at(row.get(0).map_err(sql)?);
        if seq != expected {
            return Err(missing(expected));
        }
        let flawed = |flaw: Flaw| flaw.into_error(session, seq);
        let linked = raw(row).map_err(flawed)?.follow(&chain, link_of(row, LINK).map_err(sql)?);
        chain = linked.map_err(flawed)?;
    }
    if expected == until { Ok(chain) } else { Err(missing(expected + 1)) }
}

/// Gives every event of an older database its link.
pub(crate) fn fill(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    for (log, session) in summaries::logs(transaction)? {
        fill_log(transaction, log, &session).map_err(|error| from_sqlite(&error))?;
    }
    Ok(())
}

fn fill_log(transaction: &Transaction<'_>, log: i64, session: &SessionId) -> rusqlite::Result<()> {
    let mut chain = origin(session);
    let (mut start, end) = range(log, 0);
    let mut select = transaction.prepare_cached(&format!(
        "SELECT {COLUMNS_BEFORE_AUTHORS} FROM events
         WHERE place > ?1 AND place < ?2 ORDER BY place LIMIT {FILLED}"
    ))?;
    let mut update = transaction.prepare_cached("UPDATE events SET link = ?2 WHERE place = ?1")?;
    loop {
        let mut links = Vec::with_capacity(FILLED);
        let mut rows = select.query((start, end))?;
        while let Some(row) = rows.next()? {
            let place: i64 = row.get(0)?;
            // A flawed event keeps its flaw: the chain covers the events as stored.
            chain = link(&chain, &digest_of(row, at(place).1)?);
            links.push((place, chain));
        }
        drop(rows);
        let Some((last, _)) = links.last() else { return Ok(()) };
        start = *last;
        for (place, link) in &links {
            update.execute((place, link))?;
        }
    }
}

/// Anchors all logs in their current state or, after a crash, those that extend beyond their anchors.
/// Returns whether there were any.
pub(crate) fn anchor(connection: &Connection, anchors: &Anchors, is_new: bool) -> Result<bool, StoreError> {
    let logs = summaries::logs(connection)?;
    for (log, session) in &logs {
        let (log, session) = (*log, session);
        let end = end_of(connection, session, log).map_err(|error| from_sqlite(&error))?;
        let known = anchors.read(log);
        if is_new || goes_on(connection, session, log, &known, end) {
            anchors.write(log, &settled(session, end))?;
        }
    }
    Ok(!logs.is_empty())
}

/// Whether a log matches its anchor and continues with intact events.
fn goes_on(
    connection: &Connection,
    session: &SessionId,
    log: i64,
    known: &AnchorReading,
    end: LogEnd,
) -> bool {
    let from = match known {
        Ok(Some(anchor)) => anchor.settled,
        Ok(None) => LogEnd { count: 0, link: origin(session) },
        Err(_) => return false,
    };
    let is_same = || link_at(connection, session, log, from.count).ok().flatten() == Some(from.link);
    end.count > from.count
        && is_same()
        && check_part(connection, session, log, (from.count, end.count)).is_ok()
}

/// The anchor of a log with this end.
pub(crate) fn settled(session: &SessionId, end: LogEnd) -> Anchor {
    Anchor { session: session.as_str().to_owned(), settled: end, intended: end }
}

/// Sessions that the anchors know and the list of logs does not.
pub(crate) fn lost(connection: &Connection, anchors: &Anchors) -> Result<Vec<(String, Drift)>, StoreError> {
    let logs = summaries::logs(connection)?;
    let known: HashMap<i64, &SessionId> = logs.iter().map(|(log, session)| (*log, session)).collect();
    let mut lost = Vec::new();
    for log in 0..anchors.len() {
        if let Ok(Some(anchor)) = anchors.read(log)
            && known.get(&log).is_none_or(|session| session.as_str() != anchor.session)
            // An end that was only announced may never have been committed.
            && anchor.settled.count > 0
        {
            lost.push((anchor.session, Drift::Cut(1, anchor.settled.count)));
        }
    }
    Ok(lost)
}

/// The parts of logs that this store has checked, so that an append need not check them again.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// By session: the last event of each part, keyed by the event before its first one.
    parts: Mutex<HashMap<SessionId, BTreeMap<u64, u64>>>,
}

impl Checked {
    /// Notes that a part was checked.
    pub(crate) fn note(&self, session: &SessionId, after: u64, until: u64) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if parts.len() >= REMEMBERED && !parts.contains_key(session) {
            parts.clear();
        }
        let known = parts.entry(session.clone()).or_default().entry(after).or_default();
        *known = until.max(*known);
    }

    /// The last event up to which a log was checked without a gap. Forgets the entry.
    pub(crate) fn take(&self, session: &SessionId) -> u64 {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner).remove(session);
        let mut until = 0;
        for (after, end) in parts.unwrap_or_default() {
            if after <= until {
                until = until.max(end);
            }
        }
        until
    }
}
