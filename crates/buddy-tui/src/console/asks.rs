//! Questions: which one is put, and which key answers it how.
//!
//! A key answers only a question that the person can have read. What was typed before it appeared, or in the same breath,
//! belongs to the draft.

use std::time::{Duration, Instant};

use buddy_protocol::{
    Answer, Ask, AskId, Command, GrantScope, GrantWish, MAX_GRANT_SECONDS, Question, Risk, SessionId,
};
use crossterm::event::KeyCode;

use super::approval::furthest;
use super::effect::Effect;
use super::options::turned;
use super::state::Console;
use crate::editor::{Action, Choice, Draft, Key, Menu};

/// How long a question must have been there before a key answers it.
const READ: Duration = Duration::from_millis(150);
/// The same while somebody types.
const READ_WHILE_TYPING: Duration = Duration::from_secs(1);
/// Rows that a page key goes.
const PAGE: isize = 10;
/// How long a grant for a session holds.
const SESSION_SECONDS: u64 = 8 * 60 * 60;

/// The question that is put.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) session: SessionId,
    pub(super) ask: Ask,
    /// From when on keys answer it.
    ready: Instant,
    pub(super) is_expanded: bool,
    /// The first row of it that is shown where not all of it fits.
    pub(super) scroll: usize,
    pub(super) stage: Stage,
}

/// How far the answering is.
#[derive(Debug)]
pub(super) enum Stage {
    /// One key decides.
    Choosing,
    /// Words for the agent, instead of a yes.
    Telling(Draft),
    /// Another command instead of this one.
    Editing(Draft),
    /// What is to be allowed for longer, and where.
    Granting(Menu, Vec<GrantWish>),
    /// An answer in words or by a number.
    Replying(Draft),
    /// Some of many: which are allowed.
    Picking(Vec<bool>),
}

impl Console {
    /// Takes up the oldest question if none is put, and drops one that was answered elsewhere.
    pub(super) fn put_question(&mut self) {
        if let Some(asking) = &self.asking {
            let id = &asking.ask.id;
            if self.tasks.iter().any(|task| task.reader.transcript().is_waiting(id)) {
                return;
            }
            self.asking = None;
        }
        let waiting = self.tasks.iter().find_map(|task| {
            let ask = task.reader.transcript().asks().first()?;
            Some((task.session.clone(), ask.clone()))
        });
        let Some((session, ask)) = waiting else { return };
        let is_typing =
            self.last_key.is_some_and(|key| self.now.saturating_duration_since(key) < READ_WHILE_TYPING);
        let pause = if is_typing { READ_WHILE_TYPING } else { READ };
        let is_expanded = is_grave(&ask.question);
        let stage = Stage::of(&ask.question);
        self.effect(Effect::Ring("buddy waits for your answer".to_owned()));
        self.asking = Some(Asking { session, ask, ready: self.now + pause, is_expanded, scroll: 0, stage });
    }

    /// How many questions wait.
    pub(super) fn waiting(&self) -> usize {
        self.tasks.iter().map(|task| task.reader.transcript().asks().len()).sum()
    }

    /// Takes a key while a question is put. False if it is none of the question's.
    pub(super) fn answer_key(&mut self, key: Key) -> bool {
        let action = self.keymap.action(key);
        let Some(asking) = &mut self.asking else { return false };
        if self.now < asking.ready {
            match asking.stage {
                Stage::Choosing | Stage::Picking(_) | Stage::Replying(_) => {
                    // Whoever goes on typing still has not read it.
                    asking.ready = self.now + READ_WHILE_TYPING;
                    return false;
                }
                // A letter that was held down for too long chooses nothing here.
                Stage::Granting(..) if key.letter().is_some() => return true,
                Stage::Granting(..) | Stage::Telling(_) | Stage::Editing(_) => {}
            }
        }
        let was_granting = matches!(asking.stage, Stage::Granting(..));
        let step = asking.key(key, action);
        if !was_granting && matches!(asking.stage, Stage::Granting(..)) {
            asking.ready = self.now + READ;
        }
        match step {
            Step::Stay => {}
            Step::Elsewhere => return false,
            Step::Scroll(rows) => self.scroll(rows),
            Step::Answer(answer) => {
                let (session, ask) = (asking.session.clone(), asking.ask.id.clone());
                self.answer(session, ask, answer);
            }
        }
        true
    }

    /// Takes a paste while words are written for a question. False if none are.
    pub(super) fn answer_paste(&mut self, text: &str) -> bool {
        let Some(asking) = &mut self.asking else { return false };
        match &mut asking.stage {
            Stage::Telling(draft) | Stage::Editing(draft) => draft.insert_text(text),
            Stage::Replying(draft) if self.now >= asking.ready => draft.insert_text(text),
            _ => return false,
        }
        true
    }

    fn scroll(&mut self, rows: isize) {
        let furthest = self.asking.as_ref().map(|asking| furthest(asking, &self.room(self.height)));
        if let (Some(asking), Some(furthest)) = (&mut self.asking, furthest) {
            asking.scroll = asking.scroll.min(furthest).saturating_add_signed(rows).min(furthest);
        }
    }

    /// Answers, and goes on to the next question when the answer is known to count.
    fn answer(&mut self, session: SessionId, ask: AskId, answer: Answer) {
        self.effect(Effect::Send(session, Command::Answer { ask, answer }));
    }
}

/// What a key does to a question.
enum Step {
    Stay,
    /// It is for somebody else.
    Elsewhere,
    /// So many rows further down, or up.
    Scroll(isize),
    Answer(Answer),
}

impl Stage {
    fn of(question: &Question) -> Self {
        match question {
            Question::Approval(_) => Self::Choosing,
            Question::Batch { approvals } => Self::Picking(vec![true; approvals.len()]),
            Question::Text { .. } => Self::Replying(Draft::default()),
        }
    }
}

/// Whether the whole of it is shown from the start.
fn is_grave(question: &Question) -> bool {
    match question {
        Question::Approval(approval) => approval.risk == Risk::High || approval.action.contains('\n'),
        _ => false,
    }
}

impl Asking {
    fn key(&mut self, key: Key, action: Option<Action>) -> Step {
        if action == Some(Action::Cancel) {
            return Step::Elsewhere;
        }
        match key.code {
            KeyCode::PageUp => return Step::Scroll(-PAGE),
            KeyCode::PageDown => return Step::Scroll(PAGE),
            _ => {}
        }
        if matches!(self.stage, Stage::Picking(_))
            && let Some(step) = self.look_at(key, action)
        {
            return step;
        }
        if let (Stage::Replying(draft), Some(action)) = (&mut self.stage, action)
            && let Some(option) = turned(&self.ask.question, draft.shown(), action)
        {
            draft.set(&option);
            return Step::Stay;
        }
        match &mut self.stage {
            Stage::Choosing => self.choose(key, action),
            Stage::Telling(draft) => match write(draft, key, action) {
                Written::Done(text) => Step::Answer(deny(&text)),
                Written::Left => self.back(),
                Written::Going => Step::Stay,
            },
            Stage::Editing(draft) => match write(draft, key, action) {
                // An empty line runs nothing; it may have been cleared by mistake.
                Written::Done(text) if text.trim().is_empty() => self.back(),
                Written::Done(text) => Step::Answer(Answer::edit(text.trim())),
                Written::Left => self.back(),
                Written::Going => Step::Stay,
            },
            Stage::Replying(draft) => match write(draft, key, action) {
                Written::Done(text) => Step::Answer(crate::asking::answer(&self.ask.question, &text)),
                Written::Left => Step::Answer(Answer::Deny { reason: None }),
                Written::Going => Step::Stay,
            },
            Stage::Granting(menu, wishes) => match (action, key.letter()) {
                (Some(Action::Up), _) => stay(|| menu.up()),
                (Some(Action::Down), _) => stay(|| menu.down()),
                (Some(Action::Escape), _) => self.back(),
                (Some(Action::Submit), _) => {
                    let place =
                        menu.chosen().and_then(|choice| choice.name.split('.').next()?.parse::<usize>().ok());
                    match place.and_then(|place| wishes.get(place.checked_sub(1)?)) {
                        Some(wish) => Step::Answer(Answer::grant(*wish)),
                        None => Step::Stay,
                    }
                }
                (None, Some(digit @ '1'..='9')) => match place(digit).and_then(|place| wishes.get(place)) {
                    Some(wish) => Step::Answer(Answer::grant(*wish)),
                    None => Step::Stay,
                },
                _ => Step::Stay,
            },
            Stage::Picking(allowed) => match (action, key.letter()) {
                (Some(Action::Escape), _) | (None, Some('d')) => Step::Answer(Answer::Deny { reason: None }),
                (Some(Action::Submit), _) => Step::Answer(each(allowed)),
                (None, Some('y')) => Step::Answer(Answer::allow()),
                (None, Some('n')) => {
                    self.stage = Stage::Telling(Draft::default());
                    Step::Stay
                }
                (None, Some(digit @ '1'..='9')) => {
                    if let Some(one) = place(digit).and_then(|place| allowed.get_mut(place)) {
                        *one = !*one;
                    }
                    Step::Stay
                }
                _ => Step::Stay,
            },
        }
    }

    fn choose(&mut self, key: Key, action: Option<Action>) -> Step {
        let Question::Approval(approval) = &self.ask.question else { return Step::Stay };
        let has_offer = !approval.offers.is_empty();
        if action == Some(Action::Escape) {
            self.stage = Stage::Telling(Draft::default());
            return Step::Stay;
        }
        // Only a key by itself answers: with another one held down it means something else.
        match key.letter() {
            Some('y' | '1') => Step::Answer(Answer::allow()),
            Some('a' | '2') if has_offer => {
                let grant = GrantWish { offer: 0, scope: GrantScope::Session, seconds: SESSION_SECONDS };
                Step::Answer(Answer::grant(grant))
            }
            Some('p' | '3') if has_offer => {
                let (menu, wishes) = grants(&self.ask.question);
                self.stage = Stage::Granting(menu, wishes);
                Step::Stay
            }
            Some('e' | '4') if approval.is_editable => {
                let mut draft = Draft::default();
                draft.set(&approval.action);
                self.stage = Stage::Editing(draft);
                Step::Stay
            }
            Some('d' | '5') => Step::Answer(Answer::Deny { reason: None }),
            Some('n' | '6') => {
                self.stage = Stage::Telling(Draft::default());
                Step::Stay
            }
            _ => self.look_at(key, action).unwrap_or(Step::Stay),
        }
    }

    /// A key that shows more of the question.
    fn look_at(&mut self, key: Key, action: Option<Action>) -> Option<Step> {
        match (key.letter(), action) {
            (_, Some(Action::Up)) => Some(Step::Scroll(-1)),
            (_, Some(Action::Down)) => Some(Step::Scroll(1)),
            (Some('?'), _) | (_, Some(Action::LineStart | Action::Expand)) => {
                self.is_expanded = !self.is_expanded;
                self.scroll = 0;
                Some(Step::Stay)
            }
            _ => None,
        }
    }

    /// Back to the choice that this came from.
    fn back(&mut self) -> Step {
        self.stage = Stage::of(&self.ask.question);
        Step::Stay
    }
}

/// The place that a digit names, counted from nothing.
fn place(digit: char) -> Option<usize> {
    usize::try_from(digit.to_digit(10)?).ok()?.checked_sub(1)
}

fn stay(step: impl FnOnce()) -> Step {
    step();
    Step::Stay
}

fn deny(text: &str) -> Answer {
    Answer::Deny { reason: Some(text.trim().to_owned()).filter(|text| !text.is_empty()) }
}

fn each(allowed: &[bool]) -> Answer {
    let answer =
        |&is_allowed: &bool| if is_allowed { Answer::allow() } else { Answer::Deny { reason: None } };
    Answer::Each { answers: allowed.iter().map(answer).collect() }
}

/// What can be allowed for longer: every offer, in the session, in the project, everywhere.
fn grants(question: &Question) -> (Menu, Vec<GrantWish>) {
    let Question::Approval(approval) = question else { return (Menu::new(Vec::new(), ""), Vec::new()) };
    let scopes = [
        (GrantScope::Session, "in this session", SESSION_SECONDS),
        (GrantScope::Project, "in this project, for 30 days", MAX_GRANT_SECONDS),
        (GrantScope::User, "everywhere, for 30 days", MAX_GRANT_SECONDS),
    ];
    let (mut choices, mut wishes) = (Vec::new(), Vec::new());
    for (place, offer) in (0..).zip(&approval.offers) {
        for (scope, words, seconds) in scopes {
            wishes.push(GrantWish { offer: place, scope, seconds });
            let name = format!("{}. {} {words}", wishes.len(), offer.grant);
            choices.push(Choice { name, note: offer.covers.clone() });
        }
    }
    (Menu::new(choices, ""), wishes)
}

enum Written {
    Going,
    Done(String),
    Left,
}

/// A key in a line of words.
fn write(draft: &mut Draft, key: Key, action: Option<Action>) -> Written {
    match action {
        Some(Action::Submit) => return Written::Done(draft.take()),
        Some(Action::Escape) => return Written::Left,
        Some(action) => super::keys::edit(draft, action),
        None => key.letter().into_iter().for_each(|letter| draft.insert(letter)),
    }
    Written::Going
}
