//! While an undo restores files, nothing starts that could change them.

use super::*;
use crate::console::desk::DeskCommand;

fn seat() -> Seat {
    let mut seat = Seat::new();
    seat.end_turn();
    seat
}

fn enter(seat: &mut Seat, line: &str) -> Vec<ConsoleEffect> {
    let mut effects = seat.take(ConsoleInput::Paste(line.to_owned()));
    effects.extend(seat.press("enter"));
    effects.retain(|effect| !matches!(effect, ConsoleEffect::Remember(_)));
    effects
}

#[test]
fn lines_that_could_change_files_wait_for_the_end_of_an_undo() {
    let mut seat = seat();
    assert_eq!(enter(&mut seat, "/undo"), [ConsoleEffect::Errand(Errand::Run(DeskCommand::Undo(None)))]);
    assert!(is_shown(&seat, "Undoing…"));
    for line in ["go on", "!touch x", "another &", "/redo", "/undo", "/new"] {
        assert_eq!(enter(&mut seat, line), [], "{line}");
    }
    assert!(is_shown(&seat, "go on"));
    let ended = seat.take(ConsoleInput::Reply(EffectReply::Undone(Ok("1 path restored".to_owned()))));
    assert_eq!(
        ended,
        [
            ConsoleEffect::Errand(Errand::LookAround),
            ConsoleEffect::Send(session(1), Command::prompt("go on"))
        ],
        "the first line starts a turn"
    );
    assert!(!is_shown(&seat, "Undoing…"));
    assert!(seat.rows().iter().any(|row| row.contains("1 path restored")));
    let left: Vec<&String> = seat.console.front().queue.iter().collect();
    assert_eq!(left, ["!touch x", "another &", "/redo", "/undo", "/new"]);
}

#[test]
fn keys_and_commands_that_change_no_file_go_on_during_an_undo() {
    let mut seat = seat();
    enter(&mut seat, "/undo");
    assert_eq!(enter(&mut seat, "/diff"), [ConsoleEffect::Errand(Errand::Run(DeskCommand::Diff))]);
    enter(&mut seat, "/help");
    assert!(seat.rows().iter().any(|row| row.contains("/undo")));
    enter(&mut seat, "go on");
    seat.press("esc");
    assert_eq!(seat.draft(), "go on", "esc brings a line back that waits");
    let ended = seat.take(ConsoleInput::Reply(EffectReply::Undone(Err("it broke off".to_owned()))));
    assert_eq!(ended, [ConsoleEffect::Errand(Errand::LookAround)]);
    assert!(seat.rows().iter().any(|row| row.contains("it broke off")));
}

#[test]
fn an_undo_that_waited_makes_the_lines_behind_it_wait() {
    let mut seat = Seat::new();
    enter(&mut seat, "/undo");
    seat.write("go on");
    seat.press("tab");
    let effects = seat.end_turn();
    assert!(effects.contains(&ConsoleEffect::Errand(Errand::Run(DeskCommand::Undo(None)))), "{effects:?}");
    assert!(!effects.iter().any(|effect| matches!(effect, ConsoleEffect::Send(..))), "{effects:?}");
    let ended = seat.take(ConsoleInput::Reply(EffectReply::Undone(Ok(String::new()))));
    assert_eq!(
        ended,
        [
            ConsoleEffect::Errand(Errand::LookAround),
            ConsoleEffect::Send(session(1), Command::prompt("go on"))
        ]
    );
}
