//! A session that another process works on.

use buddy_protocol::{ToolKind, Usage, UsageReported};

use super::scenes::call;
use super::*;
use crate::console::line_face::LineInput;

/// A turn with a running command and a question, which another process works on.
fn reading() -> Seat {
    let mut seat = Seat::new();
    seat.console.note_in_use(Some("in use".to_owned()));
    seat.fact(1, started(1, message("")));
    seat.fact(1, delta(1, "Half"));
    seat
}

fn looks(effects: &[ConsoleEffect]) -> usize {
    let look = ConsoleEffect::Errand(Errand::LookAfterOwner(session(1)));
    effects.iter().filter(|effect| **effect == look).count()
}

fn gone(seat: &mut Seat, head: u64) {
    seat.take(ConsoleInput::Reply(EffectReply::OwnerGone { session: session(1), head }));
}

#[test]
fn a_reader_looks_after_the_owner_while_work_goes_on() {
    let mut seat = reading();
    assert_eq!(looks(&seat.take(ConsoleInput::Tick)), 1);
    seat.wait(1000);
    assert_eq!(looks(&seat.take(ConsoleInput::Tick)), 0, "not too often");
    seat.wait(1000);
    assert_eq!(looks(&seat.take(ConsoleInput::Tick)), 1);
    seat.end_turn();
    seat.wait(5000);
    assert_eq!(looks(&seat.take(ConsoleInput::Tick)), 0, "nothing goes on");
    assert_eq!(looks(&Seat::new().take(ConsoleInput::Tick)), 0, "this process works on it");
}

#[test]
fn line_by_line_the_next_look_has_a_time() {
    let mut seat = reading();
    seat.console.go_by_line(LineInput::Pipe);
    assert_eq!(seat.console.next_deadline(), Some(seat.now));
    seat.take(ConsoleInput::Tick);
    assert_eq!(seat.console.next_deadline(), Some(seat.now + Duration::from_secs(2)));
}

#[test]
fn work_of_a_dead_owner_does_not_go_on() {
    let mut seat = reading();
    let head = seat.seq;
    gone(&mut seat, head + 1);
    assert!(seat.console.is_busy(), "an event is under way that may say more");
    gone(&mut seat, head);
    assert!(!seat.console.is_busy());
    let told = seat.rows().join(" ");
    assert!(told.contains("The buddy that worked on this session has ended."), "{told}");
    seat.write("go on");
    let sent = seat.press("enter");
    assert!(sent.contains(&ConsoleEffect::Send(session(1), Command::prompt("go on"))), "{sent:?}");
    let outcome = TurnOutcome::Interrupted;
    let closed = TurnEnded { turn: turn(), outcome, stop_reason: None, failure: None };
    seat.fact(1, Fact::TurnEnded(closed));
    assert!(!seat.console.front().is_left, "taking it over closed what was open");
}

#[test]
fn a_question_that_a_dead_owner_left_stays() {
    let mut seat = reading();
    seat.fact(1, asked("mkdir a"));
    assert_eq!(looks(&seat.take(ConsoleInput::Tick)), 0);
    let head = seat.seq;
    gone(&mut seat, head);
    assert!(seat.console.asking.is_some(), "a key that is pressed now answers it, and is no prompt");
}

#[test]
fn a_conversation_that_is_left_has_a_title_and_a_reader_no_tokens() {
    let left = |in_use: Option<String>| {
        let mut seat = Seat::new();
        seat.console.note_in_use(in_use);
        let text = "Fix the overflow".to_owned();
        let prompt = Content::UserMessage { text, images: Vec::new(), ran: None, typed: None };
        seat.fact(1, ended(1, prompt));
        let usage = Usage { input: 1200, ..Usage::default() };
        let report = UsageReported { turn: turn(), model: "m".to_owned(), usage, step: None, cost: None };
        seat.fact(1, Fact::UsageReported(report));
        seat.end_turn();
        seat.console.farewell_rows().iter().map(StyledLine::text).collect::<Vec<_>>().join("\n")
    };
    let (own, read) = (left(None), left(Some("in use".to_owned())));
    assert!(own.contains("  Fix the overflow\n") && own.contains("1.2k in"), "{own}");
    assert!(read.contains("Fix the overflow") && !read.contains("1.2k"), "{read}");
}

#[test]
fn a_reader_is_offered_no_key_that_does_nothing_there() {
    let mut seat = reading();
    seat.fact(1, started(2, Content::ToolCall(Box::new(call(ToolKind::Execute, "make all")))));
    seat.wait(20_000);
    seat.console.columns = 100;
    seat.take(ConsoleInput::Tick);
    let rows: Vec<String> = seat.console.frame(30).rows.iter().map(StyledLine::text).collect();
    let shown = rows.join("\n");
    assert!(shown.contains("You read along") && shown.contains("make all"), "{shown}");
    assert!(!shown.contains("Steer") && !shown.contains("ctrl+b"), "{shown}");
}
