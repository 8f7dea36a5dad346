//! The right to write to a session.

use buddy_protocol::StoreError;
use tokio::task::JoinSet;

use super::stand::{StoreStand, WholeStore, append, assert_whole};
use crate::log_events::{events, session};

async fn assert_held(store: &dyn WholeStore, by: &str) {
    match store.writer(&session(1)).await.map(drop) {
        Err(StoreError::Busy { session: told, holder }) => {
            assert_eq!((told, holder.as_str()), (session(1), by));
        }
        unexpected => panic!("{unexpected:?}"),
    }
}

/// The second writer is refused and told who the first is, and gets the lease when the first is dropped.
pub async fn a_session_has_one_writer(stand: &dyn StoreStand) {
    let (store, other) = (stand.open(), stand.open());
    let writer = store.writer(&session(1)).await.expect("the lease is free");
    for store in [&store, &other] {
        assert_held(&**store, &stand.holder_here()).await;
    }
    let _neighbour = other.writer(&session(2)).await.expect("another session has a lease of its own");
    drop(writer);
    append(&*other, 1, 1..=2).await;
    append(&*store, 1, 3..=3).await;
    assert_whole(&*other, 1, 3).await;
}

/// The lease of a process that was killed is free.
pub async fn a_session_has_one_writer_among_processes_and_a_dead_one_has_none(stand: &dyn StoreStand) {
    let store = stand.open();
    let holder = stand.hold_elsewhere();
    assert_held(&*store, &holder.name()).await;
    holder.kill();
    append(&*store, 1, 1..=1).await;
    assert_whole(&*store, 1, 1).await;
}

/// However many want it, appends never overlap.
pub async fn a_lease_changes_hands_under_contention(stand: &dyn StoreStand) {
    let store = stand.open();
    let mut tasks = JoinSet::new();
    for _ in 0..8 {
        let store = store.clone();
        tasks.spawn(async move {
            let mut wins = 0;
            for _ in 0..100 {
                if let Ok(writer) = store.writer(&session(1)).await {
                    let found = store.find(&session(1)).await.expect("it can be looked for");
                    let head = found.map_or(0, |summary| summary.head);
                    writer.append(events(1, [head + 1])).await.expect("nobody else writes");
                    wins += 1;
                }
            }
            wins
        });
    }
    let wins: u64 = tasks.join_all().await.into_iter().sum();
    assert!(wins > 0);
    assert_whole(&*store, 1, wins).await;
}
