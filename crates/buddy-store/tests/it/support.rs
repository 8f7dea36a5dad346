//! A store in a temporary directory.

use std::path::Path;
use std::sync::Arc;

use buddy_protocol::{Event, SessionStore};
use buddy_store::{SqliteStore, StoreRole, StoreSettings};
use buddy_testkit::log_events::Fixed;
pub(crate) use buddy_testkit::log_events::{event, events, notice, said, search_as, session, stamp, started};
use tempfile::TempDir;

pub(crate) fn settings(directory: &Path, role: StoreRole) -> StoreSettings {
    let clock = Arc::new(Fixed(0));
    StoreSettings { directory: directory.to_owned(), role, boot_id: Some("this run".to_owned()), clock }
}

pub(crate) fn open(directory: &Path) -> SqliteStore {
    SqliteStore::open(settings(directory, StoreRole::Terminal)).unwrap()
}

pub(crate) fn fresh() -> (TempDir, SqliteStore) {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    (directory, store)
}

/// Appends the events with these numbers, with its own writer.
pub(crate) async fn append(store: &SqliteStore, number: u64, seqs: impl IntoIterator<Item = u64>) {
    store.writer(&session(number)).await.unwrap().append(events(number, seqs)).await.unwrap();
}

/// All events of a session, page by page.
pub(crate) async fn read_all(store: &SqliteStore, number: u64) -> Vec<Event> {
    let mut all: Vec<Event> = Vec::new();
    loop {
        let page = store.read(&session(number), all.len() as u64, 1000).await.unwrap();
        if page.is_empty() {
            return all;
        }
        all.extend(page);
    }
}

/// Asserts that a session has exactly the events 1 to `head` of [`event`].
pub(crate) async fn assert_whole(store: &SqliteStore, number: u64, head: u64) {
    let expected: Vec<Event> = (1..=head).map(|seq| event(number, seq)).collect();
    assert_eq!(read_all(store, number).await, expected, "session {number}");
}

/// The number of rounds if there is time for all cases: `cargo xtask soak` runs some tests so.
#[expect(clippy::disallowed_methods, reason = "the environment of the tests is meant")]
pub(crate) fn soak_rounds() -> Option<u64> {
    std::env::var("BUDDY_SOAK_ROUNDS").ok().map(|rounds| rounds.parse().unwrap())
}
