//! A store in a temporary directory, and events to put into it.

use std::path::Path;
use std::sync::Arc;

use buddy_protocol::{
    Clock, Event, Fact, Ids, Notice, NoticeLevel, Principal, SessionId, SessionStarted, SessionStore,
    UnixMillis,
};
use buddy_store::{Role, SqliteStore, StoreSettings};
use tempfile::TempDir;

struct Fixed(u128);

impl Ids for Fixed {
    fn next(&self) -> u128 {
        self.0
    }
}

impl Clock for Fixed {
    fn now(&self) -> UnixMillis {
        UnixMillis(1_700_000_000_000)
    }
}

pub(crate) fn session(number: u64) -> SessionId {
    SessionId::new(&Fixed(u128::from(number)))
}

pub(crate) fn settings(directory: &Path, role: Role) -> StoreSettings {
    let clock = Arc::new(Fixed(0));
    StoreSettings { directory: directory.to_owned(), role, boot_id: Some("this run".to_owned()), clock }
}

pub(crate) fn open(directory: &Path) -> SqliteStore {
    SqliteStore::open(settings(directory, Role::Terminal)).unwrap()
}

pub(crate) fn fresh() -> (TempDir, SqliteStore) {
    let directory = TempDir::new().unwrap();
    let store = open(directory.path());
    (directory, store)
}

/// The event of a session with this number, always the same: the first one starts it.
pub(crate) fn event(number: u64, seq: u64) -> Event {
    let fact = if seq == 1 { started("ann", "/home/ann") } else { notice(&format!("{number}/{seq}")) };
    stamp(number, seq, fact)
}

pub(crate) fn started(owner: &str, cwd: &str) -> Fact {
    Fact::SessionStarted(SessionStarted {
        owner: Principal::person(owner),
        agent: "buddy".to_owned(),
        cwd: cwd.to_owned(),
        model: None,
        parent: None,
        targets: vec![],
        forked_from: None,
        began_with: None,
    })
}

pub(crate) fn notice(text: &str) -> Fact {
    Fact::Notice(Notice { level: NoticeLevel::Info, code: "test".to_owned(), text: text.to_owned() })
}

pub(crate) fn stamp(number: u64, seq: u64, fact: Fact) -> Event {
    Event { session: session(number), seq: Some(seq), time: UnixMillis(1000 + seq), fact }
}

pub(crate) fn events(number: u64, seqs: impl IntoIterator<Item = u64>) -> Vec<Arc<Event>> {
    seqs.into_iter().map(|seq| Arc::new(event(number, seq))).collect()
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
