//! Starting, finding, changing and ending sessions.

use buddy_protocol::{
    Change, Command, MAX_TARGETS, NewSession, Principal, SessionQuery, SessionState, SessionTarget, Sessions,
    SessionsError,
};
use futures::StreamExt;

use crate::bench::{Bench, next};

#[tokio::test]
async fn a_stranger_learns_nothing_of_a_session() {
    let bench = Bench::new();
    let session = bench.session().await;
    let bob = Principal::person("bob");
    let there = bench.hub.events(&bob, &session, 0, 10).await.unwrap_err().to_string();
    let other = "ses_0000000000000000000000zzzz".parse().unwrap();
    let not_there = bench.hub.events(&bob, &other, 0, 10).await.unwrap_err().to_string();
    assert_eq!(
        there.replace(session.as_str(), "X"),
        not_there.replace("ses_0000000000000000000000zzzz", "X")
    );
    assert!(bench.hub.subscribe(&bob, &session, 0).await.is_err());
    assert!(bench.hub.list(&bob, SessionQuery::default()).await.unwrap().sessions.is_empty());
    assert_eq!(bench.hub.list(&bench.ann, SessionQuery::default()).await.unwrap().sessions.len(), 1);
}

#[tokio::test]
async fn an_invalid_prompt_is_refused() {
    let bench = Bench::new();
    let session = bench.session().await;
    for text in [String::new(), "  \n".to_owned(), "x".repeat(5 * 1024 * 1024)] {
        let refused = bench.hub.send(&bench.ann, &session, Command::prompt(text)).await;
        assert!(matches!(refused, Err(SessionsError::Invalid(_))), "{refused:?}");
    }
    let agent = NewSession::new("nobody", "/");
    assert!(matches!(bench.hub.create(&bench.ann, agent.clone()).await, Err(SessionsError::Invalid(_))));
    let targets = vec![SessionTarget::local("/"); MAX_TARGETS + 1];
    let crowded = NewSession { agent: "scripted".to_owned(), targets, ..agent };
    assert!(matches!(bench.hub.create(&bench.ann, crowded).await, Err(SessionsError::Invalid(_))));
}

#[tokio::test]
async fn a_title_is_changed_and_an_ended_session_stays_readable() {
    let bench = Bench::new();
    let session = bench.session().await;
    let title = Command::Change(Change { title: Some("trip".to_owned()), ..Change::default() });
    bench.hub.send(&bench.ann, &session, title).await.unwrap();
    bench.hub.send(&bench.ann, &session, Command::End).await.unwrap();
    let listed = bench.hub.list(&bench.ann, SessionQuery::default()).await.unwrap().sessions;
    assert_eq!((listed[0].title.as_deref(), listed[0].state), (Some("trip"), SessionState::Ended));
    assert_eq!(bench.hub.events(&bench.ann, &session, 0, 10).await.unwrap().len(), 3);
    assert_eq!(bench.subscribe(&session, 1).await.count().await, 2);
    let late = bench.hub.send(&bench.ann, &session, Command::prompt("say 1")).await;
    assert!(matches!(late, Err(SessionsError::Conflict(_))), "{late:?}");
}

#[tokio::test]
async fn many_commands_at_once_open_a_session_once() {
    let bench = Bench::new();
    let session = bench.session().await;
    bench.hub.close().await;
    let prompts = (0..20).map(|_| bench.prompt(&session, "say 1"));
    futures::future::join_all(prompts).await;
    let mut events = bench.subscribe(&session, 0).await;
    while next(&mut events).await.seq < Some(21) {}
}
