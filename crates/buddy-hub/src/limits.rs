//! The limits on spending that hold in a session: those in its terms and in the terms of the sessions above it.

use buddy_protocol::{
    Fact, SessionId, SessionStarted, SessionStore, SpendingLimit, StoreError, SubtreeLimit,
};

/// The maximum depth of a tree of sessions. A ledger that adds up a tree has the same bound.
pub(crate) const MAX_DEPTH: usize = 100;

/// The limits in a session, the topmost first. A limit that the sessions above hold anyway is left out: terms are handed down, so most
/// sessions of a tree have the limits of its top, and each limit costs a look at what its session spent.
pub(crate) async fn limits_in(
    store: &dyn SessionStore,
    session: &SessionId,
    started: &SessionStarted,
) -> Result<Vec<SubtreeLimit>, StoreError> {
    let mut limits = vec![SubtreeLimit { session: session.clone(), limit: started.terms.budget }];
    let mut next = started.parent.clone();
    while let Some(parent) = next.filter(|_| limits.len() < MAX_DEPTH) {
        let first = store.read(&parent, 0, 1).await?.into_iter().next();
        let Some(Fact::SessionStarted(above)) = first.map(|event| event.fact) else { break };
        limits.push(SubtreeLimit { session: parent, limit: above.terms.budget });
        next = above.parent;
    }
    let mut narrowest = SpendingLimit::default();
    let narrows = |limit: &SubtreeLimit| {
        let before = narrowest;
        narrowest = before.narrowed(limit.limit);
        narrowest != before
    };
    Ok(limits.into_iter().rev().filter(narrows).collect())
}
