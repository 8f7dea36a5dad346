//! Reading: a few read-only connections, opened on demand, each used by one blocking thread at a time.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use buddy_protocol::{Event, ItemId, LogEntry, SessionId, StoreError};
use rusqlite::{Connection, Row};
use tokio::sync::Semaphore;

use crate::anchors::Anchors;
use crate::chain::{Hash, link, link_of};
use crate::error::from_sqlite;
use crate::record::{COLUMNS, Flaw, LINK, at, place, range, raw};
use crate::summaries;
use crate::verify::{self, Checked, link_at};

/// The maximum number of events in one read.
pub const MAX_READ_EVENTS: usize = 10_000;

/// A read stops after the event that exceeds this size.
pub const MAX_READ_BYTES: usize = 16 << 20;

/// The maximum number of summaries in one list.
pub const MAX_LIST: usize = 1000;

/// The number of concurrent reads. Reads are short; more would only compete for the same cores and cache.
const CONNECTIONS: usize = 4;

/// The pool of read-only connections.
pub(crate) struct Readers {
    path: PathBuf,
    open: ReadConnection,
    /// Unused connections.
    idle: Mutex<Vec<Connection>>,
    /// One permit for each connection that may be in use.
    room: Arc<Semaphore>,
}

/// The way to open a connection.
type ReadConnection = fn(&Path) -> Result<Connection, StoreError>;

impl Readers {
    pub(crate) fn new(path: PathBuf, open: ReadConnection) -> Self {
        Self { path, open, idle: Mutex::new(Vec::new()), room: Arc::new(Semaphore::new(CONNECTIONS)) }
    }

    /// Runs `read` on a connection, on a blocking thread.
    pub(crate) async fn run<T, F>(self: &Arc<Self>, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let room = self.room.clone().acquire_owned().await.map_err(|_| closed())?;
        let readers = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            let _room = room;
            readers.run_blocking(read)
        });
        task.await.map_err(|error| StoreError::Io(format!("a read of the store broke off: {error}")))?
    }

    fn run_blocking<T, F>(&self, read: F) -> Result<T, StoreError>
    where
        F: FnOnce(&mut Connection) -> Result<T, StoreError>,
    {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut connection = match idle {
            Some(connection) => connection,
            None => (self.open)(&self.path)?,
        };
        // After a failure the connection is dropped.
        let value = read(&mut connection)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.room.is_closed() {
            idle.push(connection);
        }
        Ok(value)
    }

    /// Refuses further reads and closes idle connections. Running reads finish.
    pub(crate) fn close(&self) {
        self.room.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Up to `limit` events after number `after`, each verified against its checksum and the chain. A page ends
/// before a damaged or missing event, so that all events before it are readable; the read that begins there
/// fails. The read at the end of a log compares that end with its anchor.
pub(crate) fn read_page(
    connection: &mut Connection,
    anchors: &Anchors,
    session: &SessionId,
    after: u64,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    let sql = |error: rusqlite::Error| from_sqlite(&error);
    let Some(log) = summaries::log_of(connection, session)? else { return Ok(Vec::new()) };
    let limit = limit.min(MAX_READ_EVENTS);
    // One transaction reads everything from one snapshot.
    let moment = connection.transaction().map_err(sql)?;
    let before = link_at(&moment, session, log, after).map_err(sql)?;
    let mut page = EventPage { session, events: Vec::new(), bytes: 0, expected: after, chain: before };
    let ended = fill(&moment, log, limit, &mut page)?;
    drop(moment);
    match ended {
        Some(flaw) if page.events.is_empty() => Err(flaw),
        None if page.events.is_empty() && limit > 0 => {
            // Not in that snapshot: the anchor is read first, so that it is never ahead of the log.
            verify::check_end(connection, anchors, session, log).map(|_| Vec::new())
        }
        _ => Ok(page.events),
    }
}

/// A page of events that is being read.
struct EventPage<'a> {
    session: &'a SessionId,
    events: Vec<Event>,
    bytes: usize,
    /// The number of the last event.
    expected: u64,
    /// Its link; `None` if the event before the first one is missing.
    chain: Option<Hash>,
}

/// Reads events up to a bound or a flaw, which it returns.
fn fill(
    connection: &Connection,
    log: i64,
    limit: usize,
    page: &mut EventPage<'_>,
) -> Result<Option<StoreError>, StoreError> {
    let sql = |error: rusqlite::Error| from_sqlite(&error);
    let (start, end) = range(log, page.expected);
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS}, link FROM events WHERE place > ?1 AND place < ?2 ORDER BY place LIMIT ?3"
        ))
        .map_err(sql)?;
    let mut rows = statement.query((start, end, i64::try_from(limit).unwrap_or(i64::MAX))).map_err(sql)?;
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(None),
            Err(error) => return end_at(&error),
        };
        if let Err(flaw) = page.take(row) {
            return match flaw {
                Flaw::Unreadable(error) => end_at(&error),
                Flaw::Missing(seq) => Ok(Some(missing(page.session, seq))),
                flaw => Ok(Some(flaw.into_error(page.session, page.expected + 1))),
            };
        }
        if page.bytes >= MAX_READ_BYTES {
            return Ok(None);
        }
    }
}

/// Damage in the file is a flaw of the event that is there; any other error is one of the whole read.
fn end_at(error: &rusqlite::Error) -> Result<Option<StoreError>, StoreError> {
    match from_sqlite(error) {
        damage @ StoreError::Corrupt(_) => Ok(Some(damage)),
        other => Err(other),
    }
}

impl EventPage<'_> {
    fn take(&mut self, row: &Row<'_>) -> Result<(), Flaw> {
        let Some(chain) = self.chain else { return Err(Flaw::Missing(self.expected)) };
        let seq = self.expected + 1;
        if at(row.get(0)?).1 != seq {
            return Err(Flaw::Missing(seq));
        }
        let raw = raw(row)?;
        self.chain = Some(raw.follow(&chain, link_of(row, LINK)?)?);
        self.events.push(raw.event(self.session)?);
        self.bytes += raw.size();
        self.expected = seq;
        Ok(())
    }
}

/// The events after number `after` up to number `until`. Of superseded events only the place is returned.
///
/// They are read from the last to the first, so that the end of an item is known before its beginning comes.
/// All are verified against their checksums and the chain; the saving is not parsing values that nobody
/// needs.
pub(crate) fn read_settled(
    connection: &mut Connection,
    checked: &Checked,
    session: &SessionId,
    after: u64,
    until: u64,
) -> Result<Vec<LogEntry>, StoreError> {
    let sql = |error: rusqlite::Error| from_sqlite(&error);
    let Some(log) = summaries::log_of(connection, session)? else { return Ok(Vec::new()) };
    let until = until.min(after.saturating_add(MAX_READ_EVENTS as u64));
    let moment = connection.transaction().map_err(sql)?;
    match settle(&moment, session, log, (after, until)) {
        Ok(entries) => {
            checked.note(session, after, until);
            Ok(entries)
        }
        Err(Flaw::Unreadable(error)) => Err(sql(error)),
        // Read backwards, the first flaw is the last one in the log. The user wants to know the first one in
        // the log.
        Err(flaw) => match verify::check_part(&moment, session, log, (after, until)) {
            Err(first) => Err(first),
            Ok(_) => Err(flaw.into_error(session, until)),
        },
    }
}

fn settle(
    connection: &Connection,
    session: &SessionId,
    log: i64,
    (after, until): (u64, u64),
) -> Result<Vec<LogEntry>, Flaw> {
    let (start, _) = range(log, after);
    let end = place(log, until).unwrap_or(start);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS}, link FROM events WHERE place > ?1 AND place <= ?2 ORDER BY place DESC"
    ))?;
    let mut rows = statement.query((start, end))?;
    let mut entries = Vec::new();
    let mut ended: HashSet<ItemId> = HashSet::new();
    let mut expected = until;
    // The digest and the link of the event after this row.
    let mut later: Option<(Hash, Hash)> = None;
    while let Some(row) = rows.next()? {
        let raw = raw(row)?;
        if raw.seq != expected {
            return Err(Flaw::Missing(expected));
        }
        let stored = link_of(row, LINK)?.ok_or(Flaw::Chain)?;
        follows(later, &stored)?;
        later = Some((raw.digest(), stored));
        expected -= 1;
        let item = raw.item().and_then(|id| id.parse::<ItemId>().ok());
        match item {
            Some(item) if ended.contains(&item) => entries.push(LogEntry::Superseded { seq: raw.seq, item }),
            item => {
                let event = raw.event(session)?;
                ended.extend(item.filter(|_| raw.ends_item()));
                entries.push(LogEntry::Event(event));
            }
        }
    }
    if expected != after {
        return Err(Flaw::Missing(expected));
    }
    let before = link_at(connection, session, log, after)?.ok_or(Flaw::Missing(after))?;
    follows(later, &before)?;
    entries.reverse();
    Ok(entries)
}

/// Checks that an event follows the link of the previous one.
fn follows(later: Option<(Hash, Hash)>, before: &Hash) -> Result<(), Flaw> {
    match later {
        Some((digest, stored)) if link(before, &digest) != stored => Err(Flaw::Chain),
        _ => Ok(()),
    }
}

fn missing(session: &SessionId, seq: u64) -> StoreError {
    Flaw::Missing(seq).into_error(session, seq)
}

fn closed() -> StoreError {
    StoreError::Io("the store is closed".to_owned())
}
