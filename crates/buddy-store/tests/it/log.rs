//! Appending and reading.

use std::sync::Arc;

use buddy_protocol::{
    Content, Event, Fact, Item, ItemEnded, ItemId, ItemStatus, Private, SessionStore, StoreError, UnknownFact,
};
use proptest::prelude::*;
use serde_json::json;
use serde_json::value::RawValue;

use crate::support::{
    append, assert_whole, event, events, fresh, notice, open, read_all, session, stamp, started,
};

fn item_with_private() -> Fact {
    let private = Private {
        provider: "p".to_owned(),
        model: "m".to_owned(),
        wire: "w".to_owned(),
        data: json!({ "signature": "c2ln", "z": 1, "a": [null, 1.5] }),
    };
    let id: ItemId = "itm_00000000000000000000000001".parse().unwrap();
    let content = Content::Reasoning { text: "hm \u{1f600} \u{0}".to_owned() };
    let item = Item {
        id,
        turn: None,
        step: None,
        place: None,
        parent: None,
        status: ItemStatus::Completed,
        content,
        private: Some(private),
    };
    Fact::ItemEnded(ItemEnded { item })
}

#[tokio::test]
async fn appended_events_are_read_after_reopening() {
    let (directory, store) = fresh();
    let raw = "{ \"b\" :\t1,\"a\": 1e2, \"a\":\"\\u00e9\" }";
    let unknown =
        UnknownFact { kind: "later.kind".to_owned(), data: RawValue::from_string(raw.to_owned()).unwrap() };
    let facts = [started("ann", "/w"), item_with_private(), Fact::Unknown(unknown), notice("")];
    let written: Vec<Event> = (1..).zip(facts).map(|(seq, fact)| stamp(1, seq, fact)).collect();
    let writer = store.writer(&session(1)).await.unwrap();
    writer.append(written.iter().cloned().map(Arc::new).collect()).await.unwrap();
    drop(writer);
    store.close().await.unwrap();

    let read = read_all(&open(directory.path()), 1).await;
    assert_eq!(read, written);
    assert_eq!(read[1].fact.item().unwrap().private, written[1].fact.item().unwrap().private);
    let Fact::Unknown(unknown) = &read[2].fact else { panic!("{:?}", read[2]) };
    assert_eq!(unknown.data.get(), raw);
}

#[tokio::test]
async fn an_append_must_follow_on_the_log() {
    let (_directory, store) = fresh();
    let writer = store.writer(&session(1)).await.unwrap();
    writer.append(events(1, 1..=3)).await.unwrap();
    for (seqs, expected) in [(vec![5], (3, 5)), (vec![3], (3, 3)), (vec![4, 6], (4, 6)), (vec![0], (3, 0))] {
        match writer.append(events(1, seqs)).await {
            Err(StoreError::OutOfOrder { head, found, .. }) => assert_eq!((head, found), expected),
            other => panic!("{other:?}"),
        }
    }
    writer.append(events(1, 4..=4)).await.unwrap();
    writer.append(Vec::new()).await.unwrap();
    assert_whole(&store, 1, 4).await;
}

#[tokio::test]
async fn only_durable_events_of_the_session_are_taken() {
    let (_directory, store) = fresh();
    let writer = store.writer(&session(1)).await.unwrap();
    let live = Event { seq: None, ..event(1, 1) };
    assert!(matches!(writer.append(vec![Arc::new(live)]).await, Err(StoreError::Io(_))));
    assert!(matches!(writer.append(events(2, [1])).await, Err(StoreError::Io(_))));
    assert_whole(&store, 1, 0).await;
    assert_whole(&store, 2, 0).await;
}

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
async fn a_bad_append_does_not_spoil_its_neighbours() {
    let (_directory, store) = fresh();
    let store = &store;
    let results = futures::future::join_all((1..=40).map(|number| async move {
        let writer = store.writer(&session(number)).await.unwrap();
        writer.append(events(number, [if number % 4 == 0 { 2 } else { 1 }])).await
    }))
    .await;
    assert!(store.stats().commits < 40, "{:?}", store.stats());
    for (number, result) in (1..).zip(results) {
        assert_eq!(result.is_ok(), number % 4 != 0, "{result:?}");
        assert_whole(store, number, u64::from(number % 4 != 0)).await;
    }
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_interleaving_reads_back_as_exact_suffixes(
        appends in prop::collection::vec((1..4_u64, 1..4_u64), 1..12),
        limit in 1..20_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (_directory, store) = fresh();
            let mut heads = [0_u64; 4];
            for (number, count) in appends {
                let head = &mut heads[usize::try_from(number).unwrap()];
                append(&store, number, *head + 1..=*head + count).await;
                *head += count;
            }
            for number in 1..4 {
                let head = heads[usize::try_from(number).unwrap()];
                for after in 0..=head + 1 {
                    let read = store.read(&session(number), after, limit).await.unwrap();
                    let expected: Vec<Event> =
                        (after + 1..=head).take(limit).map(|seq| event(number, seq)).collect();
                    assert_eq!(read, expected);
                }
            }
        });
    }
}
