//! Reading: a few connections that only read, opened when first needed, each used by one blocking thread at a time.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use buddy_protocol::{Event, ItemId, LogEntry, SessionId, StoreError};
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::connection::open_reader;
use crate::error::from_sqlite;
use crate::record::{COLUMNS, at, decode, place, range, raw};
use crate::summaries;

/// The most events that one read gives.
pub const MAX_READ_EVENTS: usize = 10_000;

/// A read stops after the event with which it exceeds this.
pub const MAX_READ_BYTES: usize = 16 << 20;

/// The most summaries that one list gives.
pub const MAX_LIST: usize = 1000;

/// How many reads run at once. Reads are short; more would only fight for the same cores and cache.
const CONNECTIONS: usize = 4;

/// The connections that read.
pub(crate) struct Readers {
    path: PathBuf,
    /// Connections that nobody uses.
    idle: Mutex<Vec<Connection>>,
    /// One for each connection that may be in use.
    room: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::new(Vec::new()), room: Arc::new(Semaphore::new(CONNECTIONS)) }
    }

    /// Runs `read` on a connection, on a thread that may block.
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
            None => open_reader(&self.path)?,
        };
        // After a failure the connection is not used again.
        let value = read(&mut connection)?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.room.is_closed() {
            idle.push(connection);
        }
        Ok(value)
    }

    /// Takes no more reads and closes what is idle. Reads that run come to their end.
    pub(crate) fn close(&self) {
        self.room.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Up to `limit` events after number `after`.
pub(crate) fn read_page(
    connection: &Connection,
    session: &SessionId,
    after: u64,
    limit: usize,
) -> Result<Vec<Event>, StoreError> {
    let sql = |error: rusqlite::Error| from_sqlite(&error);
    let Some(log) = summaries::log_of(connection, session)? else { return Ok(Vec::new()) };
    let limit = limit.min(MAX_READ_EVENTS);
    let (start, end) = range(log, after);
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM events WHERE place > ?1 AND place < ?2 ORDER BY place LIMIT ?3"
        ))
        .map_err(sql)?;
    let mut rows = statement.query((start, end, i64::try_from(limit).unwrap_or(i64::MAX))).map_err(sql)?;
    let mut events = Vec::new();
    let mut bytes = 0;
    let mut expected = after;
    while let Some(row) = rows.next().map_err(sql)? {
        expected += 1;
        let (_, seq) = at(row.get(0).map_err(sql)?);
        if seq != expected {
            return Err(StoreError::Corrupt(format!("event {expected} of session `{session}` is missing")));
        }
        let (event, size) = decode(session, row).map_err(|flaw| flaw.into_error(session, seq))?;
        events.push(event);
        bytes += size;
        if bytes >= MAX_READ_BYTES {
            break;
        }
    }
    Ok(events)
}

/// The events after number `after` up to number `until`, those that a later one supersedes by their place alone.
///
/// They are read from the last to the first, so that the end of an item is known before its beginning comes. All are
/// held against their checksums; what is saved is reading values that nobody needs.
pub(crate) fn read_settled(
    connection: &Connection,
    session: &SessionId,
    after: u64,
    until: u64,
) -> Result<Vec<LogEntry>, StoreError> {
    let sql = |error: rusqlite::Error| from_sqlite(&error);
    let Some(log) = summaries::log_of(connection, session)? else { return Ok(Vec::new()) };
    let until = until.min(after.saturating_add(MAX_READ_EVENTS as u64));
    let (start, _) = range(log, after);
    let end = place(log, until).unwrap_or(start);
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM events WHERE place > ?1 AND place <= ?2 ORDER BY place DESC"
        ))
        .map_err(sql)?;
    let mut rows = statement.query((start, end)).map_err(sql)?;
    let mut entries = Vec::new();
    let mut ended: HashSet<ItemId> = HashSet::new();
    let mut expected = until;
    while let Some(row) = rows.next().map_err(sql)? {
        let raw = raw(row).map_err(|flaw| flaw.into_error(session, expected))?;
        if raw.seq != expected {
            break;
        }
        expected -= 1;
        let item = raw.item().and_then(|id| id.parse::<ItemId>().ok());
        match item {
            Some(item) if ended.contains(&item) => entries.push(LogEntry::Superseded { seq: raw.seq, item }),
            item => {
                let event = raw.event(session).map_err(|flaw| flaw.into_error(session, raw.seq))?;
                ended.extend(item.filter(|_| raw.ends_item()));
                entries.push(LogEntry::Event(event));
            }
        }
    }
    if expected != after {
        return Err(StoreError::Corrupt(format!("event {expected} of session `{session}` is missing")));
    }
    entries.reverse();
    Ok(entries)
}

fn closed() -> StoreError {
    StoreError::Io("the store is closed".to_owned())
}
