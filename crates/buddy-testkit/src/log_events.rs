//! Events for tests of logs: always the same for the same numbers, so that any reader knows what it has to find.
//!
//! Everything about owners, stamps and queries by owner is made here and nowhere else in these tests.

use std::sync::Arc;

use buddy_protocol::{
    Clock, Content, Event, Fact, Found, Ids, Item, ItemEnded, ItemStatus, MicroUsd, Notice, NoticeLevel,
    Principal, SearchQuery, SessionId, SessionQuery, SessionStarted, SessionStore, Spending, StoreError,
    UnixMillis, Usage, UsageReported,
};

/// A clock that stands still, and ids that do not change.
#[derive(Debug, Clone, Copy)]
pub struct Fixed(pub u128);

impl Ids for Fixed {
    fn next(&self) -> u128 {
        self.0
    }
}

impl Clock for Fixed {
    fn now(&self) -> UnixMillis {
        UnixMillis(1_700_000_000_000)
    }
}

/// The session with this number.
pub fn session(number: u64) -> SessionId {
    SessionId::new(&Fixed(u128::from(number)))
}

/// The event of a session with this number, always the same: the first one starts it.
pub fn event(number: u64, seq: u64) -> Event {
    let fact = if seq == 1 { started("ann", "/home/ann") } else { notice(&format!("{number}/{seq}")) };
    stamp(number, seq, fact)
}

/// Several of them, to append.
pub fn events(number: u64, seqs: impl IntoIterator<Item = u64>) -> Vec<Arc<Event>> {
    seqs.into_iter().map(|seq| Arc::new(event(number, seq))).collect()
}

/// A fact with its place and the time that belongs to it.
pub fn stamp(number: u64, seq: u64, fact: Fact) -> Event {
    Event { session: session(number), seq: Some(seq), time: UnixMillis(1000 + seq), by: None, fact }
}

/// The start of a session.
pub fn started(owner: &str, cwd: &str) -> Fact {
    started_by(owner, cwd, None)
}

/// The start of a session that another one opened.
pub fn started_by(owner: &str, cwd: &str, parent: Option<SessionId>) -> Fact {
    Fact::SessionStarted(SessionStarted {
        owner: Principal::person(owner),
        agent: "buddy".to_owned(),
        cwd: cwd.to_owned(),
        model: None,
        parent,
        targets: vec![],
        forked_from: None,
        began_with: None,
        terms: buddy_protocol::SessionTerms::default(),
    })
}

/// A fact without a meaning.
pub fn notice(text: &str) -> Fact {
    Fact::Notice(Notice { level: NoticeLevel::Info, code: "test".to_owned(), text: text.to_owned() })
}

/// A whole item.
pub fn item(content: Content) -> Fact {
    let id = "itm_00000000000000000000000001".parse().expect("it is an id");
    let status = ItemStatus::Completed;
    Fact::ItemEnded(ItemEnded {
        item: Item { id, turn: None, step: None, place: None, parent: None, status, content, private: None },
    })
}

/// A message of the user.
pub fn said(text: &str) -> Fact {
    item(Content::said(text))
}

/// The usage of one model call, with its cost if that is known.
pub fn used(tokens: u64, cost: Option<u64>) -> Fact {
    Fact::UsageReported(UsageReported {
        turn: "trn_00000000000000000000000001".parse().expect("it is an id"),
        model: "m".to_owned(),
        usage: Usage { input: tokens, ..Usage::default() },
        step: None,
        cost: cost.map(MicroUsd),
    })
}

/// The sessions of an owner.
pub fn owned_by(owner: &str) -> SessionQuery {
    SessionQuery { owner: Some(Principal::person(owner).id), ..SessionQuery::default() }
}

/// The spending of an owner since a time.
pub fn spent_since(owner: &str, time: u64) -> Spending {
    Spending::Since { owner: Principal::person(owner).id, time: UnixMillis(time) }
}

/// Searches the sessions of an owner.
pub async fn search_as(
    store: &(impl SessionStore + ?Sized),
    owner: &str,
    words: &str,
    limit: usize,
) -> Result<Vec<Found>, StoreError> {
    let owner = Some(Principal::person(owner).id);
    store.search(SearchQuery { owner, limit, ..SearchQuery::new(words) }).await
}
