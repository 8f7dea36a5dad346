//! The store: combines the files, the locks, the writer and the readers.

use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use buddy_protocol::{
    Bill, Clock, CommandKeys, Event, Found as FoundSession, KeyClaim, KeyedCommand, Ledger, LogEntry,
    SearchQuery, SessionId, SessionQuery, SessionState, SessionStore, SessionSummary, SessionWriter,
    Spending, StoreChanges, StoreError, UnixMillis,
};
use rusqlite::Connection;
use tokio::sync::watch;

use crate::anchors::Anchors;
use crate::append::Witness;
use crate::backup::{self, BackupReport};
use crate::changes::ChangeWatch;
use crate::check::{self, CheckReport};
use crate::connection::{open_reader, open_salvager, open_writer, quick_check};
use crate::directory::StoreDirectory;
use crate::error::from_io;
use crate::keys::KeyJob;
use crate::lease::{self, Lease};
use crate::ledger;
use crate::lock::{LockAttempt, try_exclusive, write_holder};
use crate::presence::{Arrival, FoundStore, Presence, boot_id};
use crate::readers::{MAX_LIST, Readers, read_page, read_settled};
use crate::record::EventRecord;
use crate::schema::{self, SCHEMA};
use crate::settings::{Integrity, OpenReport, StoreRole, StoreSettings};
use crate::summaries::{self, RebuildReport};
use crate::verify::{self, Checked};
use crate::words;
use crate::writer::{StoreStats, WriterThread};

/// The timeout of closing for queued writes: longer than any wait for another process or a slow disk.
const CLOSE_PATIENCE: Duration = Duration::from_mins(1);

/// The timeout of dropping for queued writes. No acknowledged append depends on it.
const DROP_PATIENCE: Duration = Duration::from_secs(10);

/// The event logs of all sessions, in `SQLite`. Clones are handles of one store.
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<StoreInner>,
}

struct StoreInner {
    directory: StoreDirectory,
    clock: Arc<dyn Clock>,
    report: OpenReport,
    readers: Arc<Readers>,
    anchors: Arc<Anchors>,
    checked: Arc<Checked>,
    changes: ChangeWatch,
    /// `None` if the store is open for reading only.
    writer: Option<WriterThread>,
    /// Released when the store is closed.
    presence: Mutex<Option<Presence>>,
    /// Keeps other servers out; released when the store is closed.
    server: Mutex<Option<File>>,
}

impl SqliteStore {
    /// Opens the store of a directory and creates it if there is none. Brings it up to date, and checks it if
    /// it was not closed cleanly. Blocks while another process does the same.
    pub fn open(settings: StoreSettings) -> Result<Self, StoreError> {
        let (directory, modes_fixed) = StoreDirectory::prepare(&settings.directory)?;
        let server = match settings.role {
            StoreRole::Server => Some(lock_server(&directory, &*settings.clock)?),
            StoreRole::Terminal => None,
        };
        let arrival = Presence::arrive(&directory, settings.boot_id.or_else(boot_id))?;
        let (connection, report) = match open_database(&directory, arrival.found, &*settings.clock) {
            Ok((connection, report)) => (connection, OpenReport { modes_fixed, ..report }),
            Err(error) => return Err(turn_round(arrival, error)),
        };
        let opened = open_anchors(&directory, &connection, arrival.found, &report, &*settings.clock);
        let (anchors, report) = match opened {
            Ok((anchors, made)) => (Arc::new(anchors), OpenReport { made_anchors_anew: made, ..report }),
            Err(error) => return Err(turn_round(arrival, error)),
        };
        let presence = arrival.settle()?;
        let checked = Arc::<Checked>::default();
        let witness = Witness { anchors: anchors.clone(), checked: checked.clone() };
        let writer = WriterThread::start(connection, directory.clone(), witness)?;
        let (writer, presence) = (Some(writer), Mutex::new(Some(presence)));
        let readers = Arc::new(Readers::new(directory.database(), open_reader));
        let (clock, server) = (settings.clock, Mutex::new(server));
        let changes = ChangeWatch::new(directory.database());
        let inner = StoreInner {
            directory,
            clock,
            report,
            readers,
            anchors,
            checked,
            changes,
            writer,
            presence,
            server,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Like [`SqliteStore::open`], on a blocking thread.
    pub async fn open_async(settings: StoreSettings) -> Result<Self, StoreError> {
        let task = tokio::task::spawn_blocking(|| Self::open(settings));
        task.await.map_err(|error| StoreError::Io(format!("opening the store broke off: {error}")))?
    }

    /// Opens an existing store for reading only, even if it is damaged, to read as much as possible.
    pub fn open_read_only(settings: StoreSettings) -> Result<Self, StoreError> {
        let directory = StoreDirectory::existing(&settings.directory)?;
        schema::version(&open_salvager(&directory.database())?)?;
        let report = OpenReport {
            created: false,
            integrity: Integrity::Unchecked,
            migrated: Vec::new(),
            modes_fixed: Vec::new(),
            made_anchors_anew: false,
            sqlite: rusqlite::version(),
        };
        let readers = Arc::new(Readers::new(directory.database(), open_salvager));
        let (anchors, checked) = (Arc::new(Anchors::existing(&directory)), Arc::default());
        let (clock, presence, server) = (settings.clock, Mutex::new(None), Mutex::new(None));
        let changes = ChangeWatch::new(directory.database());
        let writer = None;
        let inner = StoreInner {
            directory,
            clock,
            report,
            readers,
            anchors,
            checked,
            changes,
            writer,
            presence,
            server,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The report of opening the store.
    pub fn report(&self) -> &OpenReport {
        &self.inner.report
    }

    /// Counters of the writes since the store was opened.
    pub fn stats(&self) -> StoreStats {
        self.inner.writer.as_ref().map(WriterThread::stats).unwrap_or_default()
    }

    /// Rebuilds the list of sessions and the search index from the log.
    pub async fn rebuild(&self) -> Result<RebuildReport, StoreError> {
        self.inner.writing()?.rebuild().await
    }

    /// Reads everything and reports problems.
    pub async fn check(&self) -> Result<CheckReport, StoreError> {
        let anchors = self.inner.anchors.clone();
        self.inner.readers.run(move |connection| check::check(connection, &anchors)).await
    }

    /// Copies the current database to a file that must not exist, and reads the copy back.
    pub async fn backup(&self, target: PathBuf) -> Result<BackupReport, StoreError> {
        self.inner.readers.run(move |connection| backup::backup(connection, &target)).await
    }

    /// Refuses further jobs, writes the queued ones and closes the database. Later calls fail; closing again
    /// does nothing.
    pub async fn close(&self) -> Result<(), StoreError> {
        let inner = self.inner.clone();
        let task = tokio::task::spawn_blocking(move || inner.close(CLOSE_PATIENCE));
        task.await.map_err(|error| StoreError::Io(format!("closing the store broke off: {error}")))?
    }

    /// The process of a session that seems to run may have died. What it left open is closed when the session is taken up again.
    fn note_dead_process(&self, summary: &mut SessionSummary) {
        let is_active = matches!(summary.state, SessionState::Running | SessionState::Waiting);
        if is_active && !lease::is_held(&self.inner.directory, &summary.id) {
            summary.state = SessionState::Idle;
        }
    }
}

#[async_trait]
impl SessionStore for SqliteStore {
    async fn writer(&self, session: &SessionId) -> Result<Box<dyn SessionWriter>, StoreError> {
        self.inner.writing()?;
        let lease = Lease::take(&self.inner.directory, session, &*self.inner.clock)?;
        // Check before anybody writes: a session that cannot be appended to must not be opened either.
        let (anchors, wanted) = (self.inner.anchors.clone(), session.clone());
        let check = move |connection: &mut Connection| match summaries::log_of(connection, &wanted)? {
            Some(log) => {
                verify::check_end(connection, &anchors, &wanted, log)?;
                summaries::check_row(connection, &wanted, log)
            }
            None => Ok(()),
        };
        self.inner.readers.run(check).await?;
        Ok(Box::new(LeasedWriter { store: self.inner.clone(), lease: Arc::new(lease) }))
    }

    async fn read(&self, session: &SessionId, after: u64, limit: usize) -> Result<Vec<Event>, StoreError> {
        let (anchors, session) = (self.inner.anchors.clone(), session.clone());
        let read = move |connection: &mut Connection| read_page(connection, &anchors, &session, after, limit);
        self.inner.readers.run(read).await
    }

    async fn read_settled(
        &self,
        session: &SessionId,
        after: u64,
        until: u64,
    ) -> Result<Vec<LogEntry>, StoreError> {
        let (checked, session) = (self.inner.checked.clone(), session.clone());
        let read =
            move |connection: &mut Connection| read_settled(connection, &checked, &session, after, until);
        self.inner.readers.run(read).await
    }

    fn changes(&self) -> Result<StoreChanges, StoreError> {
        let receiver = self.inner.changes.subscribe()?;
        let next = |mut receiver: watch::Receiver<u64>| async move {
            receiver.changed().await.ok()?;
            Some(((), receiver))
        };
        Ok(Box::pin(futures::stream::unfold(receiver, next)))
    }

    async fn find(&self, session: &SessionId) -> Result<Option<SessionSummary>, StoreError> {
        let session = session.clone();
        let find = move |connection: &mut Connection| match summaries::log_of(connection, &session)? {
            Some(log) => summaries::find(connection, &session, log),
            None => Ok(None),
        };
        let mut found = self.inner.readers.run(find).await?;
        if let Some(summary) = &mut found {
            self.note_dead_process(summary);
        }
        Ok(found)
    }

    async fn list(&self, query: SessionQuery) -> Result<Vec<SessionSummary>, StoreError> {
        let limit = if query.limit == 0 { MAX_LIST } else { query.limit.min(MAX_LIST) };
        let mut found =
            self.inner.readers.run(move |connection| summaries::list(connection, &query, limit)).await?;
        for summary in &mut found {
            self.note_dead_process(summary);
        }
        Ok(found)
    }

    async fn search(&self, query: SearchQuery) -> Result<Vec<FoundSession>, StoreError> {
        let limit = if query.limit == 0 { MAX_LIST } else { query.limit.min(MAX_LIST) };
        self.inner.readers.run(move |connection| words::search(connection, &query, limit)).await
    }
}

#[async_trait]
impl Ledger for SqliteStore {
    async fn bill(&self, scope: Spending) -> Result<Bill, StoreError> {
        self.inner.readers.run(move |connection| ledger::bill(connection, &scope)).await
    }
}

#[async_trait]
impl CommandKeys for SqliteStore {
    async fn claim(&self, keyed: &KeyedCommand, now: UnixMillis) -> Result<KeyClaim, StoreError> {
        self.inner.writing()?.change_keys(KeyJob::Claim { keyed: keyed.clone(), now }).await
    }

    async fn settle(&self, keyed: &KeyedCommand, outcome: Option<String>) -> Result<(), StoreError> {
        let job = KeyJob::Settle { keyed: keyed.clone(), outcome };
        self.inner.writing()?.change_keys(job).await.map(drop)
    }
}

/// The right to write to one session, in this store.
struct LeasedWriter {
    store: Arc<StoreInner>,
    lease: Arc<Lease>,
}

#[async_trait]
impl SessionWriter for LeasedWriter {
    async fn append(&self, events: Vec<Arc<Event>>) -> Result<(), StoreError> {
        let records = events.into_iter().map(EventRecord::new).collect::<Result<_, _>>()?;
        self.store.writing()?.append(self.lease.clone(), records).await
    }
}

impl StoreInner {
    fn writing(&self) -> Result<&WriterThread, StoreError> {
        self.writer.as_ref().ok_or_else(|| StoreError::Io("the store is open for reading only".to_owned()))
    }

    fn close(&self, patience: Duration) -> Result<(), StoreError> {
        self.readers.close();
        self.changes.close();
        let ended = self.writer.as_ref().map(|writer| writer.close(patience));
        let presence = self.presence.lock().unwrap_or_else(PoisonError::into_inner).take();
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).take();
        if ended == Some(None) {
            // The thread is still writing, so the locks stay until the process ends.
            std::mem::forget((presence, server));
            return Err(StoreError::Io("what is queued could not be written in time".to_owned()));
        }
        presence.map_or(Ok(()), |presence| presence.leave(ended == Some(Some(true))))
    }
}

impl Drop for StoreInner {
    fn drop(&mut self) {
        if let Err(error) = self.close(DROP_PATIENCE) {
            tracing::warn!(%error, "the store was not closed cleanly");
        }
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SqliteStore")
            .field("directory", &self.inner.directory)
            .field("report", &self.inner.report)
            .finish_non_exhaustive()
    }
}

fn open_database(
    directory: &StoreDirectory,
    found: FoundStore,
    clock: &dyn Clock,
) -> Result<(Connection, OpenReport), StoreError> {
    let created = directory.make_database()?;
    let path = directory.database();
    let mut connection = open_writer(&path)?;
    let integrity = match found {
        _ if created => Integrity::Clean,
        FoundStore::Clean => Integrity::Clean,
        FoundStore::Open => Integrity::Shared,
        FoundStore::Abandoned => {
            lease::sweep(directory);
            quick_check(&connection, &path)?;
            Integrity::Checked
        }
    };
    let mut migrated = Vec::new();
    let version = schema::version(&connection)?;
    if version < SCHEMA && found == FoundStore::Open {
        // The processes that have it open know only the old tables.
        return Err(StoreError::InUse { holder: "an older buddy that still runs".to_owned() });
    }
    if version < SCHEMA {
        migrated = schema::migrate(&mut connection, clock)?;
    }
    let sqlite = rusqlite::version();
    let (modes_fixed, made_anchors_anew) = (Vec::new(), false);
    Ok((connection, OpenReport { created, integrity, migrated, modes_fixed, made_anchors_anew, sqlite }))
}

/// Opens the anchors. If there are none yet, all logs are anchored in their current state, and if there should have been some, that
/// is noted. If no process closed the store, anchors may be behind their logs.
fn open_anchors(
    directory: &StoreDirectory,
    connection: &Connection,
    found: FoundStore,
    report: &OpenReport,
    clock: &dyn Clock,
) -> Result<(Anchors, bool), StoreError> {
    let (anchors, is_new) = Anchors::open(directory)?;
    let has_logs =
        (is_new || found == FoundStore::Abandoned) && verify::anchor(connection, &anchors, is_new)?;
    // A database from before the chain never had any.
    let made_anew = is_new && has_logs && !report.migrated.contains(&schema::CHAIN);
    if made_anew {
        anchors.note_made_anew(clock.now())?;
    }
    Ok((anchors, made_anew))
}

fn turn_round(arrival: Arrival, error: StoreError) -> StoreError {
    arrival.turn_round();
    error
}

fn lock_server(directory: &StoreDirectory, clock: &dyn Clock) -> Result<File, StoreError> {
    let path = directory.run().join("server.lock");
    match try_exclusive(&path)? {
        LockAttempt::Held { holder } => Err(StoreError::InUse { holder }),
        LockAttempt::Locked(mut file) => {
            write_holder(&mut file, clock).map_err(|error| from_io("write", &path, &error))?;
            Ok(file)
        }
    }
}
