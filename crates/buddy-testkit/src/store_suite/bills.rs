//! The ledger.

use std::sync::Arc;

use buddy_protocol::{Bill, Event, Spending, UnixMillis};

use super::stand::{StoreStand, WholeStore, append_all, tell};
use crate::log_events::{session, spent_since, stamp, started, started_by, used};

/// Calls, tokens, cost, and calls without a price.
async fn billed(store: &dyn WholeStore, scope: Spending) -> (u64, u64, u64, u64) {
    let Bill { calls, usage, cost, unpriced } = store.bill(scope).await.expect("it can be billed");
    (calls, usage.input, cost.0, unpriced)
}

/// A session, those above it, and all that these opened.
pub async fn a_bill_covers_the_whole_tree(stand: &dyn StoreStand) {
    let store = &*stand.open();
    tell(store, 1, vec![started("ann", "/a"), used(10, Some(1)), used(20, Some(2))]).await;
    tell(store, 2, vec![started_by("ann", "/a", Some(session(1))), used(100, None)]).await;
    tell(store, 3, vec![started_by("ann", "/a", Some(session(2))), used(1_000, Some(4))]).await;
    tell(store, 4, vec![started_by("ann", "/a", Some(session(1)))]).await;
    tell(store, 5, vec![started("ann", "/a"), used(10_000, Some(8))]).await;
    for number in 1..=4 {
        assert_eq!(billed(store, Spending::Tree(session(number))).await, (4, 1_130, 7, 1), "of {number}");
    }
    assert_eq!(billed(store, Spending::Tree(session(5))).await, (1, 10_000, 8, 0));
    assert_eq!(billed(store, Spending::Tree(session(6))).await, (0, 0, 0, 0));
    assert_eq!(billed(&*stand.open(), Spending::Tree(session(1))).await, (4, 1_130, 7, 1));
}

/// A session and those below it, without those above and beside it.
pub async fn a_bill_beneath_a_session_leaves_out_those_above(stand: &dyn StoreStand) {
    let store = &*stand.open();
    tell(store, 1, vec![started("ann", "/a"), used(1, Some(1))]).await;
    tell(store, 2, vec![started_by("ann", "/a", Some(session(1))), used(10, Some(2))]).await;
    tell(store, 3, vec![started_by("ann", "/a", Some(session(2))), used(100, None), used(100, None)]).await;
    tell(store, 4, vec![started_by("ann", "/a", Some(session(1))), used(1_000, Some(4))]).await;
    for (number, expected) in
        [(1, (5, 1_211, 7, 2)), (2, (3, 210, 2, 2)), (3, (2, 200, 0, 2)), (4, (1, 1_000, 4, 0))]
    {
        assert_eq!(billed(store, Spending::Beneath(session(number))).await, expected, "beneath {number}");
    }
    assert_eq!(billed(store, Spending::Beneath(session(5))).await, (0, 0, 0, 0));
}

/// The known sessions of a tree count, also where the session at its top is not here.
pub async fn a_tree_without_its_top_is_billed_from_the_topmost_known(stand: &dyn StoreStand) {
    let store = &*stand.open();
    tell(store, 2, vec![started_by("ann", "/a", Some(session(1))), used(10, Some(2))]).await;
    tell(store, 3, vec![started_by("ann", "/a", Some(session(2))), used(100, None)]).await;
    for number in 2..=3 {
        assert_eq!(billed(store, Spending::Tree(session(number))).await, (2, 110, 2, 1), "of {number}");
    }
}

/// The time of each call counts, not that of its session.
pub async fn a_bill_of_an_owner_begins_at_its_time(stand: &dyn StoreStand) {
    let store = &*stand.open();
    for (number, owner) in [(1, "ann"), (2, "ann"), (3, "bob")] {
        let calls = [(100, 1), (200, 2), (300, 4)].map(|(time, cost)| (time, used(time, Some(cost))));
        let facts = [(50, started(owner, "/a"))].into_iter().chain(calls);
        let stamped = (1..).zip(facts).map(|(seq, (time, fact))| {
            Arc::new(Event { time: UnixMillis(time), ..stamp(number, seq, fact) })
        });
        append_all(store, number, stamped.collect()).await;
    }
    assert_eq!(billed(store, spent_since("ann", 0)).await, (6, 1_200, 14, 0));
    assert_eq!(billed(store, spent_since("ann", 200)).await, (4, 1_000, 12, 0));
    assert_eq!(billed(store, spent_since("bob", 201)).await, (1, 300, 4, 0));
    assert_eq!(billed(store, spent_since("ann", 301)).await, (0, 0, 0, 0));
    assert_eq!(billed(store, spent_since("eve", 0)).await, (0, 0, 0, 0));
}
