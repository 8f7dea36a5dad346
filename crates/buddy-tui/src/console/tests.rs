//! The console without a terminal: keys and events in, effects and rows out.

mod by_line;
mod card_text;
mod cards;
mod mentioning;
mod modes;
mod notifications;
mod reading_along;
mod scenes;
mod tasks;
mod undoing;
mod whole;

use std::sync::Arc;
use std::time::{Duration, Instant};

use buddy_protocol::{
    Answer, Answered, Approval, ApprovalPolicy, Ask, AskId, Asked, Command, Content, DeltaStream, Event,
    Fact, GrantScope, GrantWish, Item, ItemChanged, ItemDelta, ItemEnded, ItemId, ItemStarted, ItemStatus,
    MAX_GRANT_SECONDS, Offer, Principal, Question, Risk, SessionChanged, SessionId, SessionStarted,
    TurnEnded, TurnId, TurnOutcome, TurnStarted, Unfit, UnixMillis,
};

use cards::asked;

use super::desk::SessionSurroundings;
use super::effect::{ConsoleEffect, ConsoleInput, EffectReply, Errand};
use super::state::Console;
use crate::editor::{EditorKey, Vim};
use crate::screen::ScreenPainter;
use crate::text::{StyledLine, TerminalLook};

/// A console, and the time that passes at it.
struct Seat {
    console: Console,
    painter: ScreenPainter,
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

fn ask_id() -> AskId {
    "ask_00000000000000000000000001".parse().unwrap()
}

impl Seat {
    /// A conversation in which a turn runs.
    fn new() -> Self {
        let now = Instant::now();
        let console = Console::new(session(1), TerminalLook::plain(), 60, Vec::new(), now);
        let mut seat =
            Self { console, painter: ScreenPainter::new(TerminalLook::plain(), 60, 40), now, seq: 0 };
        seat.fact(1, begun());
        seat.fact(1, Fact::TurnStarted(TurnStarted { turn: turn() }));
        seat
    }

    fn take(&mut self, input: ConsoleInput) -> Vec<ConsoleEffect> {
        let effects = self.console.handle(input, self.now);
        self.paint();
        effects
    }

    /// Paints the live rows, as the driver does.
    fn paint(&mut self) {
        self.console.height = self.painter.height();
        let frame = self.console.frame(self.painter.height());
        self.painter.paint(&[], frame);
        self.console.note_painted(self.painter.question());
    }

    /// Something happens in the session of this number.
    fn fact(&mut self, number: u32, fact: Fact) -> Vec<ConsoleEffect> {
        let is_live = matches!(fact, Fact::ItemDelta(_));
        let seq = (!is_live).then(|| {
            self.seq += 1;
            self.seq
        });
        let event = Event { session: session(number), seq, time: UnixMillis(0), by: None, fact };
        self.take(ConsoleInput::Event(session(number), Arc::new(event)))
    }

    fn wait(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
    }

    /// Presses a key, and no other one for a moment.
    fn press(&mut self, key: &str) -> Vec<ConsoleEffect> {
        let mut effects = self.touch(key);
        self.wait(300);
        effects.extend(self.take(ConsoleInput::Tick));
        effects
    }

    /// Presses a key.
    fn touch(&mut self, key: &str) -> Vec<ConsoleEffect> {
        self.take(ConsoleInput::Key(EditorKey::named(key).unwrap()))
    }

    fn write(&mut self, text: &str) -> Vec<ConsoleEffect> {
        text.chars().flat_map(|letter| self.touch(letter.encode_utf8(&mut [0; 4]))).collect()
    }

    fn end_turn(&mut self) -> Vec<ConsoleEffect> {
        let ended =
            TurnEnded { turn: turn(), outcome: TurnOutcome::Completed, stop_reason: None, failure: None };
        self.fact(1, Fact::TurnEnded(ended))
    }

    /// The rows that are finished since the last time.
    fn rows(&mut self) -> Vec<String> {
        self.console.take_rows().iter().map(StyledLine::text).filter(|row| !row.is_empty()).collect()
    }

    fn draft(&self) -> &str {
        self.console.draft.shown()
    }
}

pub(super) fn begun() -> Fact {
    Fact::SessionStarted(SessionStarted {
        owner: Principal::person("ann"),
        agent: "buddy".to_owned(),
        cwd: "/w".to_owned(),
        model: None,
        parent: None,
        targets: Vec::new(),
        forked_from: None,
        began_with: None,
        terms: buddy_protocol::SessionTerms::default(),
    })
}

fn is_answer(effect: &ConsoleEffect) -> bool {
    matches!(effect, ConsoleEffect::Send(_, Command::Answer { .. }))
}

/// Whether a text is in the live rows.
fn is_shown(seat: &Seat, text: &str) -> bool {
    seat.console.frame(30).rows.iter().any(|row| row.text().contains(text))
}

#[test]
fn a_key_counts_as_soon_as_the_question_is_on_the_screen() {
    let mut seat = Seat::new();
    let event =
        Event { session: session(1), seq: Some(9), time: UnixMillis(0), by: None, fact: asked("mkdir a") };
    seat.console.handle(ConsoleInput::Event(session(1), Arc::new(event)), seat.now);
    let early = seat.console.handle(ConsoleInput::Key(EditorKey::named("y").unwrap()), seat.now);
    assert!(!early.iter().any(is_answer), "nobody can have read it: {early:?}");
    let mut seat = Seat::new();
    seat.fact(1, asked("mkdir a"));
    assert!(seat.press("y").iter().any(is_answer));
}

#[test]
fn keys_of_somebody_who_goes_on_typing_answer_nothing_and_go_on_with_the_draft() {
    let mut seat = Seat::new();
    seat.write("ok");
    seat.wait(100);
    let mut effects = seat.fact(1, asked("mkdir a"));
    assert!(is_shown(&seat, "You were typing"));
    for letter in ["m", "a", "y", "d", "a", "y"] {
        seat.wait(300);
        effects.extend(seat.touch(letter));
    }
    assert!(!effects.iter().any(is_answer), "{effects:?}");
    assert_eq!(seat.draft(), "okmayday");
    assert!(is_shown(&seat, "› okmayday"));
    seat.wait(500);
    seat.take(ConsoleInput::Tick);
    assert!(!is_shown(&seat, "You were typing"));
    assert!(seat.press("y").iter().any(is_answer));
    assert_eq!(seat.draft(), "okmayday");
}

#[test]
fn who_paused_for_half_a_second_answers_at_once() {
    let mut seat = Seat::new();
    seat.write("ok");
    seat.wait(500);
    seat.fact(1, asked("mkdir a"));
    assert!(seat.press("d").iter().any(is_answer));
}

#[test]
fn a_key_that_types_nothing_and_means_nothing_is_told() {
    for (key, told) in [("enter", "enter does nothing here."), ("left", "left does nothing here.")] {
        let mut seat = Seat::new();
        seat.fact(1, asked("mkdir a"));
        assert_eq!(seat.touch(key), []);
        assert!(is_shown(&seat, told), "{key}");
        assert_eq!(seat.draft(), "");
        assert!(seat.press("y").iter().any(is_answer), "the next key counts");
    }
}

#[test]
fn a_key_that_is_pressed_twice_or_with_enter_answers_once() {
    for keys in [["y", "y", "y"], ["y", "enter", "enter"]] {
        let mut seat = Seat::new();
        seat.fact(1, asked("mkdir a"));
        seat.wait(1100);
        let mut effects: Vec<ConsoleEffect> = keys.iter().flat_map(|key| seat.touch(key)).collect();
        seat.wait(200);
        effects.extend(seat.take(ConsoleInput::Tick));
        effects.extend(seat.press("y"));
        assert_eq!(effects.iter().filter(|effect| is_answer(effect)).count(), 1, "{keys:?}: {effects:?}");
        assert_eq!(seat.draft(), "");
    }
}

#[test]
fn a_key_that_edits_goes_to_the_line_that_a_letter_opens() {
    let mut seat = Seat::new();
    seat.fact(1, asked("mkdir a"));
    seat.wait(1100);
    let keys = ["e", "ctrl-u", "l", "s", "enter"];
    let effects: Vec<ConsoleEffect> = keys.iter().flat_map(|key| seat.touch(key)).collect();
    let edited = |effect: &ConsoleEffect| matches!(effect, ConsoleEffect::Send(_, Command::Answer { answer, .. }) if *answer == Answer::edit("ls"));
    assert!(effects.iter().any(edited), "{effects:?}");
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
    seat.take(ConsoleInput::Paste("use old/".to_owned()));
    let effects = seat.press("enter");
    let reason = effects.iter().find_map(|effect| match effect {
        ConsoleEffect::Send(_, Command::Answer { answer: Answer::Deny { reason }, .. }) => reason.clone(),
        _ => None,
    });
    assert_eq!(reason.as_deref(), Some("use old/"));
    assert_eq!(seat.draft(), "");
}

/// A question about `cargo test -p a` with two offers.
fn offering(unfit: Option<Unfit>) -> Fact {
    let offer = |grant: &str| Offer { grant: grant.to_owned(), covers: format!("all of {grant}") };
    let Fact::Asked(Asked { ask }) = asked("cargo test -p a") else { unreachable!() };
    let Question::Approval(approval) = ask.question else { unreachable!() };
    let offers = vec![offer("cargo test *"), offer("cargo test -p a")];
    Fact::Asked(Asked {
        ask: Ask { question: Question::Approval(Approval { offers, unfit, ..approval }), ..ask },
    })
}

/// Presses keys at the question, and tells what is granted: which offer, in which words, where.
#[track_caller]
fn check_granted(keys: &[&str], offer: u32, words: Option<&str>, scope: GrantScope) {
    let mut seat = Seat::new();
    seat.fact(1, offering(None));
    seat.wait(1100);
    let effects: Vec<ConsoleEffect> = keys.iter().flat_map(|key| seat.press(key)).collect();
    let wish = effects.iter().find_map(granted).unwrap_or_else(|| panic!("{keys:?}: {effects:?}"));
    assert_eq!((wish.offer, wish.words.as_deref(), wish.scope), (offer, words, scope), "{keys:?}");
}

fn granted(effect: &ConsoleEffect) -> Option<GrantWish> {
    match effect {
        ConsoleEffect::Send(_, Command::Answer { answer: Answer::Allow { grant, .. }, .. }) => grant.clone(),
        _ => None,
    }
}

#[test]
fn what_is_allowed_for_longer_is_a_line_that_can_be_changed() {
    check_granted(&["p", "enter"], 0, None, GrantScope::Project);
    check_granted(&["p", "down", "enter"], 0, None, GrantScope::User);
    check_granted(&["p", "up", "enter"], 0, None, GrantScope::Session);
    check_granted(&["p", "tab", "enter"], 1, None, GrantScope::Project);
    check_granted(&["p", "tab", "tab", "enter"], 0, None, GrantScope::Project);
    check_granted(&["p", "esc", "p", "enter"], 0, None, GrantScope::Project);
    check_granted(&["p", "backspace", "-", "x", "enter"], 0, Some("cargo test -x"), GrantScope::Project);
    check_granted(&["p", "ctrl-u", "enter", "l", "s", "down", "enter"], 0, Some("ls"), GrantScope::User);
}

#[test]
fn a_letter_that_is_held_down_is_none_of_the_line_that_it_opens() {
    let mut seat = Seat::new();
    seat.fact(1, offering(None));
    seat.wait(1100);
    for _ in 0..8 {
        seat.touch("p");
        seat.wait(30);
        seat.take(ConsoleInput::Tick);
    }
    let effects = seat.press("enter");
    assert_eq!(effects.iter().find_map(granted).unwrap().words, None);
}

/// The question is answered with words of the user's own and put again, as they could not be allowed.
fn refused(seat: &mut Seat, wish: GrantWish) -> Vec<ConsoleEffect> {
    let answered = Answered { ask: ask_id(), answer: Answer::grant(wish.clone()) };
    let mut effects = seat.fact(1, Fact::Answered(answered));
    effects.extend(seat.fact(1, offering(Some(Unfit { wish, why: "it is too much".to_owned() }))));
    effects
}

#[test]
fn words_that_could_not_be_allowed_stay_in_the_line_with_the_reason() {
    let mut seat = Seat::new();
    seat.fact(1, offering(None));
    seat.wait(1100);
    let keys = ["p", "ctrl-w", "ctrl-w", "*", "down", "enter"];
    let effects: Vec<ConsoleEffect> = keys.iter().flat_map(|key| seat.press(key)).collect();
    let wish = effects.iter().find_map(granted).unwrap();
    assert_eq!(wish.words.as_deref(), Some("cargo *"));
    let effects = refused(&mut seat, wish);
    assert!(!effects.iter().any(|effect| matches!(effect, ConsoleEffect::Ring(_))), "they are at the screen");
    for row in ["it is too much", "› cargo *", "❯ everywhere, for 30 days"] {
        assert!(is_shown(&seat, row), "{row}");
    }
    let keys = ["backspace", "t", "e", "s", "t", "enter"];
    let effects: Vec<ConsoleEffect> = keys.iter().flat_map(|key| seat.press(key)).collect();
    let wish = effects.iter().find_map(granted).unwrap();
    assert_eq!((wish.words.as_deref(), wish.scope), (Some("cargo test"), GrantScope::User));
    refused(&mut seat, wish);
    seat.press("esc");
    assert!(seat.press("y").iter().any(is_answer), "escape leads back to the choice");
}

#[test]
fn words_that_somebody_wrote_elsewhere_open_no_line_here() {
    let mut seat = Seat::new();
    seat.fact(1, offering(None));
    let wish = GrantWish { offer: 0, words: Some("*".to_owned()), scope: GrantScope::User, seconds: 60 };
    let effects = refused(&mut seat, wish);
    assert!(effects.iter().any(|effect| matches!(effect, ConsoleEffect::Ring(_))));
    let effects = seat.write("mine");
    assert!(!effects.iter().any(is_answer), "{effects:?}");
}

/// Presses keys at the question where the keys are those of vim, and tells the answers.
fn answers_with_vim(fact: Fact, keys: &[&str]) -> Vec<Answer> {
    let mut seat = Seat::new();
    seat.console.vim = Some(Vim::default());
    seat.fact(1, fact);
    seat.wait(1100);
    let effects: Vec<ConsoleEffect> = keys.iter().flat_map(|key| seat.press(key)).collect();
    let answer = |effect| match effect {
        ConsoleEffect::Send(_, Command::Answer { answer, .. }) => Some(answer),
        _ => None,
    };
    effects.into_iter().filter_map(answer).collect()
}

#[test]
fn lines_of_questions_have_the_keys_of_vim() {
    let edited = ["e", "esc", "c", "w", "b", "esc", "enter"];
    assert_eq!(answers_with_vim(asked("mkdir a"), &edited), [Answer::edit("mkdir b")]);
    let told = ["n", "n", "o", "t", "esc", "0", "x", "enter"];
    let reason = Some("ot".to_owned());
    assert_eq!(answers_with_vim(asked("mkdir a"), &told), [Answer::Deny { reason }]);
    let twice = ["e", "esc", "esc", "y"];
    assert_eq!(answers_with_vim(asked("mkdir a"), &twice), [Answer::allow()], "the second escape goes back");
    let granted = ["p", "esc", "x", "j", "i", "-", "x", "enter"];
    let wish = GrantWish {
        offer: 0,
        words: Some("cargo test-x".to_owned()),
        scope: GrantScope::User,
        seconds: MAX_GRANT_SECONDS,
    };
    assert_eq!(answers_with_vim(offering(None), &granted), [Answer::grant(wish)]);
    let text = Question::Text { text: "Which?".to_owned(), options: Vec::new() };
    let ask = Ask { id: ask_id(), turn: None, item: None, question: text, expires: None };
    let replied = ["r", "e", "d", "esc", "D", "a", "t", "enter"];
    let reply = Answer::Reply { text: "ret".to_owned() };
    assert_eq!(answers_with_vim(Fact::Asked(Asked { ask }), &replied), [reply]);
}

#[test]
fn the_status_tells_the_mode_of_the_line_that_is_written() {
    let mut seat = Seat::new();
    seat.console.vim = Some(Vim::default());
    seat.press("esc");
    let status = |seat: &Seat| seat.console.frame(20).rows.last().unwrap().text();
    seat.fact(1, asked("mkdir a"));
    seat.wait(1100);
    seat.press("e");
    assert!(status(&seat).trim_start().starts_with("insert"), "{}", status(&seat));
    seat.press("esc");
    assert!(status(&seat).trim_start().starts_with("normal"), "{}", status(&seat));
}

#[test]
fn the_status_says_that_it_is_production() {
    let status = |plan_only: Option<bool>, is_production: bool| {
        let mut seat = Seat::new();
        let surroundings = SessionSurroundings { is_production, ..SessionSurroundings::default() };
        seat.take(ConsoleInput::Reply(EffectReply::Surroundings(surroundings)));
        seat.fact(1, Fact::SessionChanged(SessionChanged { plan_only, ..SessionChanged::default() }));
        let rows: Vec<String> = seat.console.frame(20).rows.iter().map(StyledLine::text).collect();
        rows.join("\n")
    };
    assert!(status(None, true).contains("production, Ask before changes"));
    assert!(!status(None, false).contains("production"));
    assert!(!status(Some(true), true).contains("production"), "a plan changes nothing");
}

#[test]
fn the_status_of_an_untrusted_folder_says_what_holds() {
    let status = |plan_only: Option<bool>, is_untrusted: bool| {
        let mut seat = Seat::new();
        let surroundings = SessionSurroundings { is_untrusted, ..SessionSurroundings::default() };
        seat.take(ConsoleInput::Reply(EffectReply::Surroundings(surroundings)));
        let approvals = Some(ApprovalPolicy::Auto);
        seat.fact(
            1,
            Fact::SessionChanged(SessionChanged { plan_only, approvals, ..SessionChanged::default() }),
        );
        let rows: Vec<String> = seat.console.frame(20).rows.iter().map(StyledLine::text).collect();
        rows.join("\n")
    };
    let untrusted = status(None, true);
    assert!(untrusted.contains("Read-only (untrusted)") && !untrusted.contains("Auto"), "{untrusted}");
    assert!(status(None, false).contains("Auto") && status(Some(true), true).contains("Plan only"));
}

#[test]
fn an_interrupt_at_the_question_of_a_task_stops_that_task() {
    let mut seat = Seat::new();
    let prompt = "count them".to_owned();
    seat.take(ConsoleInput::Reply(EffectReply::Begun { session: session(2), head: 0, prompt }));
    seat.seq = 0;
    seat.fact(2, begun());
    seat.fact(2, asked("mkdir a"));
    seat.wait(1100);
    assert!(is_shown(&seat, "task 1 wants to run a command"));
    assert_eq!(seat.press("ctrl-c"), [ConsoleEffect::Send(session(2), Command::interrupt())]);
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
    assert_eq!(rows, ["  ✻ thought for 3s  1 line, ctrl+o show", "● One.", "  Two."]);
}

#[test]
fn a_paragraph_that_streams_is_one_empty_row_apart_from_the_one_before() {
    let mut seat = Seat::new();
    for fact in [started(1, message("")), delta(1, "One.\n\nTwo is on its way")] {
        seat.fact(1, fact);
    }
    assert_eq!(seat.rows(), ["● One."]);
    let rows: Vec<String> = seat.console.frame(20).rows.iter().map(StyledLine::text).collect();
    assert_eq!(rows[..2], ["", "  Two is on its way"], "{rows:?}");
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
    assert_eq!(seat.rows(), ["● First.", "  ✻ thought for 0s  1 line, ctrl+o show", "● Second."]);
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
    assert_eq!(seat.rows(), ["● The quick fox."]);
    for fact in [started(2, message("")), delta(2, "One.\n\nTwo")] {
        seat.fact(1, fact);
    }
    assert_eq!(seat.rows(), ["● One."]);
    for fact in [change(2), delta(2, "Uno."), ended(2, message("Uno."))] {
        seat.fact(1, fact);
    }
    assert_eq!(seat.rows(), ["  Two", "The answer was cut off here and starts again.", "● Uno."]);
}

#[test]
fn an_answer_of_which_some_was_missed_is_shown_whole_at_its_end() {
    let mut seat = Seat::new();
    for fact in [started(1, message("")), delta(1, "One.\n\nTw")] {
        seat.fact(1, fact);
    }
    assert_eq!(seat.rows(), ["● One."]);
    seat.take(ConsoleInput::Missed(session(1)));
    for fact in [delta(1, "ree."), ended(1, message("One.\n\nTwo. Three."))] {
        seat.fact(1, fact);
    }
    assert_eq!(seat.rows(), ["Part of this was missed. Here is all of it.", "● One.", "  Two. Three."]);
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
    assert_eq!(sent, [run, prompt].map(|command| ConsoleEffect::Send(session(1), command)));
}

#[test]
fn a_first_press_is_forgotten_after_a_while() {
    let mut seat = Seat::new();
    seat.end_turn();
    seat.press("ctrl-c");
    assert!(seat.console.is_busy(), "it is said that a second press leaves");
    seat.wait(2500);
    seat.take(ConsoleInput::Tick);
    assert!(!seat.console.is_busy());
    assert_eq!(seat.press("ctrl-c"), []);
}

#[test]
fn files_that_git_does_not_know_stand_below_the_diff_whatever_it_says() {
    let mut seat = Seat::new();
    let diff = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+not in git yet: two\n";
    seat.take(ConsoleInput::Reply(EffectReply::Changes(format!(
        "{diff}not in git yet: b\nnot in git yet: c\n"
    ))));
    let rows = seat.rows();
    let (changed, others) = rows.split_at(rows.len() - 2);
    assert_eq!(others, ["  not in git yet: b", "  not in git yet: c"]);
    assert!(changed.iter().any(|row| row.ends_with("+ not in git yet: two")), "{changed:?}");
}

#[test]
fn files_that_are_dragged_are_mentioned_apart_from_the_words() {
    let mut seat = Seat::new();
    seat.write("what is");
    seat.take(ConsoleInput::Paste("/tmp/a.png".to_owned()));
    seat.take(ConsoleInput::Paste("'/tmp/b c.png'".to_owned()));
    assert_eq!(seat.draft(), "what is @/tmp/a.png @\"/tmp/b c.png\" ");
    seat.take(ConsoleInput::Reply(EffectReply::PastedImage("/tmp/d.png".to_owned())));
    seat.take(ConsoleInput::Paste("words".to_owned()));
    assert!(seat.draft().ends_with(" @/tmp/d.png words"), "{}", seat.draft());
}

#[test]
fn a_prompt_that_was_refused_comes_back_unless_something_else_is_written() {
    let mut seat = Seat::new();
    let refused = || EffectReply::Unsent {
        session: session(1),
        text: "see @a.png".to_owned(),
        reason: "too large".to_owned(),
    };
    seat.take(ConsoleInput::Reply(refused()));
    assert_eq!(seat.draft(), "see @a.png");
    assert!(seat.rows().iter().any(|row| row == "✗ buddy: too large"));
    seat.take(ConsoleInput::Reply(refused()));
    assert_eq!(seat.draft(), "see @a.png");
}

#[test]
fn arrows_go_through_the_answers_that_a_question_offers() {
    let mut seat = Seat::new();
    let id = "ask_00000000000000000000000002".parse().unwrap();
    let options = ["red", "green", "blue"].map(str::to_owned).to_vec();
    let question = Question::Text { text: "Which?".to_owned(), options };
    seat.fact(1, Fact::Asked(Asked { ask: Ask { id, turn: None, item: None, question, expires: None } }));
    seat.wait(1100);
    let said = |effects: Vec<ConsoleEffect>| {
        effects.into_iter().find_map(|effect| match effect {
            ConsoleEffect::Send(_, Command::Answer { answer: Answer::Reply { text }, .. }) => Some(text),
            _ => None,
        })
    };
    for key in ["up", "down", "down"] {
        assert_eq!(said(seat.press(key)), None);
    }
    assert_eq!(said(seat.press("enter")).as_deref(), Some("green"));
}

#[test]
fn images_that_only_a_paste_names_are_not_given() {
    let mut seat = Seat::new();
    seat.write("see @mine.png ");
    seat.take(ConsoleInput::Paste("a line\n".repeat(20) + "of @theirs.png\n"));
    let effects = seat.touch("enter");
    let said = effects.iter().find_map(|effect| match effect {
        ConsoleEffect::Send(_, Command::Prompt { text, .. }) => Some(text.clone()),
        _ => None,
    });
    let said = said.unwrap();
    assert!(said.contains("@theirs.png"));
    assert_eq!(seat.console.named_images(&said), ["mine.png"]);
}

#[test]
fn a_task_whose_prompt_was_refused_is_gone() {
    let mut seat = Seat::new();
    let prompt = "look @broken.png".to_owned();
    seat.take(ConsoleInput::Reply(EffectReply::Begun {
        session: session(2),
        head: 0,
        prompt: prompt.clone(),
    }));
    assert_eq!(seat.console.tasks.len(), 2);
    assert_eq!(seat.console.target_of(&session(2)), seat.console.target_of(&session(1)));
    let unsent = EffectReply::Unsent { session: session(2), text: prompt, reason: "broken".to_owned() };
    let effects = seat.take(ConsoleInput::Reply(unsent));
    assert!(effects.contains(&ConsoleEffect::Leave(session(2))), "{effects:?}");
    assert_eq!(seat.console.tasks.len(), 1);
}
