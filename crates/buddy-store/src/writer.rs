//! The writer: one thread that owns the writing connection and commits everything queued at once.
//!
//! A sync costs the same for one event as for a thousand. So the thread takes all queued appends, up to a
//! bound, writes them in one transaction, and answers each. An acknowledged append survives a power cut.
//! After a failed write to the file itself the thread takes nothing more: the kernel may have dropped the
//! data it failed to write, and a retry would only seem to succeed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use buddy_protocol::{KeyClaim, StoreError};
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::append::{AppendFailure, Witness, append_all};
use crate::connection::BUSY_TIMEOUT;
use crate::directory::StoreDirectory;
use crate::error::{TransactionVerdict, from_sqlite, verdict};
use crate::keys::KeyJob;
use crate::lease::Lease;
use crate::record::EventRecord;
use crate::summaries::{self, RebuildReport};
use crate::words;

/// The maximum size of one append.
pub const MAX_APPEND_BYTES: usize = 64 << 20;

/// The maximum size of the queue, in KiB. Appends beyond it wait for room.
const QUEUE_KIB: usize = MAX_APPEND_BYTES >> 10;

/// The size at which a transaction stops taking more appends. Large enough that all queued appends share a
/// sync, small enough that the first of them does not wait for long.
const BATCH_EVENTS: usize = 4096;
const BATCH_BYTES: usize = 8 << 20;

/// The number of attempts when another process keeps the database locked beyond `SQLite`'s own timeout.
const BUSY_ATTEMPTS: usize = 3;

/// The writer truncates the write-ahead log if it is larger than this and nothing is queued. `SQLite` keeps
/// it near 4 MiB by itself; it grows beyond that while a reader holds an old snapshot.
const LARGE_LOG_AHEAD: u64 = 8 << 20;

/// The time without jobs after which the writer counts as idle.
const IDLE: Duration = Duration::from_secs(1);

/// The timeout for readers when truncating the write-ahead log; appends wait behind it.
const CUT_PATIENCE: Duration = Duration::from_millis(50);

/// The handle of the writer thread.
pub(crate) struct WriterThread {
    /// The sender of the thread's queue; `None` once the writer is closed.
    queue: Mutex<Option<Sender<WriterJob>>>,
    /// Room in the queue, in KiB.
    room: Arc<Semaphore>,
    counters: Arc<Counters>,
    ended: Arc<EndedFlag>,
}

/// Counters of the writer since its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Transactions that were committed.
    pub commits: u64,
    /// Appends that were written.
    pub appends: u64,
    /// Events that were written.
    pub events: u64,
    /// The number of times the write-ahead log was truncated.
    pub cuts: u64,
}

enum WriterJob {
    Append(Append),
    Rebuild(oneshot::Sender<Result<RebuildReport, StoreError>>),
    Key(KeyJob, oneshot::Sender<Result<KeyClaim, StoreError>>),
}

struct Append {
    /// Held until the append is done, even if its caller no longer waits, because nobody else may write
    /// before.
    lease: Arc<Lease>,
    records: Vec<EventRecord>,
    bytes: usize,
    done: oneshot::Sender<Result<(), StoreError>>,
    _room: OwnedSemaphorePermit,
}

#[derive(Default)]
struct Counters {
    commits: AtomicU64,
    appends: AtomicU64,
    events: AtomicU64,
    cuts: AtomicU64,
}

/// The outcome of the thread, once it has ended.
#[derive(Default)]
struct EndedFlag {
    clean: Mutex<Option<bool>>,
    changed: Condvar,
}

impl WriterThread {
    /// Starts the thread.
    pub(crate) fn start(
        connection: Connection,
        directory: StoreDirectory,
        witness: Witness,
    ) -> Result<Self, StoreError> {
        let (sender, queue) = channel();
        let counters = Arc::<Counters>::default();
        let ended = Arc::<EndedFlag>::default();
        let worker = Worker {
            connection,
            directory,
            witness,
            queue,
            counters: counters.clone(),
            failed: None,
            clean: true,
        };
        let end = EndSignal(ended.clone());
        thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || worker.run(&end))
            .map_err(|error| StoreError::Io(format!("cannot start the store's thread: {error}")))?;
        let room = Arc::new(Semaphore::new(QUEUE_KIB));
        Ok(Self { queue: Mutex::new(Some(sender)), room, counters, ended })
    }

    /// Appends to the lease's session and returns when the events are durable.
    pub(crate) async fn append(
        &self,
        lease: Arc<Lease>,
        records: Vec<EventRecord>,
    ) -> Result<(), StoreError> {
        let bytes = records.iter().map(EventRecord::bytes).sum::<usize>();
        let Some(kib) = u32::try_from((bytes >> 10).max(1)).ok().filter(|_| bytes <= MAX_APPEND_BYTES) else {
            return Err(StoreError::Io(format!("an append of {bytes} bytes is too large")));
        };
        let room = self.room.clone().acquire_many_owned(kib).await.map_err(|_| closed())?;
        let (done, answer) = oneshot::channel();
        self.send(WriterJob::Append(Append { lease, records, bytes, done, _room: room }))?;
        answer.await.map_err(|_| closed())?
    }

    /// Rebuilds the list of sessions.
    pub(crate) async fn rebuild(&self) -> Result<RebuildReport, StoreError> {
        let (done, answer) = oneshot::channel();
        self.send(WriterJob::Rebuild(done))?;
        answer.await.map_err(|_| closed())?
    }

    /// Changes the memory of keys.
    pub(crate) async fn change_keys(&self, job: KeyJob) -> Result<KeyClaim, StoreError> {
        let (done, answer) = oneshot::channel();
        self.send(WriterJob::Key(job, done))?;
        answer.await.map_err(|_| closed())?
    }

    pub(crate) fn stats(&self) -> StoreStats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        StoreStats {
            commits: read(&self.counters.commits),
            appends: read(&self.counters.appends),
            events: read(&self.counters.events),
            cuts: read(&self.counters.cuts),
        }
    }

    /// Refuses further jobs, writes the queued ones and ends the thread. Returns whether the stored data can
    /// be trusted to be whole; `None` if it took longer than `patience`.
    pub(crate) fn close(&self, patience: Duration) -> Option<bool> {
        self.room.close();
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        let clean = self.ended.clean.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.ended.changed.wait_timeout_while(clean, patience, |clean| clean.is_none());
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn send(&self, job: WriterJob) -> Result<(), StoreError> {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.as_ref().and_then(|queue| queue.send(job).ok()).ok_or_else(closed)
    }
}

/// Signals the end of the thread, even if it panicked.
struct EndSignal(Arc<EndedFlag>);

impl EndSignal {
    fn tell(&self, clean: bool) {
        self.0.clean.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(clean);
        self.0.changed.notify_all();
    }
}

impl Drop for EndSignal {
    fn drop(&mut self) {
        self.tell(false);
    }
}

/// The state of the thread.
struct Worker {
    connection: Connection,
    directory: StoreDirectory,
    witness: Witness,
    queue: Receiver<WriterJob>,
    counters: Arc<Counters>,
    /// The reason why nothing can be written any more.
    failed: Option<StoreError>,
    /// Whether the stored data can be trusted to be whole.
    clean: bool,
}

impl Worker {
    fn run(mut self, end: &EndSignal) {
        let mut written = false;
        loop {
            let next =
                if written { self.queue.recv_timeout(IDLE) } else { self.queue.recv().map_err(Into::into) };
            written = next.is_ok();
            match next {
                Ok(job) => self.work(job),
                Err(RecvTimeoutError::Timeout) => self.cut_log_ahead(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.cut_log_ahead();
        let closed = self.connection.close().is_ok();
        end.tell(closed && self.clean);
    }

    /// Does a job, together with all appends that are already queued.
    fn work(&mut self, first: WriterJob) {
        let mut batch = Vec::new();
        let mut events = 0;
        let mut bytes = 0;
        let mut next = Some(first);
        while let Some(WriterJob::Append(append)) = next {
            events += append.records.len();
            bytes += append.bytes;
            batch.push(append);
            let full = events >= BATCH_EVENTS || bytes >= BATCH_BYTES;
            next = if full { None } else { self.queue.try_recv().ok() };
        }
        if !batch.is_empty() {
            self.write(batch);
        }
        match next {
            Some(WriterJob::Rebuild(done)) => {
                let report = self.transact(|transaction| {
                    let report = summaries::rebuild(transaction)?;
                    words::rebuild(transaction)?;
                    Ok(report)
                });
                let _ = done.send(report);
            }
            Some(WriterJob::Key(job, done)) => {
                let claim = self
                    .transact(|transaction| job.perform(transaction).map_err(|error| from_sqlite(&error)));
                let _ = done.send(claim);
            }
            Some(WriterJob::Append(_)) | None => {}
        }
    }

    fn write(&mut self, batch: Vec<Append>) {
        if let Some(error) = &self.failed {
            return refuse(batch, error);
        }
        let failed = match self.attempt(&batch) {
            Ok(results) => return self.acknowledge(batch, results),
            Err(failed) => failed,
        };
        match judge(&failed) {
            TransactionVerdict::Suspect if batch.len() > 1 => {
                for append in batch {
                    self.write(vec![append]);
                }
            }
            TransactionVerdict::Fatal => {
                self.fail(&failed);
                self.write(batch);
            }
            TransactionVerdict::Suspect | TransactionVerdict::Transient => {
                self.clean &= !matches!(failed, AppendFailure::Stored(_));
                refuse(batch, &failed.to_error());
            }
        }
    }

    fn attempt(&mut self, batch: &[Append]) -> Result<Vec<Result<(), StoreError>>, AppendFailure> {
        let appends: Vec<_> = batch.iter().map(|append| (&*append.lease, &append.records[..])).collect();
        let mut outcome = append_all(&mut self.connection, &self.witness, &appends);
        for _ in 1..BUSY_ATTEMPTS {
            match &outcome {
                Err(AppendFailure::Sqlite(error))
                    if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) =>
                {
                    outcome = append_all(&mut self.connection, &self.witness, &appends);
                }
                _ => break,
            }
        }
        outcome
    }

    fn acknowledge(&self, batch: Vec<Append>, results: Vec<Result<(), StoreError>>) {
        self.counters.commits.fetch_add(1, Ordering::Relaxed);
        for (append, result) in batch.into_iter().zip(results) {
            if result.is_ok() {
                self.counters.appends.fetch_add(1, Ordering::Relaxed);
                self.counters.events.fetch_add(append.records.len() as u64, Ordering::Relaxed);
            }
            append.answer(result);
        }
    }

    /// Does something in a transaction of its own.
    fn transact<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let sql = |error: rusqlite::Error| from_sqlite(&error);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
        let done = work(&transaction)?;
        if let Err(error) = transaction.commit() {
            let failed = AppendFailure::Sqlite(error);
            if judge(&failed) == TransactionVerdict::Fatal {
                self.fail(&failed);
            }
            return Err(failed.to_error());
        }
        self.counters.commits.fetch_add(1, Ordering::Relaxed);
        Ok(done)
    }

    fn fail(&mut self, failed: &AppendFailure) {
        self.clean = false;
        let error = match failed.to_error() {
            StoreError::Io(reason) => StoreError::Io(format!(
                "a write to the store failed ({reason}); it takes nothing more until it is opened anew"
            )),
            other => other,
        };
        tracing::error!(%error, "the store takes nothing more");
        self.failed = Some(error);
    }

    fn cut_log_ahead(&mut self) {
        let size = std::fs::metadata(self.directory.log_ahead()).map_or(0, |metadata| metadata.len());
        if size <= LARGE_LOG_AHEAD || self.failed.is_some() {
            return;
        }
        let cut = self.connection.busy_timeout(CUT_PATIENCE).and_then(|()| {
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        });
        let restored = self.connection.busy_timeout(BUSY_TIMEOUT);
        match cut.and_then(|busy| restored.map(|()| busy)) {
            Ok(0) => drop(self.counters.cuts.fetch_add(1, Ordering::Relaxed)),
            Ok(_) => tracing::warn!(size, "readers keep the log ahead from being cut"),
            Err(error) => tracing::warn!(size, %error, "cannot cut the log ahead"),
        }
    }
}

impl Append {
    fn answer(self, result: Result<(), StoreError>) {
        // Release the lease before the answer: the caller may take it again at once.
        let Self { lease, done, .. } = self;
        drop(lease);
        // The caller may no longer wait.
        let _ = done.send(result);
    }
}

fn refuse(batch: Vec<Append>, error: &StoreError) {
    for append in batch {
        append.answer(Err(error.clone()));
    }
}

fn judge(failed: &AppendFailure) -> TransactionVerdict {
    match failed {
        AppendFailure::Sqlite(error) => verdict(error),
        AppendFailure::Stored(_) => TransactionVerdict::Suspect,
    }
}

fn closed() -> StoreError {
    StoreError::Io("the store is closed".to_owned())
}
