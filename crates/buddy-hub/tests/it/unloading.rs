//! Idle sessions are unloaded, and taken up again when they are needed.

use std::sync::Arc;
use std::time::Duration;

use buddy_hub::HubLimits;
use buddy_protocol::{
    Command, Event, Fact, Ids, Principal, SessionId, SessionStarted, SessionStore, Sessions, SessionsError,
    UnixMillis,
};
use futures::StreamExt;

use crate::bench::{Bench, next};

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_hours(1);

#[tokio::test]
async fn an_idle_session_is_unloaded_and_taken_up_again() {
    let bench = Bench::new();
    let session = bench.session().await;
    bench.hub.close().await;
    let hub = bench.hub_with(HubLimits { max_live: 10, idle_after: SHORT });
    for round in 1..4 {
        let closed = bench.closings();
        hub.send(&bench.ann, &session, Command::prompt("say 1")).await.unwrap();
        closed.next().await;
        // The lease is free: another process can take the session up.
        let elsewhere = bench.another_hub();
        while let Err(error) = elsewhere.take_up(&bench.ann, &session).await {
            assert!(matches!(error, SessionsError::Busy { .. }), "{error:?}");
            tokio::task::yield_now().await;
        }
        elsewhere.close().await;
        assert_eq!(hub.find(&bench.ann, &session).await.unwrap().head, 1 + round);
    }
    hub.close().await;
}

#[tokio::test]
async fn a_session_with_a_reader_or_an_ask_stays() {
    let bench = Bench::new();
    let session = bench.session().await;
    bench.hub.close().await;
    let hub = bench.hub_with(HubLimits { max_live: 1, idle_after: LONG });
    let other = bench.stored_session().await;
    hub.take_up(&bench.ann, &session).await.unwrap();
    let mut events = hub.subscribe(&bench.ann, &session, 0).await.unwrap();
    next(&mut events).await;
    let refused = hub.take_up(&bench.ann, &other).await;
    assert!(matches!(refused, Err(SessionsError::Conflict(_))), "{refused:?}");
    hub.send(&bench.ann, &session, Command::prompt("ask")).await.unwrap();
    while !matches!(next(&mut events).await.fact, Fact::Asked(_)) {}
    drop(events);
    let refused = hub.take_up(&bench.ann, &other).await;
    assert!(matches!(refused, Err(SessionsError::Conflict(_))), "{refused:?}");
    let ask = hub.asks(&bench.ann, None).await.unwrap().asks.remove(0).ask.id;
    let answer = Command::Answer { ask, answer: buddy_protocol::Answer::allow() };
    hub.send(&bench.ann, &session, answer).await.unwrap();
    // Nothing goes on any more, so the other session takes its place.
    hub.take_up(&bench.ann, &other).await.unwrap();
    hub.close().await;
}

#[tokio::test]
async fn a_busy_session_makes_no_room() {
    let bench = Bench::new();
    let (busy, other) = (bench.stored_session().await, bench.stored_session().await);
    bench.hub.close().await;
    let hub = bench.hub_with(HubLimits { max_live: 1, idle_after: LONG });
    hub.send(&bench.ann, &busy, Command::prompt("work")).await.unwrap();
    let refused = hub.take_up(&bench.ann, &other).await;
    assert!(matches!(refused, Err(SessionsError::Conflict(_))), "{refused:?}");
    hub.send(&bench.ann, &busy, Command::prompt("rest")).await.unwrap();
    hub.take_up(&bench.ann, &other).await.unwrap();
    hub.close().await;
}

#[tokio::test]
async fn a_busy_session_outlasts_its_idle_time() {
    let bench = Bench::new();
    let (busy, other) = (bench.stored_session().await, bench.stored_session().await);
    bench.hub.close().await;
    let hub = bench.hub_with(HubLimits { max_live: 10, idle_after: SHORT });
    hub.send(&bench.ann, &busy, Command::prompt("work")).await.unwrap();
    // The other session is unloaded again and again, each time after as long as the busy one could be idle.
    for _ in 0..3 {
        let closed = bench.closings();
        hub.send(&bench.ann, &other, Command::prompt("say 1")).await.unwrap();
        closed.next().await;
    }
    let (opened, closed) = (bench.opened(), bench.closings());
    hub.send(&bench.ann, &busy, Command::prompt("rest")).await.unwrap();
    assert_eq!(bench.opened(), opened, "it was live all the time");
    closed.next().await;
    hub.close().await;
}

#[tokio::test]
async fn commands_that_meet_an_unloading_are_carried_out_once() {
    let bench = Bench::new();
    let session = bench.session().await;
    bench.hub.close().await;
    let hub = bench.hub_with(HubLimits { max_live: 10, idle_after: Duration::ZERO });
    for _ in 0..100 {
        hub.send(&bench.ann, &session, Command::prompt("say 1")).await.unwrap();
    }
    hub.close().await;
    let head = bench.store.find(&session).await.unwrap().unwrap().head;
    // The scripted agent drops work that is under way when it is closed, but nothing happens twice.
    assert!(head <= 101, "{head}");
    assert_eq!(bench.taken(), 100);
}

struct Numbered(u128);

impl Ids for Numbered {
    fn next(&self) -> u128 {
        self.0
    }
}

/// The resident memory of this process, in KiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_sessions_are_touched_in_flat_memory() {
    const STORED: u128 = 10_000;
    const TOUCHED: u128 = 2_000;
    let bench = Bench::new();
    let id = |number| SessionId::new(&Numbered(1_000_000 + number));
    let adding = (0..STORED).map(|number| {
        let (store, session) = (bench.store.clone(), id(number));
        async move {
            let started = SessionStarted {
                owner: Principal::person("ann"),
                agent: "scripted".to_owned(),
                cwd: "/".to_owned(),
                model: None,
                parent: None,
                targets: vec![],
                forked_from: None,
                began_with: None,
                terms: buddy_protocol::SessionTerms::default(),
            };
            let fact = Fact::SessionStarted(started);
            let event = Event { session: session.clone(), seq: Some(1), time: UnixMillis(1), by: None, fact };
            store.writer(&session).await?.append(vec![Arc::new(event)]).await
        }
    });
    let mut adding = futures::stream::iter(adding).buffer_unordered(200);
    while let Some(added) = adding.next().await {
        added.unwrap();
    }
    let mut full = 0;
    for number in 0..TOUCHED {
        bench.hub.send(&bench.ann, &id(number), Command::prompt("say 1")).await.unwrap();
        if number == 1_100 {
            full = resident();
        }
    }
    // From the limit on each new session takes the place of another one.
    let grown = resident().saturating_sub(full);
    assert!(grown < 16 * 1024, "{grown} KiB beyond {full} KiB");
    bench.hub.close().await;
}
