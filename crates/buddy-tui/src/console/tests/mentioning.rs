//! Paths after `@`.

use super::*;

fn seat() -> Seat {
    let mut seat = Seat::new();
    seat.end_turn();
    let paths = ["a/shot.png", "shot.png", "shot.png.bak", "src/main.rs"].map(str::to_owned).to_vec();
    seat.take(ConsoleInput::Reply(EffectReply::Paths(paths)));
    seat
}

fn sent(effects: &[ConsoleEffect]) -> Vec<&Command> {
    let sent = effects.iter().filter_map(|effect| match effect {
        ConsoleEffect::Send(_, command) => Some(command),
        _ => None,
    });
    sent.collect()
}

#[test]
fn enter_after_a_whole_path_sends() {
    for (line, prompt) in
        [("describe @shot.png", "describe @shot.png"), ("explain @src/main.rs", "explain src/main.rs")]
    {
        let mut seat = seat();
        seat.write(line);
        assert!(is_shown(&seat, "enter send"), "{line}");
        assert_eq!(sent(&seat.press("enter")), [&Command::prompt(prompt)]);
    }
}

#[test]
fn enter_after_a_part_of_a_path_inserts_it() {
    let mut seat = seat();
    seat.write("explain @main");
    assert!(is_shown(&seat, "enter insert"));
    assert_eq!(sent(&seat.press("enter")), [] as [&Command; 0]);
    assert_eq!(seat.draft(), "explain src/main.rs ");
}

#[test]
fn enter_inserts_the_path_that_the_user_went_to() {
    let mut seat = seat();
    seat.write("describe @shot.png");
    seat.press("down");
    assert_eq!(sent(&seat.press("enter")), [] as [&Command; 0]);
    assert_ne!(seat.draft(), "describe @shot.png ");
}
