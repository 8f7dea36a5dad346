//! Notifications and the title of the window: for a user who looks elsewhere, and none for one who looks here.

use super::*;
use crate::console::effect::Focus;

fn rung(effects: Vec<ConsoleEffect>) -> Vec<String> {
    let text = |effect| match effect {
        ConsoleEffect::Ring(text) => Some(text),
        _ => None,
    };
    effects.into_iter().filter_map(text).collect()
}

/// The notifications of a question and of the end of a long turn, in a terminal that said this of its focus.
fn notifications(focus: Option<Focus>) -> (Vec<String>, Vec<String>, &'static str) {
    let mut seat = Seat::new();
    if let Some(focus) = focus {
        seat.take(ConsoleInput::Focus(focus));
    }
    assert_eq!(seat.console.title(), "● buddy works");
    let asked = rung(seat.fact(1, asked("mkdir a")));
    assert_eq!(seat.console.title(), "▲ buddy waits");
    seat.wait(2_000);
    seat.press("y");
    seat.fact(1, Fact::Answered(Answered { ask: ask_id(), answer: Answer::allow() }));
    seat.wait(60_000);
    let done = rung(seat.end_turn());
    (asked, done, seat.console.title())
}

#[test]
fn a_terminal_that_is_looked_at_is_silent() {
    assert_eq!(notifications(Some(Focus::Here)), (vec![], vec![], "buddy"));
}

#[test]
fn a_terminal_that_is_not_looked_at_says_that_buddy_waits_and_is_done() {
    let waits = vec!["buddy waits for your answer".to_owned()];
    let done = vec!["buddy is done".to_owned()];
    assert_eq!(notifications(Some(Focus::Elsewhere)), (waits, done, "✓ buddy is done"));
}

#[test]
fn a_terminal_that_does_not_say_whether_it_is_looked_at_is_rung_for_questions() {
    let (asked, ..) = notifications(None);
    assert_eq!(asked, ["buddy waits for your answer"]);
}

#[test]
fn the_title_of_a_turn_that_ended_unseen_is_gone_once_it_is_seen() {
    let mut seat = Seat::new();
    seat.take(ConsoleInput::Focus(Focus::Elsewhere));
    seat.end_turn();
    assert_eq!(seat.console.title(), "✓ buddy is done");
    seat.take(ConsoleInput::Focus(Focus::Here));
    assert_eq!(seat.console.title(), "buddy");
}
