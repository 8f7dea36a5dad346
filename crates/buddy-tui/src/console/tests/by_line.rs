//! A console that takes lines and tells in sentences.

use buddy_protocol::{Bill, SessionState, SessionSummary, Usage, UsageReported};

use super::*;
use crate::console::desk::DeskCommand;
use crate::console::line_face::LineInput;
use crate::exit::Exit;

const TERMINAL: LineInput = LineInput::Terminal { has_clipboard: false, is_in_tmux: false };

/// A conversation line by line in which a turn runs.
fn seat(input: LineInput) -> Seat {
    let mut seat = Seat::new();
    seat.console.go_by_line(input);
    seat
}

fn line(seat: &mut Seat, text: &str) -> Vec<ConsoleEffect> {
    let mut effects = seat.take(ConsoleInput::Line(text.to_owned()));
    effects.retain(|effect| !matches!(effect, ConsoleEffect::Ring(_)));
    effects
}

fn told(seat: &mut Seat) -> String {
    seat.console.take_told().join("\n")
}

fn answers(effects: &[ConsoleEffect]) -> Vec<Answer> {
    let answer = |effect: &ConsoleEffect| match effect {
        ConsoleEffect::Send(_, Command::Answer { answer, .. }) => Some(answer.clone()),
        _ => None,
    };
    effects.iter().filter_map(answer).collect()
}

/// The same question under another id.
fn asked_again(number: u32, action: &str) -> Fact {
    let Fact::Asked(Asked { ask }) = asked(action) else { unreachable!() };
    let id = format!("ask_{number:026}").parse().unwrap();
    Fact::Asked(Asked { ask: Ask { id, ..ask } })
}

#[test]
fn a_yes_counts_only_after_the_question_could_be_read() {
    let mut seat = seat(TERMINAL);
    seat.fact(1, asked("mkdir a"));
    assert!(seat.console.take_question().unwrap().ends_with("$ mkdir a -- approve? [y/n] "));
    seat.wait(100);
    assert_eq!(line(&mut seat, "y"), []);
    assert!(told(&mut seat).contains("You typed that before the question appeared"));
    assert!(seat.console.take_question().is_some(), "it is put again");
    seat.wait(100);
    assert_eq!(answers(&line(&mut seat, "y")), [Answer::allow()]);
    let mut piped = self::seat(LineInput::Pipe);
    piped.fact(1, asked("mkdir a"));
    assert_eq!(answers(&line(&mut piped, "y")), [Answer::allow()], "a program needs no time to read");
}

#[test]
fn a_question_higher_than_the_window_is_allowed_after_its_last_part() {
    let mut seat = seat(TERMINAL);
    let rows: Vec<String> = (0..60).map(|number| format!("echo {number}")).collect();
    seat.fact(1, asked(&rows.join("\n")));
    let first = seat.console.take_question().unwrap();
    assert!(first.contains("part 1 of 2: y shows the next") && !first.contains("echo 59"), "{first}");
    seat.wait(200);
    assert_eq!(line(&mut seat, "y"), []);
    assert!(seat.console.take_question().unwrap().contains("echo 59"));
    seat.wait(200);
    assert_eq!(answers(&line(&mut seat, "y")), [Answer::allow()]);
}

#[test]
fn a_refused_answer_leaves_the_question_open() {
    let mut seat = seat(LineInput::Pipe);
    seat.fact(1, asked("mkdir a"));
    seat.console.take_question();
    line(&mut seat, "n");
    assert!(!seat.console.takes_lines(), "the answer is not seen yet");
    seat.take(ConsoleInput::Reply(EffectReply::Refused("in use".to_owned())));
    assert_eq!(told(&mut seat), "buddy: in use");
    assert!(seat.console.take_question().is_some() && seat.console.takes_lines());
    assert_eq!(answers(&line(&mut seat, "n")), [Answer::Deny { reason: None }]);
    seat.fact(1, Fact::Answered(Answered { ask: ask_id(), answer: Answer::Deny { reason: None } }));
    assert!(seat.console.takes_lines() && seat.console.question().is_none());
}

#[test]
fn deny_all_denies_what_the_same_answer_of_the_model_still_brings_up() {
    let mut seat = seat(LineInput::Pipe);
    seat.fact(1, asked("mkdir a"));
    seat.fact(1, asked_again(2, "mkdir b"));
    let denied = answers(&line(&mut seat, "deny all"));
    assert_eq!(denied.len(), 2);
    assert!(denied.iter().all(|answer| matches!(answer, Answer::Deny { reason: Some(_) })), "{denied:?}");
    assert_eq!(answers(&seat.fact(1, asked_again(3, "mkdir c"))).len(), 1);
    assert!(seat.console.question().is_none());
    let usage = UsageReported {
        turn: turn(),
        model: "m".to_owned(),
        usage: Usage::default(),
        step: None,
        cost: None,
    };
    seat.fact(1, Fact::UsageReported(usage));
    assert_eq!(answers(&seat.fact(1, asked_again(4, "mkdir d"))), [], "the model has answered anew");
}

#[test]
fn after_the_end_of_the_input_nobody_answers_and_the_turn_is_seen_through() {
    let mut seat = seat(LineInput::Pipe);
    assert_eq!(seat.take(ConsoleInput::InputEnded), []);
    let asked = seat.fact(1, asked("mkdir a"));
    assert!(matches!(&answers(&asked)[..], [Answer::Unanswered { .. }]), "{asked:?}");
    assert!(seat.end_turn().contains(&ConsoleEffect::Quit(Exit::Ok)));
}

#[test]
fn the_work_of_another_process_is_not_waited_for() {
    let mut seat = seat(LineInput::Pipe);
    seat.console.note_in_use(Some("in use".to_owned()));
    seat.fact(1, asked("mkdir a"));
    assert_eq!(seat.take(ConsoleInput::InputEnded), [ConsoleEffect::Quit(Exit::Ok)]);
}

#[test]
fn an_interrupt_stops_the_turn_and_drops_what_waits_for_its_end() {
    let mut seat = seat(TERMINAL);
    assert_eq!(line(&mut seat, "/undo"), []);
    assert!(told(&mut seat).contains("Ctrl-C interrupts the turn"));
    let interrupt = ConsoleEffect::Send(session(1), Command::Interrupt { turn: Some(turn()) });
    assert_eq!(seat.take(ConsoleInput::Interrupt), [interrupt]);
    assert_eq!(told(&mut seat), "The lines that you queued were dropped.");
    seat.end_turn();
    assert_eq!(seat.take(ConsoleInput::Interrupt), []);
    assert_eq!(told(&mut seat), "Press ctrl-c again to leave.");
    assert_eq!(seat.take(ConsoleInput::Interrupt), [ConsoleEffect::Quit(Exit::Ok)]);
    let mut piped = self::seat(LineInput::Pipe);
    piped.end_turn();
    assert_eq!(piped.take(ConsoleInput::Interrupt), [ConsoleEffect::Quit(Exit::Interrupted)]);
}

#[test]
fn lines_that_wait_are_entered_when_the_turn_has_ended() {
    let mut seat = seat(LineInput::Pipe);
    line(&mut seat, "/undo");
    let effects = seat.end_turn();
    assert!(effects.contains(&ConsoleEffect::Errand(Errand::Run(DeskCommand::Undo(None)))), "{effects:?}");
    assert!(told(&mut seat).ends_with("Undoing…"));
}

#[test]
fn a_conversation_that_is_taken_up_is_told_without_its_answered_questions() {
    let said = Content::UserMessage { text: "make a".to_owned(), images: Vec::new(), ran: None, typed: None };
    let answered = Answered { ask: ask_id(), answer: Answer::Deny { reason: None } };
    let past = [
        begun(),
        Fact::TurnStarted(TurnStarted { turn: turn() }),
        ended(1, said),
        asked("mkdir a"),
        Fact::Answered(answered),
        ended(2, message("It was denied.")),
        Fact::TurnEnded(TurnEnded {
            turn: turn(),
            outcome: TurnOutcome::Completed,
            stop_reason: None,
            failure: None,
        }),
    ];
    for input in [TERMINAL, LineInput::Pipe] {
        let mut seat = seat(input);
        seat.end_turn();
        let head = past.len() as u64;
        seat.take(ConsoleInput::Reply(EffectReply::Opened { session: session(2), head, in_use: None }));
        told(&mut seat);
        seat.seq = 0;
        for fact in past.clone() {
            let effects = seat.fact(2, fact);
            assert!(seat.console.take_question().is_none() && seat.console.question().is_none());
            assert!(!effects.iter().any(|effect| matches!(effect, ConsoleEffect::Ring(_))), "{effects:?}");
        }
        let shown = told(&mut seat);
        assert_eq!(shown, "You: make a\nIt was denied.");
        let sent = line(&mut seat, "y");
        assert!(matches!(&sent[..], [ConsoleEffect::Send(_, Command::Prompt { .. })]), "{sent:?}");
    }
}

#[test]
fn a_question_that_still_waits_is_put_after_the_past() {
    let mut seat = seat(TERMINAL);
    seat.end_turn();
    seat.take(ConsoleInput::Reply(EffectReply::Opened { session: session(2), head: 4, in_use: None }));
    seat.seq = 0;
    for fact in [begun(), Fact::TurnStarted(TurnStarted { turn: turn() }), ended(1, message("So."))] {
        seat.fact(2, fact);
    }
    seat.fact(2, asked("mkdir a"));
    assert!(seat.console.take_question().is_some());
}

#[test]
fn a_long_past_names_the_command_that_prints_all_of_it() {
    let mut seat = seat(TERMINAL);
    seat.end_turn();
    seat.take(ConsoleInput::Reply(EffectReply::Opened { session: session(2), head: 21, in_use: None }));
    told(&mut seat);
    seat.seq = 0;
    seat.fact(2, begun());
    for number in 1..=20 {
        seat.fact(2, ended(number, message(&format!("Part {number}."))));
    }
    let shown = told(&mut seat);
    assert!(
        shown.starts_with(&format!("8 items earlier: `buddy show {}` prints them\n", session(2))),
        "{shown}"
    );
    assert!(shown.contains("Part 9.") && !shown.contains("Part 8."), "{shown}");
}

#[test]
fn sessions_are_listed_with_numbers_that_resume_takes() {
    let summary = |number: u32| SessionSummary {
        id: session(number),
        owner: Principal::person("ann"),
        agent: "buddy".to_owned(),
        cwd: "/w".to_owned(),
        model: None,
        parent: None,
        forked_from: None,
        title: Some("Fix the overflow in the parser of dates, and say why it was there ".repeat(3)),
        state: SessionState::Idle,
        created: UnixMillis(0),
        updated: UnixMillis(0),
        head: 1,
        turns: 1,
        bill: Bill::default(),
        asks: Vec::new(),
    };
    let mut seat = seat(TERMINAL);
    seat.console.columns = 100;
    seat.end_turn();
    line(&mut seat, "/resume 2");
    assert!(told(&mut seat).contains("There is no session 2 in a list. /resume prints it."));
    let sessions = vec![summary(7), summary(8)];
    seat.take(ConsoleInput::Reply(EffectReply::Sessions { sessions, now: UnixMillis(1) }));
    let list = told(&mut seat);
    let rows: Vec<&str> = list.lines().collect();
    assert!(rows.len() == 4 && rows[1].trim_start().starts_with("1  "), "{list}");
    assert!(
        rows[2].trim_start().starts_with("2  ") && rows.iter().all(|row| row.chars().count() <= 100),
        "{list}"
    );
    assert_eq!(line(&mut seat, "/resume 2"), [ConsoleEffect::Errand(Errand::Open(session(8)))]);
    assert_eq!(line(&mut seat, "/resume 3"), []);
    let mut screen = Seat::new();
    screen.write("/resume 4");
    assert!(
        !screen.press("enter").iter().any(|effect| matches!(effect, ConsoleEffect::Errand(Errand::Open(_))))
    );
    assert!(screen.rows().join(" ").contains("/resume lets you pick"));
}

#[test]
fn a_list_is_told_where_a_screen_lets_you_pick() {
    let mut seat = seat(LineInput::Pipe);
    seat.end_turn();
    line(&mut seat, "/approve");
    assert!(told(&mut seat).starts_with("approvals: ask; use /approve auto"));
    line(&mut seat, "/rewind");
    assert_eq!(told(&mut seat), "There is no prompt yet.");
    line(&mut seat, "/theme");
    assert!(told(&mut seat).contains("/theme needs a full-screen conversation"));
    assert!(seat.console.picker.is_none());
}
