//! Bounds that keep a caller from asking for too much at once.

use std::sync::Arc;

use buddy_protocol::{Event, SessionQuery, SessionStore, StoreError};
use buddy_store::{MAX_APPEND_BYTES, MAX_READ_BYTES, MAX_READ_EVENTS};

use crate::support::{event, events, fresh, notice, session, stamp};

#[tokio::test]
async fn a_read_is_bounded_in_events() {
    let (_directory, store) = fresh();
    let writer = store.writer(&session(1)).await.unwrap();
    writer.append(events(1, 1..=MAX_READ_EVENTS as u64 + 10)).await.unwrap();
    let page = store.read(&session(1), 0, usize::MAX).await.unwrap();
    assert_eq!(page.len(), MAX_READ_EVENTS);
    let rest = store.read(&session(1), MAX_READ_EVENTS as u64, usize::MAX).await.unwrap();
    assert_eq!(rest.len(), 10);
    assert!(store.read(&session(1), u64::MAX, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_read_is_bounded_in_bytes_and_gives_at_least_one_event() {
    let (_directory, store) = fresh();
    let writer = store.writer(&session(1)).await.unwrap();
    let large = notice(&"x".repeat(MAX_READ_BYTES));
    let all: Vec<Arc<Event>> =
        [event(1, 1), stamp(1, 2, large.clone()), stamp(1, 3, large)].map(Arc::new).into();
    writer.append(all).await.unwrap();
    assert_eq!(store.read(&session(1), 0, 10).await.unwrap().len(), 2);
    assert_eq!(store.read(&session(1), 2, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_append_is_bounded_in_bytes() {
    let (_directory, store) = fresh();
    let writer = store.writer(&session(1)).await.unwrap();
    let huge = stamp(1, 1, notice(&"x".repeat(MAX_APPEND_BYTES)));
    assert!(matches!(writer.append(vec![Arc::new(huge)]).await, Err(StoreError::Io(_))));
    writer.append(events(1, 1..=1)).await.unwrap();
}

#[tokio::test]
async fn the_log_ahead_is_cut_when_it_grew_large() {
    let (directory, store) = fresh();
    let writer = store.writer(&session(1)).await.unwrap();
    let large = stamp(1, 1, notice(&"x".repeat(20 << 20)));
    writer.append(vec![Arc::new(large)]).await.unwrap();
    drop(writer);
    store.close().await.unwrap();
    assert_eq!(store.stats().cuts, 1);
    assert_eq!(directory.path().join("buddy.db-wal").metadata().unwrap().len(), 0);
    assert!(store.list(SessionQuery::default()).await.is_err());
}
