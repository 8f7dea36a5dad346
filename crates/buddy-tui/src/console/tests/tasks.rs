//! Tasks beside the conversation, and what is said of the turn that runs.

use buddy_protocol::{Introduction, PlanStep, PlanStepState, Usage, UsageReported};

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

/// The conversation goes on in a copy: with or without the turn that runs.
fn go_on_in_copy(seat: &mut Seat, purpose: Purpose) {
    let branched = Branched { session: session(2), head: 0, left: session(1), purpose, changes: None };
    seat.take(ConsoleInput::Reply(EffectReply::Forked(branched)));
}

#[test]
fn a_prompt_that_goes_with_a_task_is_told_and_stands_above_its_answer() {
    for purpose in [Purpose::Background, Purpose::Copy] {
        let mut seat = Seat::new();
        seat.write("and then that");
        seat.press("tab");
        go_on_in_copy(&mut seat, purpose);
        let told = seat.rows().join(" ");
        assert!(told.contains("This prompt waits for task 1 and goes to it: and then that"), "{told}");
        seat.fact(1, ended(1, message("The first answer.")));
        let effects = seat.end_turn();
        let next = ConsoleEffect::Send(session(1), Command::prompt("and then that"));
        assert!(effects.contains(&next), "{effects:?}");
        let told = seat.rows().join(" ");
        assert!(told.contains("The first answer."), "{told}");
        let next: TurnId = "trn_00000000000000000000000002".parse().unwrap();
        let prompt = Content::UserMessage {
            text: "and then that".to_owned(),
            images: Vec::new(),
            ran: None,
            typed: None,
        };
        let later = |number: u32, content: Content| {
            let Fact::ItemEnded(ItemEnded { item }) = ended(number, content) else { unreachable!() };
            Fact::ItemEnded(ItemEnded { item: Item { turn: Some(next.clone()), ..item } })
        };
        seat.fact(1, Fact::TurnStarted(TurnStarted { turn: next.clone() }));
        seat.fact(1, later(2, prompt));
        seat.fact(1, later(3, message("The second answer.")));
        seat.fact(
            1,
            Fact::TurnEnded(TurnEnded {
                turn: next.clone(),
                outcome: TurnOutcome::Completed,
                stop_reason: None,
                failure: None,
            }),
        );
        let told = seat.rows();
        let head = told.iter().position(|row| row.contains("task 1 done: and then that"));
        let answer = told.iter().position(|row| row.contains("The second answer."));
        assert!(head.is_some() && head < answer, "{told:?}");
        assert!(told.last().unwrap().contains("/resume ses_"), "{told:?}");
    }
}

#[test]
fn a_copy_knows_its_tools_and_context_from_the_original() {
    let introduction = Introduction {
        version: "1".to_owned(),
        model: None,
        mode: "development".to_owned(),
        approvals: ApprovalPolicy::Ask,
        tools: vec!["read_file".to_owned()],
    };
    let Fact::SessionStarted(started) = begun() else { unreachable!() };
    for purpose in [Purpose::Background, Purpose::Copy] {
        let mut seat = Seat::new();
        seat.console = Console::new(session(1), TerminalLook::plain(), 60, Vec::new(), seat.now);
        seat.seq = 0;
        seat.fact(
            1,
            Fact::SessionStarted(SessionStarted {
                began_with: Some(introduction.clone()),
                ..started.clone()
            }),
        );
        seat.fact(1, Fact::TurnStarted(TurnStarted { turn: turn() }));
        let usage = Usage { input: 1200, ..Usage::default() };
        let report = UsageReported { turn: turn(), model: "m".to_owned(), usage, step: None, cost: None };
        seat.fact(1, Fact::UsageReported(report));
        go_on_in_copy(&mut seat, purpose);
        seat.seq = 0;
        seat.fact(2, begun());
        seat.rows();
        for (line, told) in [("/status", "read_file"), ("/context", "1.2k tokens")] {
            seat.write(line);
            seat.press("enter");
            let rows = seat.rows().join("\n");
            assert!(rows.contains(told), "{line}: {rows}");
        }
    }
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
