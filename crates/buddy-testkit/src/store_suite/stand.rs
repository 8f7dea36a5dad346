//! The stores of a case, and what all cases do with them.

use std::sync::Arc;

use buddy_protocol::{CommandKeys, Event, Fact, Ledger, SessionStore};

use crate::log_events::{event, events, session, stamp};

/// The most events of a session in this suite, so that one read gives all of them.
pub(super) const ALL: usize = 1000;

/// A store with its ledger and its memory of keys.
pub trait WholeStore: SessionStore + Ledger + CommandKeys {}

impl<T: SessionStore + Ledger + CommandKeys> WholeStore for T {}

/// An empty store that can be opened several times, as several processes do.
pub trait StoreStand: Send + Sync {
    /// Opens it.
    fn open(&self) -> Arc<dyn WholeStore>;

    /// The name that others are told if a store of this process holds a lease.
    fn holder_here(&self) -> String {
        format!("process {}", std::process::id())
    }

    /// Starts another process that holds the lease of session 1, and returns when it does.
    fn hold_elsewhere(&self) -> Box<dyn LeaseHolder>;
}

/// Another process that holds a lease.
pub trait LeaseHolder {
    /// The name that others are told.
    fn name(&self) -> String;

    /// Kills it without a warning, and returns when it is dead.
    fn kill(self: Box<Self>);
}

/// Appends the events with these numbers, with its own writer.
pub(super) async fn append(store: &dyn WholeStore, number: u64, seqs: impl IntoIterator<Item = u64>) {
    append_all(store, number, events(number, seqs)).await;
}

pub(super) async fn append_all(store: &dyn WholeStore, number: u64, events: Vec<Arc<Event>>) {
    store
        .writer(&session(number))
        .await
        .expect("the lease is free")
        .append(events)
        .await
        .expect("it follows");
}

/// Appends these facts as the first events of a session.
pub(super) async fn tell(store: &dyn WholeStore, number: u64, facts: Vec<Fact>) {
    let events = (1..).zip(facts).map(|(seq, fact)| Arc::new(stamp(number, seq, fact))).collect();
    append_all(store, number, events).await;
}

pub(super) async fn read_all(store: &dyn WholeStore, number: u64) -> Vec<Event> {
    store.read(&session(number), 0, ALL).await.expect("it can be read")
}

/// Asserts that a session has exactly the events 1 to `head` of [`event`].
pub(super) async fn assert_whole(store: &dyn WholeStore, number: u64, head: u64) {
    let expected: Vec<Event> = (1..=head).map(|seq| event(number, seq)).collect();
    assert_eq!(read_all(store, number).await, expected, "session {number}");
}

/// Numbers that look random and are the same in each run.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        // The multiplier and increment of Knuth's MMIX.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}
