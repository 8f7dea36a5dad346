//! Forks of sessions.

use buddy_protocol::{
    Event, Fact, ForkKind, ForkPoint, FoundPage, Principal, SearchQuery, SessionStarted, Sessions,
    SessionsError,
};

use crate::bench::{Bench, next};

fn started(events: &[Event]) -> &SessionStarted {
    match &events[0].fact {
        Fact::SessionStarted(started) => started,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_fork_goes_on_by_itself_and_the_old_session_stays_as_it_was() {
    let bench = Bench::new();
    let session = bench.session().await;
    bench.prompt(&session, "say 2").await;
    let mut live = bench.subscribe(&session, 0).await;
    while next(&mut live).await.seq < Some(3) {}
    let before = bench.hub.events(&bench.ann, &session, 0, 100).await.unwrap();
    let fork = bench.hub.fork(&bench.ann, &session, ForkPoint::Now, ForkKind::Beneath).await.unwrap();
    bench.prompt(&fork, "say 1").await;
    let mut live = bench.subscribe(&fork, 0).await;
    while next(&mut live).await.seq < Some(2) {}
    let events = bench.hub.events(&bench.ann, &fork, 0, 100).await.unwrap();
    let origin = started(&events).forked_from.clone().unwrap();
    assert_eq!((origin.session, origin.seq), (session.clone(), 3));
    assert_eq!(started(&events).parent, Some(session.clone()));
    assert_eq!(bench.hub.events(&bench.ann, &session, 0, 100).await.unwrap(), before);
}

#[tokio::test]
async fn a_stranger_forks_nothing_and_a_bad_place_makes_no_session() {
    let bench = Bench::new();
    let session = bench.session().await;
    let bob = Principal::person("bob");
    let refused = bench.hub.fork(&bob, &session, ForkPoint::Now, ForkKind::Beside).await;
    assert!(matches!(refused, Err(SessionsError::NotFound(_))), "{refused:?}");
    let refused = bench.hub.fork(&bench.ann, &session, ForkPoint::After { seq: 9 }, ForkKind::Beside).await;
    assert!(matches!(refused, Err(SessionsError::Invalid(_))), "{refused:?}");
    assert_eq!(
        bench.hub.list(&bench.ann, buddy_protocol::SessionQuery::default()).await.unwrap().sessions.len(),
        1
    );
}

#[tokio::test]
async fn only_the_callers_own_sessions_are_searched() {
    let bench = Bench::new();
    let session = bench.session().await;
    let title =
        buddy_protocol::Change { title: Some("harbour".to_owned()), ..buddy_protocol::Change::default() };
    bench.hub.send(&bench.ann, &session, buddy_protocol::Command::Change(title)).await.unwrap();
    let found = bench.hub.search(&bench.ann, SearchQuery::new("harbour")).await.unwrap().found;
    assert_eq!(found.iter().map(|found| &found.summary.id).collect::<Vec<_>>(), [&session]);
    let bobs = bench.hub.search(&Principal::person("bob"), SearchQuery::new("harbour")).await.unwrap();
    assert_eq!(bobs, FoundPage::default());
}
