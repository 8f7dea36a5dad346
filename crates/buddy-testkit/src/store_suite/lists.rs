//! The list of sessions.

use std::sync::Arc;

use buddy_protocol::{Ask, Asked, Event, Fact, Question, SessionQuery, UnixMillis};

use super::stand::{StoreStand, WholeStore, append_all, tell};
use crate::log_events::{notice, owned_by, session, stamp, started};

async fn begin(store: &dyn WholeStore, number: u64, owner: &str, cwd: &str, time: u64) {
    let event = Event { time: UnixMillis(time), ..stamp(number, 1, started(owner, cwd)) };
    append_all(store, number, vec![Arc::new(event)]).await;
}

async fn listed(store: &dyn WholeStore, query: SessionQuery) -> Vec<u64> {
    let list = store.list(query).await.expect("it can be listed");
    let number = |id| (1..100).find(|number| session(*number) == id).expect("a session of this test");
    list.into_iter().map(|summary| number(summary.id)).collect()
}

/// Of two that were used at the same time, the newer one comes first.
pub async fn the_last_used_comes_first_and_filters_hold(stand: &dyn StoreStand) {
    let store = &*stand.open();
    begin(store, 1, "ann", "/a", 100).await;
    begin(store, 2, "bob", "/a", 300).await;
    begin(store, 3, "ann", "/b", 200).await;
    begin(store, 4, "ann", "/a", 200).await;
    let below = |cwd: &str, query| SessionQuery { cwd: Some(cwd.to_owned()), ..query };
    let all = SessionQuery::default;
    assert_eq!(listed(store, all()).await, [2, 4, 3, 1]);
    assert_eq!(listed(store, SessionQuery { limit: 2, ..all() }).await, [2, 4]);
    assert_eq!(listed(store, below("/a", all())).await, [2, 4, 1]);
    assert_eq!(listed(store, owned_by("ann")).await, [4, 3, 1]);
    assert_eq!(listed(store, below("/a", owned_by("ann"))).await, [4, 1]);
    assert_eq!(listed(store, owned_by("eve")).await, [] as [u64; 0]);

    let used = Event { time: UnixMillis(400), ..stamp(1, 2, notice("used")) };
    append_all(store, 1, vec![Arc::new(used)]).await;
    assert_eq!(listed(store, all()).await, [1, 2, 4, 3]);
    assert_eq!(listed(&*stand.open(), all()).await, [1, 2, 4, 3]);
}

/// Also while sessions are used, which moves them to the front.
pub async fn pages_of_the_list_leave_out_and_repeat_nothing(stand: &dyn StoreStand) {
    let store = &*stand.open();
    // Three sessions for each time, so that the time alone does not order them.
    for number in 1..=9 {
        begin(store, number, "ann", "/a", 100 + number / 3).await;
    }
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let query = SessionQuery { limit: 2, after, ..SessionQuery::default() };
        let page = store.list(query).await.expect("it can be listed");
        let Some(last) = page.last() else { break };
        after = Some(last.cursor());
        seen.extend(page.into_iter().map(|summary| summary.id));
        // A session that was listed and one that was not are used meanwhile, and move to the front.
        if seen.len() == 4 {
            for number in [9, 1] {
                let event = Event { time: UnixMillis(900), ..stamp(number, 2, notice("used")) };
                append_all(store, number, vec![Arc::new(event)]).await;
            }
        }
    }
    let expected: Vec<_> = [9, 8, 7, 6, 5, 4, 3, 2].map(session).into();
    assert_eq!(seen, expected);
}

/// Only those with an ask that nobody has answered.
pub async fn waiting_sessions_are_listed(stand: &dyn StoreStand) {
    let store = &*stand.open();
    let ask = Ask {
        id: "ask_00000000000000000000000001".parse().expect("it is an id"),
        turn: None,
        item: None,
        question: Question::Text { text: "Which?".to_owned(), options: Vec::new() },
        expires: None,
    };
    tell(store, 1, vec![started("ann", "/a"), Fact::Asked(Asked { ask })]).await;
    tell(store, 2, vec![started("ann", "/a")]).await;
    let waiting = SessionQuery { is_waiting: true, ..SessionQuery::default() };
    assert_eq!(listed(store, waiting).await, [1]);
    assert_eq!(listed(store, SessionQuery { is_waiting: true, ..owned_by("bob") }).await, [] as [u64; 0]);
}

/// A session that does not exist is no error.
pub async fn a_session_is_found_by_its_id(stand: &dyn StoreStand) {
    let store = &*stand.open();
    assert_eq!(store.find(&session(1)).await.expect("it can be looked for"), None);
    assert_eq!(store.read(&session(1), 0, 10).await.expect("it can be read"), []);
    begin(store, 1, "ann", "/a", 100).await;
    let summary = store.find(&session(1)).await.expect("it can be looked for").expect("it is there");
    assert_eq!((summary.owner.name.as_str(), summary.head, summary.created), ("ann", 1, UnixMillis(100)));
}

/// Its facts are not lost, but there is nobody whose session it would be.
pub async fn a_log_that_never_started_is_kept_but_not_listed(stand: &dyn StoreStand) {
    let store = &*stand.open();
    tell(store, 1, vec![notice("first")]).await;
    assert_eq!(store.find(&session(1)).await.expect("it can be looked for"), None);
    assert_eq!(listed(store, SessionQuery::default()).await, [] as [u64; 0]);
    assert_eq!(store.read(&session(1), 0, 10).await.expect("it can be read").len(), 1);
}
