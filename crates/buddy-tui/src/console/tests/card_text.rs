//! Words that are typed while a question is open.

use super::*;

/// Types a text at the question, a key every 180 ms, and tells what was sent.
fn typed_at(question: Fact, text: &str) -> (Seat, Vec<ConsoleEffect>) {
    let mut seat = Seat::new();
    seat.fact(1, question);
    seat.wait(2000);
    let mut effects = Vec::new();
    for letter in text.chars() {
        effects.extend(seat.touch(letter.encode_utf8(&mut [0; 4])));
        for _ in 0..3 {
            seat.wait(60);
            effects.extend(seat.take(ConsoleInput::Tick));
        }
    }
    (seat, effects)
}

#[test]
fn words_that_are_typed_at_a_question_answer_nothing_and_are_sent_whole() {
    for question in [asked("mkdir a"), offering(None)] {
        for text in ["commit the dependencies", "and the changelog", "explain it", "yes please", "/allowed"] {
            let (mut seat, mut effects) = typed_at(question.clone(), text);
            assert!(!effects.iter().any(is_answer), "{text}: {effects:?}");
            assert_eq!(seat.draft(), text);
            assert!(is_shown(&seat, &format!("› {text}")), "{text} is shown");
            effects = seat.touch("enter");
            assert!(!effects.iter().any(is_answer), "{text}: {effects:?}");
            assert_eq!(seat.draft(), "", "{text} is sent");
            if !text.starts_with('/') {
                assert_eq!(effects.last(), Some(&ConsoleEffect::Send(session(1), Command::prompt(text))));
            }
            assert!(seat.press("y").iter().any(is_answer), "the question stays");
        }
    }
}

#[test]
fn escape_leads_from_the_text_back_to_the_question() {
    let (mut seat, _) = typed_at(asked("mkdir a"), "maybe");
    assert_eq!(seat.touch("esc"), []);
    assert_eq!(seat.draft(), "maybe");
    assert!(seat.press("y").iter().any(is_answer));
    assert_eq!(seat.draft(), "maybe", "nothing that was typed is lost");
}

#[test]
fn a_key_that_stands_alone_answers_after_a_moment_and_is_marked_meanwhile() {
    let mut seat = Seat::new();
    seat.fact(1, offering(None));
    seat.wait(2000);
    assert_eq!(seat.touch("a"), [], "a letter may follow");
    assert!(seat.console.frame(30).rows.iter().any(|row| row.text().trim_end().ends_with('✓')));
    assert!(seat.console.wakes_at().is_some_and(|at| at <= seat.now + Duration::from_millis(250)));
    seat.wait(250);
    assert!(seat.take(ConsoleInput::Tick).iter().any(|effect| granted(effect).is_some()));
}
