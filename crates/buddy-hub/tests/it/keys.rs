//! A command with a key is carried out once, however often it is sent.

use buddy_protocol::{
    Change, Command, CommandKey, CommandKeys, KeyClaim, KeyedCommand, Principal, SessionId, Sessions,
    SessionsError, UnixMillis,
};

use crate::bench::Bench;

fn key(text: &str) -> CommandKey {
    CommandKey::try_from(text.to_owned()).unwrap()
}

async fn send(bench: &Bench, session: &SessionId, name: &str, text: &str) -> Result<(), SessionsError> {
    bench.hub.send_once(&bench.ann, session, key(name), Command::prompt(text)).await
}

#[tokio::test]
async fn a_repeated_command_has_its_first_outcome_also_in_a_later_process() {
    let bench = Bench::new();
    let session = bench.session().await;
    for _ in 0..3 {
        send(&bench, &session, "a", "say 1").await.unwrap();
    }
    assert_eq!(bench.taken(), 1);
    bench.hub.close().await;
    let later = bench.another_hub();
    later.send_once(&bench.ann, &session, key("a"), Command::prompt("say 1")).await.unwrap();
    assert_eq!(bench.taken(), 1);
    let other = later.send_once(&bench.ann, &session, key("a"), Command::prompt("say 2")).await;
    assert!(matches!(other, Err(SessionsError::Conflict(_))), "{other:?}");
    later.send_once(&bench.ann, &session, key("b"), Command::prompt("say 1")).await.unwrap();
    assert_eq!(bench.taken(), 2);
    later.close().await;
}

#[tokio::test]
async fn a_refusal_that_lasts_is_repeated_and_one_that_passes_is_not() {
    let bench = Bench::new();
    let session = bench.session().await;
    // Nobody else may use the session, so the key of a stranger is not even looked at.
    let bob = Principal::person("bob");
    let refused = bench.hub.send_once(&bob, &session, key("a"), Command::prompt("say 1")).await;
    assert!(matches!(refused, Err(SessionsError::NotFound(_))), "{refused:?}");
    // Another process works on the session for now.
    let elsewhere = bench.another_hub();
    let prompt = || Command::prompt("say 1");
    let busy = elsewhere.send_once(&bench.ann, &session, key("a"), prompt()).await;
    assert!(matches!(busy, Err(SessionsError::Busy { .. })), "{busy:?}");
    bench.hub.close().await;
    elsewhere.send_once(&bench.ann, &session, key("a"), prompt()).await.unwrap();
    assert_eq!(bench.taken(), 1);
    // An ask that does not wait stays one that does not.
    let ask = "ask_0000000000000000000000zzzz".parse().unwrap();
    let answer = Command::Answer { ask, answer: buddy_protocol::Answer::allow() };
    let mut texts = Vec::new();
    for _ in 0..2 {
        let refused = elsewhere.send_once(&bench.ann, &session, key("c"), answer.clone()).await;
        texts.push(refused.unwrap_err().to_string());
    }
    assert_eq!(texts[0], texts[1]);
    elsewhere.close().await;
}

#[tokio::test]
async fn a_command_whose_process_died_is_not_carried_out_again() {
    let bench = Bench::new();
    let session = bench.session().await;
    let command = Command::Change(Change { title: Some("t".to_owned()), ..Change::default() });
    let keyed = KeyedCommand::new(bench.ann.id.clone(), session.clone(), key("a"), &command).unwrap();
    assert_eq!(bench.store.claim(&keyed, UnixMillis(1_000)).await.unwrap(), KeyClaim::Fresh);
    let unknown = bench.hub.send_once(&bench.ann, &session, key("a"), command).await;
    assert!(matches!(unknown, Err(SessionsError::Conflict(_))), "{unknown:?}");
    assert_eq!(bench.hub.find(&bench.ann, &session).await.unwrap().title, None);
    // After two days the key is free again.
    let later = UnixMillis(1_000 + 49 * 3_600 * 1_000);
    assert_eq!(bench.store.claim(&keyed, later).await.unwrap(), KeyClaim::Fresh);
}
