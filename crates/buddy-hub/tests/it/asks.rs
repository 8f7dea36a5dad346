//! Asks: one answer each, from a person who may give it.

use buddy_protocol::{
    Answer, AskId, Command, Fact, Principal, PrincipalKind, Sessions, SessionsError, Subscription,
};

use crate::bench::{Bench, next};

async fn asked(events: &mut Subscription) -> AskId {
    loop {
        if let Fact::Asked(asked) = &next(events).await.fact {
            return asked.ask.id.clone();
        }
    }
}

/// The answer as it stands in the log, and as the asker got it.
async fn outcome(events: &mut Subscription) -> (Answer, String) {
    let mut logged = None;
    loop {
        match &next(events).await.fact {
            Fact::Answered(answered) => {
                assert!(logged.replace(answered.answer.clone()).is_none(), "there is one answer");
            }
            Fact::Notice(notice) => return (logged.unwrap(), notice.text.clone()),
            _ => {}
        }
    }
}

#[tokio::test]
async fn the_first_answer_wins_and_the_others_are_told() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "ask").await;
    let ask = asked(&mut events).await;
    let deny = Answer::Deny { reason: None };
    let (first, second) = tokio::join!(
        bench.answer(&bench.ann, &session, &ask, Answer::Allow),
        bench.answer(&bench.ann, &session, &ask, deny.clone()),
    );
    assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
    let winner = if first.is_ok() { Answer::Allow } else { deny };
    assert_eq!(outcome(&mut events).await, (winner.clone(), format!("{winner:?}")));
    let late = bench.answer(&bench.ann, &session, &ask, Answer::Allow).await;
    assert!(matches!(late, Err(SessionsError::Conflict(_))), "{late:?}");
}

#[tokio::test]
async fn an_ask_that_nobody_answers_expires() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "ask 30").await;
    let ask = asked(&mut events).await;
    assert_eq!(outcome(&mut events).await, (Answer::Expired, "Expired".to_owned()));
    let late = bench.answer(&bench.ann, &session, &ask, Answer::Allow).await;
    assert!(matches!(late, Err(SessionsError::Conflict(_))), "{late:?}");
}

#[tokio::test]
async fn an_ask_that_is_given_up_is_withdrawn() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "give-up").await;
    asked(&mut events).await;
    let Fact::Answered(answered) = &next(&mut events).await.fact else { panic!("it was not answered") };
    assert_eq!(answered.answer, Answer::Withdrawn);
    assert_eq!(answered.by.kind, PrincipalKind::System);
}

#[tokio::test]
async fn nobody_but_the_owner_answers_and_nobody_pretends_to_be_the_hub() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "ask").await;
    let ask = asked(&mut events).await;
    for stranger in
        [Principal::person("bob"), Principal { kind: PrincipalKind::Agent, name: "ann".to_owned() }]
    {
        let refused = bench.answer(&stranger, &session, &ask, Answer::Allow).await;
        assert!(matches!(refused, Err(SessionsError::NotFound(_))), "{refused:?}");
    }
    let system = bench.answer(&Principal::system(), &session, &ask, Answer::Allow).await;
    assert!(matches!(system, Err(SessionsError::Forbidden { .. })), "{system:?}");
    for pretence in [Answer::Expired, Answer::Withdrawn] {
        let refused = bench.answer(&bench.ann, &session, &ask, pretence).await;
        assert!(matches!(refused, Err(SessionsError::Invalid(_))), "{refused:?}");
    }
    bench.answer(&bench.ann, &session, &ask, Answer::Allow).await.unwrap();
    assert_eq!(outcome(&mut events).await.0, Answer::Allow);
}

#[tokio::test]
async fn an_open_ask_is_withdrawn_when_its_session_is_taken_up_again() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "ask").await;
    let ask = asked(&mut events).await;
    bench.hub.close().await;
    let other = bench.another_hub();
    let mut events = other.subscribe(&bench.ann, &session, 2).await.unwrap();
    let Fact::Answered(answered) = &next(&mut events).await.fact else { panic!("it was left open") };
    assert_eq!((&answered.ask, &answered.answer), (&ask, &Answer::Withdrawn));
    let late = Command::Answer { ask, answer: Answer::Allow };
    assert!(matches!(other.send(&bench.ann, &session, late).await, Err(SessionsError::Conflict(_))));
}
