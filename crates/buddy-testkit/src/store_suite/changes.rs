//! Notices of appends.

use std::time::Duration;

use buddy_protocol::StoreChanges;
use futures::StreamExt;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::stand::{StoreStand, append, assert_whole, read_all};

/// A notice that takes longer than this does not come.
const PATIENCE: Duration = Duration::from_secs(20);

async fn notice(changes: &mut StoreChanges) {
    let next = timeout(PATIENCE, changes.next()).await.expect("an append is noticed");
    next.expect("the store is open");
}

/// Every store that is open learns about an append of any of them.
pub async fn an_append_is_noticed_in_every_opened_store(stand: &dyn StoreStand) {
    let stores = [stand.open(), stand.open()];
    for (number, writer) in (1..).zip(&stores) {
        let mut all: Vec<StoreChanges> =
            stores.iter().map(|store| store.changes().expect("it can be followed")).collect();
        append(&**writer, number, 1..=2).await;
        for (changes, store) in all.iter_mut().zip(&stores) {
            notice(changes).await;
            assert_whole(&**store, number, 2).await;
        }
    }
}

/// A reader that subscribes first and then reads after each notice sees every event, whoever appends it.
pub async fn a_reader_that_follows_changes_misses_nothing(stand: &dyn StoreStand) {
    const EVENTS: u64 = 60;
    let writer = stand.open();
    let mut readers = JoinSet::new();
    for store in [writer.clone(), stand.open(), stand.open()] {
        let mut changes = store.changes().expect("it can be followed");
        readers.spawn(async move {
            while read_all(&*store, 1).await.len() < usize::try_from(EVENTS).expect("a small number") {
                notice(&mut changes).await;
            }
            assert_whole(&*store, 1, EVENTS).await;
        });
    }
    for seq in 1..=EVENTS {
        append(&*writer, 1, [seq]).await;
    }
    readers.join_all().await;
}
