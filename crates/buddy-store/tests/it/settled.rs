//! A settled read of a log gives the same state as reading it event by event.

use std::sync::Arc;

use buddy_protocol::{
    Content, Event, Fact, Item, ItemChanged, ItemEnded, ItemId, ItemStarted, ItemStatus, LogEntry,
    SessionStore, Transcript,
};
use proptest::prelude::*;

use crate::support::{fresh, session, stamp, started};

/// A fact about one of a few items.
fn fact(number: u32, step: u8) -> Fact {
    let id: ItemId = format!("itm_{number:026}").parse().unwrap();
    let content = Content::AgentMessage { text: format!("{number} at {step}") };
    let status = if step < 2 { ItemStatus::Running } else { ItemStatus::Completed };
    let item = Item { id, turn: None, step: None, place: None, parent: None, status, content, private: None };
    match step {
        0 => Fact::ItemStarted(ItemStarted { item }),
        1 => Fact::ItemChanged(ItemChanged { item }),
        _ => Fact::ItemEnded(ItemEnded { item }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_ways_of_reading_lead_to_the_same_state(
        steps in prop::collection::vec((0..6_u32, 0..3_u8), 1..60),
        part in 1..20_u64,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (_directory, store) = fresh();
            let facts = std::iter::once(started("ann", "/")).chain(steps.iter().map(|(item, step)| fact(*item, *step)));
            let events: Vec<Event> = (1..).zip(facts).map(|(seq, fact)| stamp(1, seq, fact)).collect();
            let head = events.len() as u64;
            let writer = store.writer(&session(1)).await.unwrap();
            writer.append(events.iter().cloned().map(Arc::new).collect()).await.unwrap();
            let mut expected = Transcript::default();
            for event in &events {
                expected.apply(event).unwrap();
            }
            let mut settled = Transcript::default();
            while settled.head() < head {
                let until = (settled.head() + part).min(head);
                for entry in store.read_settled(&session(1), settled.head(), until).await.unwrap() {
                    settled.settle(entry).unwrap();
                }
            }
            assert_eq!(settled.items(), expected.items());
            let open = |transcript: &Transcript| -> Vec<Item> { transcript.open_items().cloned().collect() };
            assert_eq!(open(&settled), open(&expected));
        });
    }
}

#[tokio::test]
async fn superseded_events_are_not_read() {
    let (_directory, store) = fresh();
    let facts = [started("ann", "/"), fact(1, 0), fact(1, 1), fact(1, 2)];
    let events = (1..).zip(facts).map(|(seq, fact)| Arc::new(stamp(1, seq, fact))).collect();
    store.writer(&session(1)).await.unwrap().append(events).await.unwrap();
    let entries = store.read_settled(&session(1), 0, 4).await.unwrap();
    let read: Vec<bool> = entries.iter().map(|entry| matches!(entry, LogEntry::Event(_))).collect();
    assert_eq!(read, [true, false, false, true]);
    assert!(store.read_settled(&session(1), 0, 5).await.is_err(), "an event that is not there is missed");
}
