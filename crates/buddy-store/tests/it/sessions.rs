//! The list of sessions.

use std::sync::Arc;

use buddy_protocol::{Event, SessionQuery, SessionStore, UnixMillis};
use buddy_store::SqliteStore;

use crate::support::{fresh, notice, session, stamp, started};

async fn begin(store: &SqliteStore, number: u64, owner: &str, cwd: &str, time: u64) {
    let event = Event { time: UnixMillis(time), ..stamp(number, 1, started(owner, cwd)) };
    store.writer(&session(number)).await.unwrap().append(vec![Arc::new(event)]).await.unwrap();
}

async fn listed(store: &SqliteStore, query: SessionQuery) -> Vec<u64> {
    let list = store.list(query).await.unwrap();
    let numbers = |summary: &buddy_protocol::SessionSummary| {
        (1..100).find(|number| session(*number) == summary.id).unwrap()
    };
    list.iter().map(numbers).collect()
}

#[tokio::test]
async fn the_last_used_comes_first_and_filters_hold() {
    let (_directory, store) = fresh();
    begin(&store, 1, "ann", "/a", 100).await;
    begin(&store, 2, "bob", "/a", 300).await;
    begin(&store, 3, "ann", "/b", 200).await;
    begin(&store, 4, "ann", "/a", 200).await;
    let query = |owner: Option<&str>, cwd: Option<&str>, limit| SessionQuery {
        is_waiting: false,
        owner: owner.map(str::to_owned),
        cwd: cwd.map(str::to_owned),
        limit,
    };
    assert_eq!(listed(&store, query(None, None, 0)).await, [2, 4, 3, 1]);
    assert_eq!(listed(&store, query(None, None, 2)).await, [2, 4]);
    assert_eq!(listed(&store, query(Some("ann"), None, 0)).await, [4, 3, 1]);
    assert_eq!(listed(&store, query(Some("ann"), Some("/a"), 0)).await, [4, 1]);
    assert_eq!(listed(&store, query(Some("eve"), None, 0)).await, [] as [u64; 0]);

    let used = Event { time: UnixMillis(400), ..stamp(1, 2, notice("used")) };
    store.writer(&session(1)).await.unwrap().append(vec![Arc::new(used)]).await.unwrap();
    assert_eq!(listed(&store, query(None, None, 0)).await, [1, 2, 4, 3]);
}

#[tokio::test]
async fn a_session_is_found_by_its_id() {
    let (_directory, store) = fresh();
    assert_eq!(store.find(&session(1)).await.unwrap(), None);
    assert_eq!(store.read(&session(1), 0, 10).await.unwrap(), []);
    begin(&store, 1, "ann", "/a", 100).await;
    let summary = store.find(&session(1)).await.unwrap().unwrap();
    assert_eq!((summary.owner.name.as_str(), summary.head, summary.created), ("ann", 1, UnixMillis(100)));
}

#[tokio::test]
async fn a_log_that_never_started_is_kept_but_not_listed() {
    let (_directory, store) = fresh();
    let writer = store.writer(&session(1)).await.unwrap();
    writer.append(vec![Arc::new(stamp(1, 1, notice("first")))]).await.unwrap();
    assert_eq!(store.find(&session(1)).await.unwrap(), None);
    assert_eq!(store.read(&session(1), 0, 10).await.unwrap().len(), 1);
    assert!(store.check().await.unwrap().is_clean());
}
