//! Appending and reading.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use buddy_protocol::{Content, Event, Fact, ItemEnded, Private, StoreError, UnknownFact};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::task::JoinSet;

use super::stand::{ALL, Dice, StoreStand, append, assert_whole, read_all, tell};
use crate::log_events::{event, events, item, notice, session, stamp, started};

fn item_with_private() -> Fact {
    let private = Private {
        provider: "p".to_owned(),
        model: "m".to_owned(),
        wire: "w".to_owned(),
        data: json!({ "signature": "c2ln", "z": 1, "a": [null, 1.5] }),
    };
    let Fact::ItemEnded(ItemEnded { item }) =
        item(Content::Reasoning { text: "hm \u{1f600} \u{0}".to_owned() })
    else {
        panic!("an item that is complete at once has only an end")
    };
    Fact::ItemEnded(ItemEnded { item: buddy_protocol::Item { private: Some(private), ..item } })
}

/// Everything comes back as it was: private data, facts of a later version byte for byte, odd characters.
pub async fn appended_events_are_read_after_reopening(stand: &dyn StoreStand) {
    let raw = "{ \"b\" :\t1,\"a\": 1e2, \"a\":\"\\u00e9\" }";
    let data = RawValue::from_string(raw.to_owned()).expect("it is JSON");
    let unknown = UnknownFact { kind: "later.kind".to_owned(), data };
    let facts = vec![started("ann", "/w"), item_with_private(), Fact::Unknown(unknown), notice("")];
    let written: Vec<Event> = (1..).zip(facts.clone()).map(|(seq, fact)| stamp(1, seq, fact)).collect();
    let store = stand.open();
    tell(&*store, 1, facts).await;
    assert_eq!(read_all(&*store, 1).await, written);
    drop(store);

    let read = read_all(&*stand.open(), 1).await;
    assert_eq!(read, written);
    let private = |event: &Event| event.fact.item().map(|item| item.private.clone());
    assert_eq!(private(&read[1]), private(&written[1]));
    let Fact::Unknown(unknown) = &read[2].fact else { panic!("{:?}", read[2]) };
    assert_eq!(unknown.data.get(), raw);
}

/// Gaps, repetitions and mixtures are refused as a whole, and the log goes on after its end.
pub async fn an_append_must_follow_on_the_log(stand: &dyn StoreStand) {
    let store = stand.open();
    let writer = store.writer(&session(1)).await.expect("the lease is free");
    writer.append(events(1, 1..=3)).await.expect("it follows");
    for (seqs, expected) in [(vec![5], (3, 5)), (vec![3], (3, 3)), (vec![4, 6], (4, 6)), (vec![0], (3, 0))] {
        match writer.append(events(1, seqs)).await {
            Err(StoreError::OutOfOrder { head, found, .. }) => assert_eq!((head, found), expected),
            other => panic!("{other:?}"),
        }
        assert_whole(&*store, 1, 3).await;
    }
    writer.append(events(1, 4..=4)).await.expect("it follows");
    writer.append(Vec::new()).await.expect("nothing always follows");
    assert_whole(&*store, 1, 4).await;
}

/// Live events and those of another session are refused, with all that came with them.
pub async fn only_durable_events_of_the_session_are_taken(stand: &dyn StoreStand) {
    let store = stand.open();
    let writer = store.writer(&session(1)).await.expect("the lease is free");
    let live = Event { seq: None, ..event(1, 2) };
    assert!(writer.append(vec![Arc::new(event(1, 1)), Arc::new(live)]).await.is_err());
    assert!(writer.append(vec![Arc::new(event(1, 1)), Arc::new(event(2, 2))]).await.is_err());
    assert!(writer.append(events(2, [1])).await.is_err());
    assert_whole(&*store, 1, 0).await;
    assert_whole(&*store, 2, 0).await;
}

/// An append that is refused takes no other down, even if they are stored together.
pub async fn a_bad_append_does_not_spoil_its_neighbours(stand: &dyn StoreStand) {
    let store = stand.open();
    let results = futures::future::join_all((1..=40).map(|number| {
        let store = &store;
        async move {
            let writer = store.writer(&session(number)).await.expect("the lease is free");
            writer.append(events(number, [if number % 4 == 0 { 2 } else { 1 }])).await
        }
    }))
    .await;
    for (number, result) in (1..).zip(results) {
        assert_eq!(result.is_ok(), number % 4 != 0, "{result:?}");
        assert_whole(&*store, number, u64::from(number % 4 != 0)).await;
    }
}

/// Sessions do not mix, and a read begins and ends where it was told to.
pub async fn any_interleaving_reads_back_as_exact_suffixes(stand: &dyn StoreStand) {
    let (store, mut dice, mut heads) = (stand.open(), Dice(7), [0_u64; 8]);
    for _ in 0..60 {
        let number = dice.roll(heads.len() as u64);
        let (head, count) = (&mut heads[usize::try_from(number).expect("it is small")], 1 + dice.roll(4));
        append(&*store, number, *head + 1..=*head + count).await;
        *head += count;
    }
    for (number, head) in (0..).zip(heads) {
        for after in 0..=head + 1 {
            let limit = 1 + usize::try_from(dice.roll(20)).expect("it is small");
            let read = store.read(&session(number), after, limit).await.expect("it can be read");
            let expected: Vec<Event> = (after + 1..=head).take(limit).map(|seq| event(number, seq)).collect();
            assert_eq!(read, expected, "session {number} after {after}");
        }
    }
}

/// A reader, also one of another process, sees all that was acknowledged before it asked, and never a part of an append.
pub async fn readers_see_whole_appends_while_a_writer_writes(stand: &dyn StoreStand) {
    const APPENDS: u64 = 80;
    const EACH: u64 = 5;
    let acknowledged = Arc::new(AtomicU64::new(0));
    let mut readers = JoinSet::new();
    for store in [stand.open(), stand.open()] {
        let acknowledged = acknowledged.clone();
        readers.spawn(async move {
            let mut reads = 0_u64;
            loop {
                let least = acknowledged.load(Ordering::SeqCst);
                let read = store.read(&session(1), 0, ALL).await.expect("it can be read");
                let head = read.len() as u64;
                assert!(
                    head >= least && head.is_multiple_of(EACH),
                    "{head} events, {least} were acknowledged"
                );
                assert!(read.iter().zip(1..).all(|(found, seq)| *found == event(1, seq)));
                reads += 1;
                if head == APPENDS * EACH {
                    return reads;
                }
            }
        });
    }
    let store = stand.open();
    let writer = store.writer(&session(1)).await.expect("the lease is free");
    for append in 0..APPENDS {
        let first = append * EACH + 1;
        writer.append(events(1, first..first + EACH)).await.expect("it follows");
        acknowledged.store(first + EACH - 1, Ordering::SeqCst);
    }
    assert!(readers.join_all().await.into_iter().all(|reads| reads > 0));
}
