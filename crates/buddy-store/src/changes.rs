//! Notice of commits by any process: one thread compares `SQLite`'s `data_version` while somebody follows.
//!
//! The pragma reads a counter in shared memory, so a look costs microseconds and no file access. Nobody is woken unless
//! something was committed, and without followers there is no thread.

use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use buddy_protocol::StoreError;
use rusqlite::Connection;
use tokio::sync::watch;

use crate::connection::open_reader;

/// The time between two looks: a follower sees an event well within a tenth of a second.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The watch over one database.
pub(crate) struct ChangeWatch {
    path: PathBuf,
    shared: Arc<WatchShared>,
}

struct WatchShared {
    state: Mutex<WatchState>,
    closing: Condvar,
}

/// Held for a look or a change only.
struct WatchState {
    /// Counts the changes that were seen; `None` once the store is closed.
    changes: Option<watch::Sender<u64>>,
    is_watched: bool,
}

impl ChangeWatch {
    pub(crate) fn new(path: PathBuf) -> Self {
        let state = WatchState { changes: Some(watch::Sender::new(0)), is_watched: false };
        Self { path, shared: Arc::new(WatchShared { state: Mutex::new(state), closing: Condvar::new() }) }
    }

    /// A receiver that changes after commits, and once at the beginning.
    pub(crate) fn subscribe(&self) -> Result<watch::Receiver<u64>, StoreError> {
        let mut state = self.shared.lock();
        let Some(changes) = &state.changes else {
            return Err(StoreError::Io("the store is closed".to_owned()));
        };
        let receiver = changes.subscribe();
        if !state.is_watched {
            let (shared, path) = (self.shared.clone(), self.path.clone());
            thread::Builder::new()
                .name("store-watch".to_owned())
                .spawn(move || shared.watch(&path))
                .map_err(|error| StoreError::Io(format!("cannot start the store's watch: {error}")))?;
            state.is_watched = true;
        }
        Ok(receiver)
    }

    /// Ends the watch. Receivers see their sender gone.
    pub(crate) fn close(&self) {
        self.shared.lock().changes = None;
        self.shared.closing.notify_all();
    }
}

impl WatchShared {
    fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn watch(&self, path: &std::path::Path) {
        let mut connection: Option<Connection> = None;
        let mut seen: Option<i64> = None;
        loop {
            if connection.is_none() {
                connection = open_reader(path).ok();
            }
            let version = connection.as_ref().and_then(|connection| {
                connection.pragma_query_value(None, "data_version", |row| row.get(0)).ok()
            });
            if version.is_none() {
                // An unreadable database is the readers' error to report; a look may succeed later.
                connection = None;
            }
            let state = self.lock();
            let Some(changes) = &state.changes else { return };
            // The first look also counts: a commit before it was not noticed.
            if version.is_some() && version != seen {
                changes.send_modify(|count| *count += 1);
                seen = version;
            }
            let (mut state, _) =
                self.closing.wait_timeout(state, LOOK_EVERY).unwrap_or_else(PoisonError::into_inner);
            if state.changes.as_ref().is_none_or(|changes| changes.receiver_count() == 0) {
                state.is_watched = false;
                return;
            }
        }
    }
}
