//! The terms of a session, as its agent keeps them: instructions in each prompt, and budgets of sessions and of those below them.

use std::fs;
use std::sync::Arc;

use buddy_calls::BuiltInTools;
use buddy_protocol::{
    Answer, Ask, Asked, Command, Event, Fact, Principal, Question, SessionId, SessionTerms, Sessions,
    SpendingLimit, Subscription, TurnOutcome,
};
use buddy_testkit::model::{ModelServer, Turn, turn};
use serde_json::{Value, json};

use crate::office::{Office, ScriptedModels, next, people};

/// How a prompt went.
#[derive(Debug)]
enum Prompted {
    Ended(TurnOutcome),
    Asked(Box<Ask>),
}

/// An office with a model that gives these answers, and ann.
async fn office(answers: Vec<Turn>) -> (Office, ModelServer, Principal) {
    let server = ModelServer::start(answers).await;
    let office = Office::with(Arc::new(ScriptedModels::new(&server, 0)), Arc::new(BuiltInTools));
    (office, server, people().0)
}

fn calls(limit: u64) -> SessionTerms {
    SessionTerms {
        budget: SpendingLimit { calls: Some(limit), ..SpendingLimit::default() },
        ..SessionTerms::default()
    }
}

/// A session, its events, and the office that it is in.
struct Desk<'a> {
    office: &'a Office,
    ann: &'a Principal,
    session: SessionId,
    events: Subscription,
}

impl<'a> Desk<'a> {
    async fn begin(
        office: &'a Office,
        ann: &'a Principal,
        parent: Option<&SessionId>,
        terms: SessionTerms,
    ) -> Self {
        let (session, events) = office.begin_below(ann, parent, terms).await;
        Self { office, ann, session, events }
    }

    async fn prompt(&mut self, text: &str) -> Prompted {
        self.office.hub.send(self.ann, &self.session, Command::prompt(text)).await.unwrap();
        self.wait().await
    }

    async fn wait(&mut self) -> Prompted {
        let how = |event: &Event| match &event.fact {
            Fact::TurnEnded(ended) => Some(Prompted::Ended(ended.outcome)),
            Fact::Asked(Asked { ask }) => Some(Prompted::Asked(Box::new(ask.clone()))),
            _ => None,
        };
        next(&mut self.events, how).await
    }

    async fn expect_answer(&mut self) {
        let prompted = self.prompt("go on").await;
        assert!(matches!(prompted, Prompted::Ended(TurnOutcome::Completed)), "{prompted:?}");
    }

    /// Fails unless buddy asks before it goes on, for this reason. Declines.
    async fn expect_breach(&mut self, reason: &str) {
        let prompted = self.prompt("go on").await;
        self.decline(prompted, reason).await;
    }

    async fn decline(&mut self, prompted: Prompted, reason: &str) {
        let Prompted::Asked(ask) = prompted else { panic!("{prompted:?}") };
        let Question::Approval(approval) = &ask.question else { panic!("{ask:?}") };
        assert_eq!(approval.reasons, [reason]);
        let answer = Command::Answer { ask: ask.id.clone(), answer: Answer::Deny { reason: None } };
        self.office.hub.send(self.ann, &self.session, answer).await.unwrap();
        let ended = self.wait().await;
        assert!(matches!(ended, Prompted::Ended(TurnOutcome::Failed)), "{ended:?}");
    }
}

fn texts(count: usize) -> Vec<Turn> {
    (0..count).map(|_| turn().text("Done.")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_of_a_child_counts_the_child_and_not_its_parent() {
    let (office, server, ann) = office(texts(5)).await;
    let mut parent = Desk::begin(&office, &ann, None, SessionTerms::default()).await;
    for _ in 0..3 {
        parent.expect_answer().await;
    }
    let mut child = Desk::begin(&office, &ann, Some(&parent.session), calls(2)).await;
    child.expect_answer().await;
    child.expect_answer().await;
    child.expect_breach("2 of 2 model calls are made under the terms of this session").await;
    assert_eq!(server.requests().len(), 5);
    office.hub.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn children_share_the_limit_of_their_parent() {
    let (office, server, ann) = office(texts(4)).await;
    let mut parent = Desk::begin(&office, &ann, None, calls(4)).await;
    parent.expect_answer().await;
    let mut one = Desk::begin(&office, &ann, Some(&parent.session), SessionTerms::default()).await;
    one.expect_answer().await;
    let mut other = Desk::begin(&office, &ann, Some(&parent.session), calls(3)).await;
    other.expect_answer().await;
    // The grandchild has the limit of its parent, which is not reached, and that of the session above both.
    let mut grandchild = Desk::begin(&office, &ann, Some(&other.session), SessionTerms::default()).await;
    grandchild.expect_answer().await;
    let reason = format!("4 of 4 model calls are made under the terms of `{}` above", parent.session);
    for child in [&mut one, &mut other, &mut grandchild] {
        child.expect_breach(&reason).await;
    }
    parent.expect_breach("4 of 4 model calls are made under the terms of this session").await;
    assert_eq!(server.requests().len(), 4);
    office.hub.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_in_the_terms_stops_the_next_call_of_a_turn() {
    let read = turn().call("read_file", json!({"path": "a.txt"}));
    let (office, server, ann) = office(vec![read, turn().text("Done.")]).await;
    fs::write(office.workspace.join("a.txt"), "one\n").unwrap();
    let mut desk = Desk::begin(&office, &ann, None, calls(1)).await;
    desk.expect_breach("1 of 1 model calls are made under the terms of this session").await;
    assert_eq!(server.requests().len(), 1, "the result of the call was not sent");
    office.hub.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn instructions_in_the_terms_are_in_each_prompt_at_the_same_place() {
    const INSTRUCTIONS: &str = "Answer each question with a proverb about lighthouses.";
    let (office, server, ann) = office(texts(3)).await;
    let terms = SessionTerms { instructions: Some(INSTRUCTIONS.to_owned()), ..SessionTerms::default() };
    let mut desk = Desk::begin(&office, &ann, None, terms).await;
    desk.expect_answer().await;
    desk.expect_answer().await;
    let mut plain = Desk::begin(&office, &ann, None, SessionTerms::default()).await;
    plain.expect_answer().await;
    let messages: Vec<Vec<Value>> = server
        .requests()
        .into_iter()
        .map(|request| request.body["messages"].as_array().unwrap().clone())
        .collect();
    let [first, second, other] = &messages[..] else { panic!("{}", messages.len()) };
    let system = |messages: &[Value]| messages[0]["content"].to_string();
    assert!(system(first).contains(INSTRUCTIONS), "{}", system(first));
    assert!(second.len() > first.len() && second[..first.len()] == first[..], "the prompt grows at its end");
    assert!(!system(other).contains(INSTRUCTIONS), "another session has none");
    office.hub.close().await;
}
