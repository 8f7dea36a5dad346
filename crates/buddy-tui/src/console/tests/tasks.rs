//! Tasks beside the conversation, and what is said of the turn that runs.

use buddy_protocol::{PlanStep, PlanStepState};

use super::*;
use crate::console::branch::{Branched, Purpose};

fn plan(number: u32, state: PlanStepState) -> Fact {
    let step = PlanStep { text: "Paint the boat".to_owned(), state };
    ended(number, Content::Plan { steps: vec![step] })
}

#[test]
fn a_prompt_that_waits_for_a_killed_task_is_dropped_and_told() {
    let mut seat = Seat::new();
    seat.write("go on");
    seat.press("tab");
    seat.press("ctrl-b");
    let (purpose, changes) = (Purpose::Background, None);
    let branched = Branched { session: session(2), head: 0, left: session(1), purpose, changes };
    seat.take(ConsoleInput::Reply(EffectReply::Forked(branched)));
    seat.rows();
    seat.write("/kill 1");
    let effects = seat.press("enter");
    assert!(
        effects.contains(&ConsoleEffect::Send(session(1), Command::Interrupt { turn: Some(turn()) })),
        "{effects:?}"
    );
    let rows = seat.rows();
    assert!(rows.iter().any(|row| row.contains("waited for task 1 was not sent: go on")), "{rows:?}");
    let effects = seat.end_turn();
    let is_prompt = |effect: &ConsoleEffect| matches!(effect, ConsoleEffect::Send(_, Command::Prompt { .. }));
    assert!(
        !effects.iter().any(is_prompt) && effects.contains(&ConsoleEffect::Leave(session(1))),
        "{effects:?}"
    );
}

#[test]
fn the_step_of_a_plan_is_told_only_while_its_turn_carries_it_out() {
    let mut seat = Seat::new();
    seat.fact(1, plan(1, PlanStepState::Active));
    assert!(seat.console.activity().unwrap().0 == "Paint the boat");
    seat.fact(1, plan(2, PlanStepState::Done));
    assert_ne!(seat.console.activity().unwrap().0, "Paint the boat");
    seat.fact(1, plan(3, PlanStepState::Active));
    seat.end_turn();
    let next: TurnId = "trn_00000000000000000000000002".parse().unwrap();
    seat.fact(1, Fact::TurnStarted(TurnStarted { turn: next }));
    assert_ne!(seat.console.activity().unwrap().0, "Paint the boat");
}

#[test]
fn a_plan_that_was_hidden_does_not_come_back_when_it_is_done() {
    let mut seat = Seat::new();
    seat.fact(1, plan(1, PlanStepState::Active));
    assert!(is_shown(&seat, "Plan  0 of 1"));
    seat.press("ctrl-t");
    assert!(!is_shown(&seat, "Plan  0 of 1"));
    seat.fact(1, plan(2, PlanStepState::Done));
    assert!(!is_shown(&seat, "Plan  1 of 1"), "it is in the rows that are finished");
    assert!(seat.rows().iter().any(|row| row.contains("Plan  1 of 1")));
}
