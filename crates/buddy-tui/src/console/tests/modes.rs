//! The key that goes through the approval modes.

use super::*;
use buddy_protocol::Change;

const MODE_KEY: &str = "shift-tab";

/// Performs the changes of a session that these effects want.
fn carry_out(seat: &mut Seat, effects: Vec<ConsoleEffect>) {
    for effect in effects {
        if let ConsoleEffect::Send(_, Command::Change(Change { approvals, plan_only, .. })) = effect {
            seat.fact(
                1,
                Fact::SessionChanged(SessionChanged { approvals, plan_only, ..SessionChanged::default() }),
            );
        }
    }
}

fn press_mode_key(seat: &mut Seat, times: usize) {
    for _ in 0..times {
        let effects = seat.press(MODE_KEY);
        carry_out(seat, effects);
    }
}

fn enter(seat: &mut Seat, line: &str) {
    seat.write(line);
    let effects = seat.press("enter");
    carry_out(seat, effects);
}

/// A quiet conversation that buddy began in `auto`.
fn idle() -> Seat {
    let mut seat = Seat::new();
    seat.end_turn();
    seat.console.begin_with(ApprovalPolicy::Auto);
    seat
}

/// Begins a plan with the key from this mode. Returns the mode after it.
fn after_plan(from: &str, presses: usize) -> ApprovalPolicy {
    let mut seat = idle();
    enter(&mut seat, &format!("/approve {from}"));
    press_mode_key(&mut seat, presses);
    assert!(seat.console.front().reader.transcript().is_plan_only(), "{from}");
    enter(&mut seat, "/plan off");
    seat.console.approvals()
}

#[test]
fn a_plan_that_the_key_began_goes_on_in_the_mode_before_it() {
    assert_eq!(after_plan("ask", 2), ApprovalPolicy::Ask);
    assert_eq!(after_plan("edits", 1), ApprovalPolicy::Edits);
    assert_eq!(after_plan("auto", 3), ApprovalPolicy::Auto);
    assert_eq!(after_plan("none", 3), ApprovalPolicy::None);
    assert_eq!(after_plan("10m", 3), ApprovalPolicy::Ask, "a time does not begin anew");
}

#[test]
fn a_mode_in_which_something_was_entered_was_meant() {
    let mut seat = idle();
    press_mode_key(&mut seat, 1);
    enter(&mut seat, "hello");
    press_mode_key(&mut seat, 2);
    enter(&mut seat, "/plan off");
    assert_eq!(seat.console.approvals(), ApprovalPolicy::Ask);
}

#[test]
fn the_end_of_plan_mode_names_the_mode_that_holds() {
    let mut seat = idle();
    enter(&mut seat, "/approve ask");
    press_mode_key(&mut seat, 2);
    seat.rows();
    enter(&mut seat, "/plan off");
    let told = seat.rows().join("\n");
    assert!(told.contains("Plan mode is off. Approvals: ask"), "{told}");
}
