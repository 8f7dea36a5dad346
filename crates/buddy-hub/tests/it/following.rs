//! Reading takes no lease and starts no agent: a session of another process is followed in the store.

use std::time::{Duration, Instant};

use buddy_protocol::{Command, Fact, SessionQuery, Sessions, SessionsError};
use futures::StreamExt;

use crate::bench::{Bench, next};

/// The bound on waits that a working follower stays far below.
const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_reader_elsewhere_sees_events_as_they_are_appended() {
    let bench = Bench::new();
    let session = bench.session().await;
    let elsewhere = bench.another_hub();
    let mut events = elsewhere.subscribe(&bench.ann, &session, 0).await.unwrap();
    assert_eq!(next(&mut events).await.seq, Some(1));
    for seq in 2..6 {
        bench.prompt(&session, "say 1").await;
        let began = Instant::now();
        let event = tokio::time::timeout(PATIENCE, next(&mut events)).await.unwrap();
        assert_eq!(event.seq, Some(seq));
        assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    }
    elsewhere.list(&bench.ann, SessionQuery::default()).await.unwrap();
    elsewhere.find(&bench.ann, &session).await.unwrap();
    elsewhere.events(&bench.ann, &session, 0, 10).await.unwrap();
    assert_eq!(bench.opened(), 1, "reading starts no agent");
    // The end of the session ends the stream, and so does the end of its hub.
    bench.hub.send(&bench.ann, &session, Command::End).await.unwrap();
    let ended = tokio::time::timeout(PATIENCE, next(&mut events)).await.unwrap();
    assert!(matches!(ended.fact, Fact::SessionEnded(_)));
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_command_elsewhere_is_refused_until_the_session_is_free() {
    let bench = Bench::new();
    let session = bench.session().await;
    let elsewhere = bench.another_hub();
    let mut events = elsewhere.subscribe(&bench.ann, &session, 1).await.unwrap();
    let prompt = || Command::prompt("flood 3");
    for refused in
        [elsewhere.send(&bench.ann, &session, prompt()).await, elsewhere.take_up(&bench.ann, &session).await]
    {
        assert!(matches!(refused, Err(SessionsError::Busy { .. })), "{refused:?}");
    }
    bench.hub.close().await;
    // The reader gets live events as soon as its own process works on the session.
    elsewhere.send(&bench.ann, &session, prompt()).await.unwrap();
    let mut deltas = 0;
    loop {
        let event = tokio::time::timeout(PATIENCE, events.next()).await.unwrap().unwrap().unwrap();
        match event.seq {
            Some(seq) => break assert_eq!(seq, 2),
            None => deltas += 1,
        }
    }
    assert!(deltas <= 3);
    elsewhere.send(&bench.ann, &session, prompt()).await.unwrap();
    for expected in [None, None, None, Some(3)] {
        let event = tokio::time::timeout(PATIENCE, events.next()).await.unwrap().unwrap().unwrap();
        assert_eq!(event.seq, expected);
    }
    elsewhere.close().await;
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_follower_ends_with_its_hub() {
    let bench = Bench::new();
    let session = bench.session().await;
    let elsewhere = bench.another_hub();
    let mut events = elsewhere.subscribe(&bench.ann, &session, 0).await.unwrap();
    assert_eq!(next(&mut events).await.seq, Some(1));
    elsewhere.close().await;
    let ended = tokio::time::timeout(PATIENCE, events.next()).await.unwrap();
    assert!(ended.is_none());
}
