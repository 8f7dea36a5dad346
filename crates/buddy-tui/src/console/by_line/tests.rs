//! A conversation line by line whose reader falls behind.

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use buddy_protocol::{
    ApprovalPolicy, Attachment, Command, Content, DeltaStream, Event, Fact, Item, ItemDelta, ItemEnded,
    ItemId, ItemStarted, ItemStatus, Principal, SessionId, SessionTarget, TurnEnded, TurnOutcome,
    TurnStarted, UnixMillis,
};
use tokio::sync::mpsc;

use super::{LineRequest, run_lines};
use crate::console::{Desk, DeskCommand, LineInput, ModelOption, SessionSurroundings};
use crate::details::Details;
use crate::exit::Exit;
use crate::printer::Printer;
use crate::slow_sessions::{SlowSessions, WrittenText, session_id};

/// A desk with nothing on it.
struct EmptyDesk;

#[async_trait]
impl Desk for EmptyDesk {
    fn history(&self) -> Vec<String> {
        Vec::new()
    }

    fn now(&self) -> UnixMillis {
        UnixMillis(0)
    }

    fn remember(&self, _: &str) {}

    async fn surroundings(&self, _: &SessionTarget, _: Option<&str>) -> SessionSurroundings {
        SessionSurroundings::default()
    }

    async fn paths(&self, _: &SessionTarget) -> Vec<String> {
        Vec::new()
    }

    async fn image(&self, _: &SessionTarget, _: &str) -> Result<Option<Attachment>, String> {
        Ok(None)
    }

    async fn pasted_image(&self) -> Result<String, String> {
        Err("there is no clipboard".to_owned())
    }

    async fn models(&self, _: Option<&str>) -> Vec<ModelOption> {
        Vec::new()
    }

    async fn find_model(&self, _: &str, _: Option<&str>) -> Result<String, String> {
        Err("there is no model".to_owned())
    }

    async fn edit(&self, text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }

    async fn changes(&self, _: &[ItemId]) -> Option<usize> {
        None
    }

    async fn log_in(&self, _: Option<&str>) -> Result<Option<String>, String> {
        Ok(None)
    }

    async fn status(&self, _: String) -> Result<String, String> {
        Ok(String::new())
    }

    async fn run(&self, _: &SessionId, _: &SessionTarget, _: DeskCommand) -> Result<String, String> {
        Ok(String::new())
    }
}

fn event(seq: Option<u64>, fact: Fact) -> Event {
    Event { session: session_id(), seq, time: UnixMillis(0), by: None, fact }
}

fn item(number: u32, status: ItemStatus, content: Content) -> Item {
    let id = format!("itm_{number:026}").parse().unwrap();
    let turn = Some(format!("trn_{:026}", 1).parse().unwrap());
    Item { id, turn, step: None, place: None, parent: None, status, content, private: None }
}

fn answer(status: ItemStatus, text: &str) -> Item {
    item(2, status, Content::AgentMessage { text: text.to_owned() })
}

fn streamed(text: &str) -> Event {
    let item = answer(ItemStatus::Running, "").id;
    event(None, Fact::ItemDelta(ItemDelta { item, stream: DeltaStream::Text, text: text.to_owned() }))
}

/// A turn whose answer streams, up to its first words.
fn begun() -> Vec<Event> {
    let prompt = Content::UserMessage { text: "go".to_owned(), images: Vec::new(), ran: None, typed: None };
    let facts = [
        crate::console::tests::begun(),
        Fact::TurnStarted(TurnStarted { turn: format!("trn_{:026}", 1).parse().unwrap() }),
        Fact::ItemEnded(ItemEnded { item: item(1, ItemStatus::Completed, prompt) }),
        Fact::ItemStarted(ItemStarted { item: answer(ItemStatus::Running, "") }),
    ];
    let events = (1..).zip(facts).map(|(seq, fact)| event(Some(seq), fact));
    events.chain([streamed("One ")]).collect()
}

/// The rest of it, after some of the answer was missed.
fn ended() -> Vec<Event> {
    let message = Fact::ItemEnded(ItemEnded { item: answer(ItemStatus::Completed, "One two three.") });
    let turn = TurnEnded {
        turn: format!("trn_{:026}", 1).parse().unwrap(),
        outcome: TurnOutcome::Completed,
        stop_reason: None,
        failure: None,
    };
    vec![streamed("three."), event(Some(5), message), event(Some(6), Fact::TurnEnded(turn))]
}

#[tokio::test]
async fn a_conversation_that_fell_behind_goes_on_and_its_answer_is_whole() {
    let (sessions, written) =
        (Arc::new(SlowSessions::delivering([begun(), ended()])), WrittenText::default());
    let (_stop, interrupts) = mpsc::channel(1);
    let request = LineRequest {
        who: Principal::person("ann"),
        session: session_id(),
        head: 0,
        details: Details::default(),
        is_read_aloud: false,
        approvals: ApprovalPolicy::Ask,
        custom: Vec::new(),
        input: LineInput::Pipe,
        prompt: Some("go".to_owned()),
        interrupts,
    };
    let mut printer = Printer::new(Box::new(written.clone()), Box::new(io::sink()), false);
    let left = run_lines(sessions.clone(), Arc::new(EmptyDesk), request, tokio::io::empty(), &mut printer);
    assert_eq!(left.await.unwrap().exit, Exit::Ok);
    assert_eq!(sessions.asked_after(), [0, 4]);
    assert_eq!(written.text(), "One two three.\n");
    assert!(matches!(&sessions.take_sent()[..], [Command::Prompt { .. }]));
}
