//! Appending, beyond what every store does.

use buddy_protocol::SessionStore;

use crate::support::{append, assert_whole, events, fresh, open, session};

#[tokio::test]
async fn appends_of_many_sessions_share_transactions() {
    const SESSIONS: u64 = 32;
    const APPENDS: u64 = 20;
    let (_directory, store) = fresh();
    let store = &store;
    futures::future::join_all((1..=SESSIONS).map(|number| async move {
        let writer = store.writer(&session(number)).await.unwrap();
        for seq in 1..=APPENDS {
            writer.append(events(number, [seq])).await.unwrap();
        }
    }))
    .await;
    let stats = store.stats();
    assert_eq!((stats.appends, stats.events), (SESSIONS * APPENDS, SESSIONS * APPENDS));
    assert!(stats.commits < stats.appends / 4, "{stats:?}");
    for number in 1..=SESSIONS {
        assert_whole(store, number, APPENDS).await;
    }
    assert!(store.check().await.unwrap().is_clean());
}

#[tokio::test]
async fn an_append_completes_after_its_caller_gave_up() {
    const TRIES: u64 = 50;
    let (directory, store) = fresh();
    // The thread that writes can be so quick that an append has its answer at once; of many, one waits.
    let mut given_up = 0;
    for number in 1..=TRIES {
        let writer = store.writer(&session(number)).await.unwrap();
        let left = writer.append(events(number, 1..=50));
        given_up += usize::from(futures::FutureExt::now_or_never(left).is_none());
        drop(writer);
    }
    assert!(given_up > 0);
    store.close().await.unwrap();
    let store = open(directory.path());
    for number in 1..=TRIES {
        assert_whole(&store, number, 50).await;
    }
}

#[tokio::test]
async fn a_closed_store_refuses() {
    let (_directory, store) = fresh();
    append(&store, 1, 1..=1).await;
    let writer = store.writer(&session(1)).await.unwrap();
    store.close().await.unwrap();
    store.close().await.unwrap();
    assert!(writer.append(events(1, [2])).await.is_err());
    assert!(store.read(&session(1), 0, 1).await.is_err());
}
