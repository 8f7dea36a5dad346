//! Readers see exactly the suffix they asked for, whenever they join.

use std::time::Duration;

use buddy_protocol::{Sessions, SubscriptionError};
use futures::StreamExt;
use futures::future::join_all;
use proptest::prelude::*;

use crate::bench::{Bench, next};

/// The number of durable facts in the session at the end: its start and the messages.
const FACTS: u64 = 301;

/// Subscribes when the session is at event `at`, and reads all events after `after` up to the end.
async fn read_along(bench: &Bench, session: &buddy_protocol::SessionId, at: u64, after: u64) -> Vec<u64> {
    let mut watch = bench.subscribe(session, 0).await;
    while next(&mut watch).await.seq < Some(at) {}
    let mut events = bench.subscribe(session, after).await;
    let mut seen = Vec::new();
    while seen.last() != Some(&FACTS) {
        seen.extend(next(&mut events).await.seq);
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn forty_readers_that_join_anywhere_see_their_suffix_once_and_in_order(
        joins in prop::collection::vec((1..FACTS, 0..FACTS), 40)
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let bench = Bench::new();
            let session = bench.session().await;
            bench.prompt(&session, &format!("say {}", FACTS - 1)).await;
            let readers = joins.iter().map(|&(at, after)| read_along(&bench, &session, at, after));
            for ((at, after), seen) in joins.iter().zip(join_all(readers).await) {
                let expected: Vec<u64> = (after + 1..=FACTS).collect();
                assert_eq!(seen, expected, "joined at {at}, after {after}");
            }
            bench.hub.close().await;
        });
    }
}

#[tokio::test]
async fn a_slow_reader_gets_an_error_and_is_dropped_without_blocking_others() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut slow = bench.subscribe(&session, 0).await;
    let mut fast = bench.subscribe(&session, 0).await;
    let first = next(&mut slow).await.seq.unwrap();
    bench.prompt(&session, "flood 20000").await;
    let drained = async { while next(&mut fast).await.seq < Some(2) {} };
    tokio::time::timeout(Duration::from_secs(30), drained).await.unwrap();
    let told = loop {
        match slow.next().await.unwrap() {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    assert_eq!(told, SubscriptionError::Lagged { resume_after: first });
    assert!(slow.next().await.is_none());
    let mut again = bench.subscribe(&session, first).await;
    assert_eq!(next(&mut again).await.seq, Some(first + 1));
}

#[tokio::test]
async fn a_reader_from_the_future_waits_for_it() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 5).await;
    bench.prompt(&session, "say 6").await;
    assert_eq!(next(&mut events).await.seq, Some(6));
}

#[tokio::test]
async fn a_session_goes_on_in_another_hub_once_the_first_has_closed() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "say 4").await;
    while next(&mut events).await.seq < Some(5) {}
    let other = bench.another_hub();
    assert!(other.take_up(&bench.ann, &session).await.is_err(), "one writer at a time");
    assert_eq!(other.events(&bench.ann, &session, 2, 10).await.unwrap().len(), 3, "reading needs no writer");
    bench.hub.close().await;
    // A closed session ends its subscriptions.
    while let Some(event) = events.next().await {
        assert_eq!(event.unwrap().seq, None);
    }
    let mut events = other.subscribe(&bench.ann, &session, 3).await.unwrap();
    assert_eq!(next(&mut events).await.seq, Some(4));
}
