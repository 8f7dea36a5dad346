//! Settled reads, beyond what every store does.

use std::sync::Arc;

use buddy_protocol::{
    Content, Fact, Item, ItemChanged, ItemEnded, ItemId, ItemStarted, ItemStatus, LogEntry, SessionStore,
};

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
