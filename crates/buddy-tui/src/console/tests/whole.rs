//! One key allows nothing that was not on the screen, in a window of any size.

use std::collections::BTreeSet;
use std::num::NonZero;

use proptest::prelude::*;

use super::*;

/// A seat at a terminal of some size, with everything that was ever on it.
struct Watched {
    seat: Seat,
    terminal: vt100::Parser,
    words: BTreeSet<String>,
}

impl Watched {
    fn new(columns: u16, height: u16, asked: Fact) -> Self {
        let sized = |number: u16| NonZero::new(number).unwrap();
        let mut terminal = vt100::Parser::new(sized(height), sized(columns), 0);
        terminal.process(b"\x1b[?7l");
        let mut seat = Seat::new();
        seat.console.columns = columns.into();
        seat.painter = ScreenPainter::new(TerminalLook::plain(), columns.into(), height.into());
        let mut watched = Self { seat, terminal, words: BTreeSet::new() };
        watched.take(ConsoleInput::Event(session(1), Arc::new(event(asked))));
        watched
    }

    fn take(&mut self, input: ConsoleInput) -> Vec<ConsoleEffect> {
        let effects = self.seat.console.handle(input, self.seat.now);
        self.paint();
        effects
    }

    fn paint(&mut self) {
        let height = self.seat.painter.height();
        self.seat.console.height = height;
        let frame = self.seat.console.frame(height);
        let bytes = self.seat.painter.paint(&[], frame);
        self.terminal.process(bytes.as_bytes());
        self.seat.console.note_painted(self.seat.painter.question());
        let columns = self.terminal.screen().size().1.get();
        for row in self.terminal.screen().rows(0, columns) {
            self.words.extend(row.split_whitespace().map(|word| word.replace('⏎', "")));
        }
    }

    /// Presses a key long after the last one, and tells what it allows.
    fn press(&mut self, key: &str) -> Option<Answer> {
        self.seat.wait(1_500);
        let mut effects = self.take(ConsoleInput::Key(EditorKey::named(key).unwrap()));
        self.seat.wait(200);
        effects.extend(self.take(ConsoleInput::Tick));
        effects.into_iter().find_map(|effect| match effect {
            ConsoleEffect::Send(_, Command::Answer { answer, .. }) if answer.allows() => Some(answer),
            _ => None,
        })
    }
}

fn event(fact: Fact) -> Event {
    Event { session: session(1), seq: Some(3), time: UnixMillis(0), by: None, fact }
}

/// Words that are told apart on a screen, some of them on lines of their own.
fn words(count: usize, start: char) -> Vec<String> {
    (0..count).map(|number| format!("{start}{number:03}")).collect()
}

/// A question about a command, or about writes with their diffs, of so many words.
fn asked_about(count: usize, per_line: usize, is_batch: bool) -> (Fact, Vec<String>) {
    let all = words(count, 'w');
    // Lines of a diff are broken within words.
    let per_line = if is_batch { 1 } else { per_line };
    let lines: Vec<String> = all.chunks(per_line).map(|words| words.join(" ")).collect();
    let Fact::Asked(Asked { ask }) = asked(&lines.join("\n")) else { unreachable!() };
    let Question::Approval(approval) = ask.question.clone() else { unreachable!() };
    if !is_batch {
        return (Fact::Asked(Asked { ask }), all);
    }
    let diff = Some(format!("--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n+{}\n", lines.join("\n+")));
    let write = Approval { action: "write /w/a".to_owned(), diff, ..approval };
    let other = Approval { action: "write zlast".to_owned(), diff: None, ..write.clone() };
    let question = Question::Batch { approvals: vec![write, other] };
    let all = all.into_iter().chain(["zlast".to_owned()]).collect();
    (Fact::Asked(Asked { ask: Ask { question, ..ask } }), all)
}

/// Whether a word was on the screen; one of a diff has a sign before it.
fn is_seen(watched: &Watched, word: &str) -> bool {
    watched.words.contains(word) || watched.words.contains(&format!("+{word}"))
}

fn keys() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "y", "y", "y", "1", "a", "e", "enter", "?", "up", "down", "pageup", "pagedown", "esc",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_allowed_before_every_row_of_it_was_painted(
        count in 1_usize..120,
        per_line in 1_usize..9,
        columns in 14_u16..100,
        height in 1_u16..30,
        is_batch: bool,
        keys in prop::collection::vec(keys(), 1..40),
    ) {
        let (fact, words) = asked_about(count, per_line, is_batch);
        let mut watched = Watched::new(columns, height, fact);
        for key in &keys {
            let allowed = watched.press(key);
            if let Some(answer) = allowed {
                let missing: Vec<&String> = words.iter().filter(|word| !is_seen(&watched, word)).collect();
                prop_assert!(missing.is_empty(), "{answer:?} without {missing:?}");
                break;
            }
        }
    }

    /// In a window that has room for a row of the question, the same key leads to its end.
    #[test]
    fn one_key_pages_to_the_end_and_then_allows(
        count in 1_usize..120,
        per_line in 1_usize..9,
        columns in 14_u16..100,
        height in 4_u16..30,
        is_batch: bool,
    ) {
        let (fact, _) = asked_about(count, per_line, is_batch);
        let mut watched = Watched::new(columns, height, fact);
        prop_assert!((0..400).any(|_| watched.press("y").is_some()));
    }

    /// A window that changes its size starts the count anew.
    #[test]
    fn a_window_that_changes_its_size_hides_nothing(
        count in 1_usize..80,
        sizes in prop::collection::vec((14_u16..80, 3_u16..20), 1..12),
    ) {
        let (fact, words) = asked_about(count, 4, false);
        let mut watched = Watched::new(40, 8, fact);
        for (columns, height) in sizes {
            watched.seat.console.columns = columns.into();
            watched.seat.painter = ScreenPainter::new(TerminalLook::plain(), columns.into(), height.into());
            let sized = |number: u16| NonZero::new(number).unwrap();
            watched.terminal = vt100::Parser::new(sized(height), sized(columns), 0);
            watched.terminal.process(b"\x1b[?7l");
            watched.take(ConsoleInput::Resized);
            if watched.press("y").is_some() {
                let missing: Vec<&String> = words.iter().filter(|word| !is_seen(&watched, word)).collect();
                prop_assert!(missing.is_empty(), "{missing:?}");
                break;
            }
        }
    }
}

#[test]
fn a_key_that_is_held_down_shows_one_part_and_allows_nothing() {
    let (fact, _) = asked_about(100, 2, false);
    let mut watched = Watched::new(40, 12, fact);
    watched.seat.wait(2_000);
    let mut effects = Vec::new();
    watched.take(ConsoleInput::Key(EditorKey::named("y").unwrap()));
    watched.seat.wait(500);
    for _ in 0..400 {
        effects.extend(watched.take(ConsoleInput::Tick));
        effects.extend(watched.take(ConsoleInput::Key(EditorKey::named("y").unwrap())));
        watched.seat.wait(30);
    }
    assert!(!effects.iter().any(is_answer), "{effects:?}");
    assert!(!is_seen(&watched, "w080") || !is_seen(&watched, "w020"), "it shows one part and stops");
}

#[test]
fn a_question_with_a_word_is_allowed_by_writing_it_and_by_no_key() {
    let Fact::Asked(Asked { ask }) = asked("rm -r x") else { unreachable!() };
    let Question::Approval(approval) = ask.question.clone() else { unreachable!() };
    let question = Question::Approval(Approval { word: Some("bcdfg".to_owned()), ..approval });
    let fact = || Fact::Asked(Asked { ask: Ask { question: question.clone(), ..ask.clone() } });
    for keys in
        [vec!["y"], vec!["y", "y", "y"], vec!["y", "enter"], vec!["1", "enter", "enter"], vec!["e", "enter"]]
    {
        let mut watched = Watched::new(60, 20, fact());
        let answers: Vec<Answer> = keys.iter().filter_map(|key| watched.press(key)).collect();
        assert_eq!(answers, [], "{keys:?}");
    }
    let mut watched = Watched::new(60, 20, fact());
    assert!(!is_seen(&watched, "bcdfg"));
    watched.press("y");
    assert!(is_seen(&watched, "bcdfg"));
    let typed = ["b", "c", "d", "f", "G", "enter"].iter().find_map(|key| watched.press(key));
    assert_eq!(typed, Some(Answer::allow().with_word("bcdfg")));
    let mut watched = Watched::new(60, 20, fact());
    watched.press("e");
    let edited = ["x", "enter", "h", "enter"].iter().find_map(|key| watched.press(key));
    assert_eq!(edited, Some(Answer::edit("rm -r xx").with_word("h")), "a wrong one is for the hub to count");
    let effects = watched
        .take(ConsoleInput::Reply(EffectReply::Refused("that is not the word; 2 tries are left".to_owned())));
    let shown = watched.terminal.screen().contents();
    assert!(shown.contains("That is not the word; 2 tries are left. Type bcdfg"), "{shown}\n{effects:?}");
}
