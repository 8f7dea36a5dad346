//! Asks: one answer each, from a user who may give it.

use std::collections::BTreeSet;

use buddy_protocol::{
    AgentId, Answer, AskId, Command, Fact, GrantScope, GrantWish, Principal, PrincipalId, Sessions,
    SessionsError, Subscription, UserId,
};

use crate::bench::{Bench, next};

async fn asked(events: &mut Subscription) -> AskId {
    loop {
        if let Fact::Asked(asked) = &next(events).await.fact {
            return asked.ask.id.clone();
        }
    }
}

/// The answer in the log, and the answer that the asker got.
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
async fn the_first_answer_wins_and_later_ones_are_refused() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "ask").await;
    let ask = asked(&mut events).await;
    let deny = Answer::Deny { reason: None };
    let (first, second) = tokio::join!(
        bench.answer(&bench.ann, &session, &ask, Answer::allow()),
        bench.answer(&bench.ann, &session, &ask, deny.clone()),
    );
    assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
    let winner = if first.is_ok() { Answer::allow() } else { deny };
    assert_eq!(outcome(&mut events).await, (winner.clone(), format!("{winner:?}")));
    let late = bench.answer(&bench.ann, &session, &ask, Answer::allow()).await;
    assert!(matches!(late, Err(SessionsError::Conflict(_))), "{late:?}");
}

#[tokio::test]
async fn an_unanswered_ask_is_logged_as_answered_by_the_system() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "ask").await;
    let ask = asked(&mut events).await;
    let nobody = Answer::Unanswered { reason: "the input has ended".to_owned() };
    bench.answer(&bench.ann, &session, &ask, nobody.clone()).await.unwrap();
    let event = next(&mut events).await;
    let Fact::Answered(answered) = &event.fact else { panic!("it was not answered") };
    assert_eq!((&answered.answer, &event.by), (&nobody, &Some(Principal::system())));
}

#[tokio::test]
async fn an_unanswered_ask_expires() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "ask 30").await;
    let ask = asked(&mut events).await;
    assert_eq!(outcome(&mut events).await, (Answer::Expired, "Expired".to_owned()));
    let late = bench.answer(&bench.ann, &session, &ask, Answer::allow()).await;
    assert!(matches!(late, Err(SessionsError::Conflict(_))), "{late:?}");
}

#[tokio::test]
async fn an_ask_that_is_given_up_is_withdrawn() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "give-up").await;
    asked(&mut events).await;
    let event = next(&mut events).await;
    let Fact::Answered(answered) = &event.fact else { panic!("it was not answered") };
    assert_eq!((&answered.answer, &event.by), (&Answer::Withdrawn, &Some(Principal::system())));
}

#[tokio::test]
async fn only_the_owner_answers_and_only_the_hub_expires_or_withdraws() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "ask").await;
    let ask = asked(&mut events).await;
    let nobodys = PrincipalId::Agent(AgentId::of_name("ann"));
    for stranger in
        [Principal::person("bob"), Principal { id: nobodys, name: "ann".to_owned(), on_behalf_of: None }]
    {
        let refused = bench.answer(&stranger, &session, &ask, Answer::allow()).await;
        assert!(matches!(refused, Err(SessionsError::NotFound(_))), "{refused:?}");
    }
    let own_agent = Principal::agent(AgentId::of_name("buddy"), "buddy", UserId::of_account("ann"));
    for reader in [own_agent, Principal::system()] {
        let refused = bench.answer(&reader, &session, &ask, Answer::allow()).await;
        assert!(matches!(refused, Err(SessionsError::Forbidden { .. })), "{refused:?}");
    }
    for pretence in [Answer::Expired, Answer::Withdrawn] {
        let refused = bench.answer(&bench.ann, &session, &ask, pretence).await;
        assert!(matches!(refused, Err(SessionsError::Invalid(_))), "{refused:?}");
    }
    bench.answer(&bench.ann, &session, &ask, Answer::allow()).await.unwrap();
    assert_eq!(outcome(&mut events).await.0, Answer::allow());
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
    let late = Command::Answer { ask, answer: Answer::allow() };
    assert!(matches!(other.send(&bench.ann, &session, late).await, Err(SessionsError::Conflict(_))));
}

#[tokio::test]
async fn each_part_of_a_batch_has_its_own_answer() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "batch").await;
    let ask = asked(&mut events).await;
    let each = |answers| Answer::Each { answers };
    let deny = Answer::Deny { reason: None };
    let wish = GrantWish { offer: 0, words: None, scope: GrantScope::User, seconds: 60 };
    let grant = Answer::grant(wish);
    for misfit in [each(vec![deny.clone()]), each(vec![deny.clone(), grant.clone()]), grant] {
        let refused = bench.answer(&bench.ann, &session, &ask, misfit).await;
        assert!(matches!(refused, Err(SessionsError::Invalid(_))), "{refused:?}");
    }
    let answer = each(vec![deny, Answer::allow()]);
    bench.answer(&bench.ann, &session, &ask, answer.clone()).await.unwrap();
    assert_eq!(outcome(&mut events).await, (answer.clone(), format!("{answer:?}")));
}

#[tokio::test]
async fn the_inbox_has_the_pending_asks_of_all_sessions_of_a_user() {
    let bench = Bench::new();
    let mut waiting = Vec::new();
    for order in ["ask", "batch"] {
        let session = bench.session().await;
        let mut events = bench.subscribe(&session, 0).await;
        bench.prompt(&session, order).await;
        waiting.push((session, asked(&mut events).await));
    }
    let inbox = async |who: &Principal| {
        let asks = bench.asks(who).await;
        let mut found: Vec<_> = asks.into_iter().map(|waiting| (waiting.session, waiting.ask.id)).collect();
        found.sort();
        found
    };
    assert_eq!(inbox(&bench.ann).await, waiting);
    assert_eq!(inbox(&Principal::person("bob")).await, []);
    let (session, ask) = waiting.remove(0);
    bench.answer(&bench.ann, &session, &ask, Answer::allow()).await.unwrap();
    assert_eq!(inbox(&bench.ann).await, waiting);
}

#[tokio::test]
async fn an_ask_with_a_word_is_denied_after_three_wrong_ones_and_not_by_a_bare_yes() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "ask-with-word").await;
    let ask = asked(&mut events).await;
    let answer = |answer: Answer| bench.answer(&bench.ann, &session, &ask, answer);
    for _ in 0..5 {
        let bare = answer(Answer::allow()).await;
        assert!(matches!(bare, Err(SessionsError::Invalid(_))), "a bare yes is no guess: {bare:?}");
    }
    for wrong in ["bcdfh", "y", "BCDFG "] {
        let refused = answer(Answer::allow().with_word(wrong)).await;
        assert!(matches!(refused, Err(SessionsError::Invalid(_))), "{refused:?}");
    }
    let late = answer(Answer::allow().with_word("bcdfg")).await;
    assert!(matches!(late, Err(SessionsError::Conflict(_))), "{late:?}");
    let (logged, _) = outcome(&mut events).await;
    assert!(matches!(logged, Answer::Deny { reason: Some(_) }), "{logged:?}");
}

#[tokio::test]
async fn an_ask_with_a_word_is_allowed_by_it_after_a_slip() {
    let bench = Bench::new();
    let session = bench.session().await;
    let mut events = bench.subscribe(&session, 0).await;
    bench.prompt(&session, "ask-with-word").await;
    let ask = asked(&mut events).await;
    let slip = Answer::allow().with_word("bcdff");
    bench.answer(&bench.ann, &session, &ask, slip).await.unwrap_err();
    let right = Answer::allow().with_word("bcdfg");
    bench.answer(&bench.ann, &session, &ask, right.clone()).await.unwrap();
    assert_eq!(outcome(&mut events).await.0, right);
}

#[tokio::test]
async fn the_asks_of_all_sessions_are_found_however_many_wait() {
    let bench = Bench::new();
    let mut waiting = BTreeSet::new();
    // More than fit into one page.
    for _ in 0..450 {
        waiting.insert(bench.stored_waiting_session().await);
    }
    let asks = bench.asks(&bench.ann).await;
    assert_eq!(asks.len(), waiting.len());
    assert_eq!(asks.into_iter().map(|ask| ask.session).collect::<BTreeSet<_>>(), waiting);
}
