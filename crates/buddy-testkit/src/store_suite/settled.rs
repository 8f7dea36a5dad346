//! A settled read of a log gives the same state as reading it event by event.

use buddy_protocol::{
    Content, Fact, Item, ItemChanged, ItemEnded, ItemId, ItemStarted, ItemStatus, Transcript,
};

use super::stand::{Dice, StoreStand, read_all, tell};
use crate::log_events::{session, started};

/// A fact about one of a few items.
fn fact(number: u64, step: u64) -> Fact {
    let id: ItemId = format!("itm_{number:026}").parse().expect("it is an id");
    let content = Content::AgentMessage { text: format!("{number} at {step}") };
    let status = if step < 2 { ItemStatus::Running } else { ItemStatus::Completed };
    let item = Item { id, turn: None, step: None, place: None, parent: None, status, content, private: None };
    match step {
        0 => Fact::ItemStarted(ItemStarted { item }),
        1 => Fact::ItemChanged(ItemChanged { item }),
        _ => Fact::ItemEnded(ItemEnded { item }),
    }
}

/// In parts of any size.
pub async fn both_ways_of_reading_lead_to_the_same_state(stand: &dyn StoreStand) {
    let (store, mut dice) = (&*stand.open(), Dice(11));
    for number in 1..=24 {
        let length = 1 + dice.roll(60);
        let facts = (0..length).map(|_| fact(dice.roll(6), dice.roll(3)));
        tell(store, number, std::iter::once(started("ann", "/")).chain(facts).collect()).await;
        let (head, part) = (length + 1, 1 + dice.roll(20));
        let mut expected = Transcript::default();
        for event in read_all(store, number).await {
            expected.apply(&event).expect("they follow on each other");
        }
        assert_eq!(expected.head(), head);
        let mut settled = Transcript::default();
        while settled.head() < head {
            let until = (settled.head() + part).min(head);
            let entries = store.read_settled(&session(number), settled.head(), until).await;
            let entries = entries.expect("it can be read");
            assert!(!entries.is_empty());
            for entry in entries {
                settled.settle(entry).expect("they follow on each other");
            }
        }
        assert_eq!(settled.items(), expected.items());
        let open = |transcript: &Transcript| -> Vec<Item> { transcript.open_items().cloned().collect() };
        assert_eq!(open(&settled), open(&expected));
    }
}
