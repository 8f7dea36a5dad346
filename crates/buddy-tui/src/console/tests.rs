//! The console without a terminal: keys and events in, effects and rows out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use buddy_protocol::{
    Answer, Approval, Ask, Asked, Command, Content, DeltaStream, Event, Fact, Item, ItemChanged, ItemDelta,
    ItemEnded, ItemId, ItemStarted, ItemStatus, Principal, Question, Risk, SessionId, SessionStarted,
    TurnEnded, TurnId, TurnOutcome, TurnStarted, UnixMillis,
};

use super::effect::{Effect, Input, Reply};
use super::state::Console;
use crate::editor::Key;
use crate::text::{Line, Look};

/// A console, and the time that passes at it.
struct Seat {
    console: Console,
    now: Instant,
    seq: u64,
}

fn session(number: u32) -> SessionId {
    format!("ses_{number:026}").parse().unwrap()
}

fn turn() -> TurnId {
    "trn_00000000000000000000000001".parse().unwrap()
}

fn item(number: u32, status: ItemStatus, content: Content) -> Item {
    let id = format!("itm_{number:026}").parse().unwrap();
    Item { id, turn: Some(turn()), step: None, place: None, parent: None, status, content, private: None }
}

fn message(text: &str) -> Content {
    Content::AgentMessage { text: text.to_owned() }
}

fn thought(text: &str) -> Content {
    Content::Reasoning { text: text.to_owned() }
}

fn started(number: u32, content: Content) -> Fact {
    Fact::ItemStarted(ItemStarted { item: item(number, ItemStatus::Running, content) })
}

fn ended(number: u32, content: Content) -> Fact {
    Fact::ItemEnded(ItemEnded { item: item(number, ItemStatus::Completed, content) })
}

fn delta(number: u32, text: &str) -> Fact {
    let id: ItemId = format!("itm_{number:026}").parse().unwrap();
    Fact::ItemDelta(ItemDelta { item: id, stream: DeltaStream::Text, text: text.to_owned() })
}

fn asked(action: &str) -> Fact {
    let approval = Approval {
        item: None,
        actor: "buddy".to_owned(),
        place: "ann@atlas".to_owned(),
        target: None,
        cwd: "/w".to_owned(),
        action: action.to_owned(),
        why: None,
        risk: Risk::Medium,
        reasons: Vec::new(),
        parts: Vec::new(),
        diff: None,
        is_editable: true,
        offers: Vec::new(),
    };
    let id = "ask_00000000000000000000000001".parse().unwrap();
    let question = Question::Approval(approval);
    Fact::Asked(Asked { ask: Ask { id, turn: None, item: None, question, expires: None } })
}

impl Seat {
    /// A conversation in which a turn runs.
    fn new() -> Self {
        let now = Instant::now();
        let console = Console::new(session(1), Look::plain(), 60, Vec::new(), now);
        let mut seat = Self { console, now, seq: 0 };
        seat.fact(1, begun());
        seat.fact(1, Fact::TurnStarted(TurnStarted { turn: turn(), by: Principal::person("ann") }));
        seat
    }

    fn take(&mut self, input: Input) -> Vec<Effect> {
        self.console.handle(input, self.now)
    }

    /// Something happens in the session of this number.
    fn fact(&mut self, number: u32, fact: Fact) -> Vec<Effect> {
        let is_live = matches!(fact, Fact::ItemDelta(_));
        let seq = (!is_live).then(|| {
            self.seq += 1;
            self.seq
        });
        let event = Event { session: session(number), seq, time: UnixMillis(0), fact };
        self.take(Input::Event(session(number), Arc::new(event)))
    }

    fn wait(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
    }

    fn press(&mut self, key: &str) -> Vec<Effect> {
        self.take(Input::Key(Key::named(key).unwrap()))
    }

    fn write(&mut self, text: &str) -> Vec<Effect> {
        text.chars().flat_map(|letter| self.press(letter.encode_utf8(&mut [0; 4]))).collect()
    }

    fn end_turn(&mut self) -> Vec<Effect> {
        let ended = TurnEnded { turn: turn(), outcome: TurnOutcome::Completed, failure: None };
        self.fact(1, Fact::TurnEnded(ended))
    }

    /// What is finished since the last time.
    fn rows(&mut self) -> Vec<String> {
        self.console.take_rows().iter().map(Line::text).filter(|row| !row.is_empty()).collect()
    }

    fn draft(&self) -> &str {
        self.console.draft.shown()
    }
}

fn begun() -> Fact {
    Fact::SessionStarted(SessionStarted {
        owner: Principal::person("ann"),
        agent: "buddy".to_owned(),
        cwd: "/w".to_owned(),
        model: None,
        parent: None,
        targets: Vec::new(),
        forked_from: None,
    })
}

fn is_answer(effect: &Effect) -> bool {
    matches!(effect, Effect::Send(_, Command::Answer { .. }))
}

#[test]
fn keys_of_somebody_who_goes_on_typing_answer_nothing() {
    let mut seat = Seat::new();
    seat.write("ok");
    let mut effects = seat.fact(1, asked("mkdir a"));
    for letter in ["m", "a", "y", "d", "a", "y"] {
        seat.wait(400);
        effects.extend(seat.press(letter));
    }
    assert!(!effects.iter().any(is_answer), "{effects:?}");
    assert_eq!(seat.draft(), "okmayday");
    seat.wait(1100);
    assert!(seat.press("y").iter().any(is_answer));
    assert_eq!(seat.draft(), "okmayday");
}

#[test]
fn only_a_key_by_itself_answers() {
    let mut seat = Seat::new();
    seat.fact(1, asked("mkdir a"));
    seat.wait(1100);
    for key in ["ctrl-y", "alt-y", "alt-a", "ctrl-d", "alt-1"] {
        let effects = seat.press(key);
        assert!(!effects.iter().any(is_answer), "{key}: {effects:?}");
    }
    assert!(seat.press("y").iter().any(is_answer));
}

#[test]
fn a_paste_goes_where_words_are_written() {
    let mut seat = Seat::new();
    seat.fact(1, asked("mkdir a"));
    seat.wait(1100);
    seat.press("n");
    seat.take(Input::Paste("use old/".to_owned()));
    let effects = seat.press("enter");
    let reason = effects.iter().find_map(|effect| match effect {
        Effect::Send(_, Command::Answer { answer: Answer::Deny { reason }, .. }) => reason.clone(),
        _ => None,
    });
    assert_eq!(reason.as_deref(), Some("use old/"));
    assert_eq!(seat.draft(), "");
}

#[test]
fn an_interrupt_at_the_question_of_a_task_stops_that_task() {
    let mut seat = Seat::new();
    let prompt = "count them".to_owned();
    seat.take(Input::Reply(Reply::Begun { session: session(2), head: 0, prompt }));
    seat.seq = 0;
    seat.fact(2, begun());
    seat.fact(2, asked("mkdir a"));
    seat.wait(1100);
    let frame = seat.console.frame(20);
    assert!(frame.rows.iter().any(|row| row.text() == "task 2 asks: count them"), "{:?}", frame.rows);
    assert_eq!(seat.press("ctrl-c"), [Effect::Send(session(2), Command::Interrupt)]);
}

#[test]
fn a_thought_is_told_before_what_was_said_after_it() {
    let mut seat = Seat::new();
    let mut rows = Vec::new();
    for fact in [
        started(1, thought("")),
        delta(1, "Hm."),
        started(2, message("")),
        delta(2, "One.\n\nTwo"),
        delta(2, ".\n"),
        ended(1, thought("Hm.")),
        ended(2, message("One.\n\nTwo.\n")),
    ] {
        seat.fact(1, fact);
        seat.wait(1000);
        rows.extend(seat.rows());
    }
    assert_eq!(rows, ["✻ thought for 3s (1 line, ctrl-o shows)", "One.", "Two."]);
}

#[test]
fn what_is_said_between_thoughts_is_told_in_order() {
    let mut seat = Seat::new();
    for fact in [
        started(1, message("")),
        delta(1, "First."),
        started(2, thought("")),
        delta(2, "Hm."),
        started(3, message("")),
        delta(3, "Second."),
        ended(1, message("First.")),
        ended(2, thought("Hm.")),
        ended(3, message("Second.")),
    ] {
        seat.fact(1, fact);
    }
    assert_eq!(seat.rows(), ["First.", "✻ thought for 0s (1 line, ctrl-o shows)", "Second."]);
}

#[test]
fn an_answer_that_starts_over_is_not_joined_to_what_broke_off() {
    let change =
        |number| Fact::ItemChanged(ItemChanged { item: item(number, ItemStatus::Running, message("")) });
    let mut seat = Seat::new();
    for fact in [started(1, message("")), delta(1, "The quick br")] {
        seat.fact(1, fact);
    }
    assert!(seat.rows().is_empty());
    for fact in [change(1), delta(1, "The quick fox."), ended(1, message("The quick fox."))] {
        seat.fact(1, fact);
    }
    assert_eq!(seat.rows(), ["The quick fox."]);
    for fact in [started(2, message("")), delta(2, "One.\n\nTwo")] {
        seat.fact(1, fact);
    }
    assert_eq!(seat.rows(), ["One."]);
    for fact in [change(2), delta(2, "Uno."), ended(2, message("Uno."))] {
        seat.fact(1, fact);
    }
    assert_eq!(seat.rows(), ["Two", "the answer broke off here and starts over", "Uno."]);
}

#[test]
fn an_answer_of_which_some_was_missed_is_shown_whole_at_its_end() {
    let mut seat = Seat::new();
    for fact in [started(1, message("")), delta(1, "One.\n\nTw")] {
        seat.fact(1, fact);
    }
    assert_eq!(seat.rows(), ["One."]);
    seat.take(Input::Missed(session(1)));
    for fact in [delta(1, "ree."), ended(1, message("One.\n\nTwo. Three."))] {
        seat.fact(1, fact);
    }
    assert_eq!(seat.rows(), ["some of this was missed; here it is whole", "One.", "Two. Three."]);
}

#[test]
fn what_is_queued_is_neither_lost_nor_taken_for_something_else() {
    let mut seat = Seat::new();
    let queue = |seat: &mut Seat| {
        for text in ["!pwd", "go on"] {
            seat.write(text);
            seat.press("tab");
        }
    };
    queue(&mut seat);
    seat.write("mine");
    seat.press("esc");
    assert_eq!(seat.draft(), "!pwd\ngo on\nmine");
    seat.console.draft.set("");
    queue(&mut seat);
    let sent = seat.end_turn();
    let run = Command::Run { command: "pwd".to_owned(), target: None };
    let prompt = Command::prompt("go on");
    assert_eq!(sent, [run, prompt].map(|command| Effect::Send(session(1), command)));
}

#[test]
fn a_first_press_is_forgotten_after_a_while() {
    let mut seat = Seat::new();
    seat.end_turn();
    seat.press("ctrl-c");
    assert!(seat.console.is_busy(), "it is said that a second press leaves");
    seat.wait(2500);
    seat.take(Input::Tick);
    assert!(!seat.console.is_busy());
    assert_eq!(seat.press("ctrl-c"), []);
}

#[test]
fn files_that_git_does_not_know_stand_below_the_diff_whatever_it_says() {
    let mut seat = Seat::new();
    let diff = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+not in git yet: two\n";
    seat.take(Input::Reply(Reply::Changes(format!("{diff}not in git yet: b\nnot in git yet: c\n"))));
    let rows = seat.rows();
    let (changed, others) = rows.split_at(rows.len() - 2);
    assert_eq!(others, ["not in git yet: b", "not in git yet: c"]);
    assert!(changed.iter().any(|row| row.ends_with("+not in git yet: two")), "{changed:?}");
}

#[test]
fn arrows_go_through_the_answers_that_a_question_offers() {
    let mut seat = Seat::new();
    let id = "ask_00000000000000000000000002".parse().unwrap();
    let options = ["red", "green", "blue"].map(str::to_owned).to_vec();
    let question = Question::Text { text: "Which?".to_owned(), options };
    seat.fact(1, Fact::Asked(Asked { ask: Ask { id, turn: None, item: None, question, expires: None } }));
    seat.wait(1100);
    let said = |effects: Vec<Effect>| {
        effects.into_iter().find_map(|effect| match effect {
            Effect::Send(_, Command::Answer { answer: Answer::Reply { text }, .. }) => Some(text),
            _ => None,
        })
    };
    for key in ["up", "down", "down"] {
        assert_eq!(said(seat.press(key)), None);
    }
    assert_eq!(said(seat.press("enter")).as_deref(), Some("green"));
}
