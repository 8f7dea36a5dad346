//! Questions: which one is put, and which key answers it how.
//!
//! A key counts from the moment on that the question is on the screen. Who was typing in the half second before that has not
//! read it: then the question says so, and keys go on with the draft until the user has paused. A key answers only if it stands alone;
//! other letters are text (`card_text.rs`), and any other key that means nothing here is told.
//!
//! No key allows what was not on the screen: while rows of a question are folded or beyond the window, a key that would allow
//! it shows the next of them instead. A question with a word is allowed by writing that word, which no key does.

use std::time::{Duration, Instant};

use buddy_protocol::{
    Answer, Approval, Ask, AskId, Command, GrantScope, GrantWish, Question, Risk, SessionId,
};
use crossterm::event::KeyCode;

use super::approval::reach;
use super::card_text::HeldAnswer;
use super::effect::Effect;
use super::granting::{Granting, SESSION_SECONDS};
use super::options::turned;
use super::state::Console;
use crate::editor::{Action, Entered, Entry, Key, KeyStyle};
use crate::screen::{QuestionPart, Seen};

/// How long a letter that opened a line may be held down before it is written into it.
const READ: Duration = Duration::from_millis(150);
/// How long somebody who types must pause before a key answers.
const PAUSE: Duration = Duration::from_millis(500);
/// How long the key that showed more rows must rest before it does so again or allows: longer than keys wait before they repeat.
const READ_MORE: Duration = Duration::from_millis(600);
/// Rows that a page key goes.
const PAGE: isize = 10;

/// The question that is put.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) session: SessionId,
    pub(super) ask: Ask,
    /// From when on keys answer it.
    ready: Instant,
    /// Whether it was on the screen.
    is_shown: bool,
    /// The message about the last key.
    pub(super) remark: Option<Remark>,
    /// The key that opened the line that is written.
    opened: Option<Key>,
    /// The same and when, until another key is pressed.
    pub(super) fresh: Option<(Key, Instant)>,
    /// The answer of a key that may yet be text.
    pub(super) held: Option<HeldAnswer>,
    /// Whether keys go to the draft.
    pub(super) is_drafting: bool,
    /// The key that it was answered with. What comes of that is still to be told.
    pub(super) answered: Option<Key>,
    /// Whether all of a question that does not fit is shown, a part at a time.
    pub(super) is_unfolded: bool,
    /// Whether everything that is known is told with it.
    pub(super) is_expanded: bool,
    /// The rows of it that were on the screen.
    pub(super) seen: Seen,
    /// The key that showed more of it, and from when on it does something again.
    turned: Option<(Key, Instant)>,
    /// The first row of it that is shown where not all of it fits.
    pub(super) scroll: usize,
    pub(super) stage: Stage,
    /// The keys that lines are written with.
    pub(super) keys: KeyStyle,
}

/// The message about a key that did nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Remark {
    /// The user was typing when the question appeared.
    Typing,
    /// The key is none of those that answer.
    NoChoice(String),
}

/// How far the answering is.
#[derive(Debug)]
pub(super) enum Stage {
    /// One key decides.
    Choosing,
    /// Words for the agent, instead of a yes.
    Telling(Entry),
    /// Another command instead of this one.
    Editing(Entry),
    /// The word that makes an answer count.
    Confirming(Confirming),
    /// A lasting grant and its scope.
    Granting(Granting),
    /// An answer in words or by a number.
    Replying(Entry),
    /// Some of many: which are allowed.
    Picking(Vec<bool>),
}

/// An answer that waits for the word of its question.
#[derive(Debug)]
pub(super) struct Confirming {
    pub(super) entry: Entry,
    answer: Answer,
    /// Why the last word did not count.
    pub(super) refused: Option<String>,
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
        let awake = self.last_key.map(|key| key + PAUSE).filter(|awake| *awake > self.now);
        let keys = if self.vim.is_some() { KeyStyle::Vim } else { KeyStyle::Readline };
        let again = again(&ask.question, self.wished.take().as_ref(), keys);
        // Who has just answered goes on with the line as it was.
        let awake = awake.filter(|_| again.is_none());
        if again.is_none() {
            self.ring("buddy waits for your answer");
        }
        let is_shown = again.is_some();
        let stage = again.map_or_else(|| Stage::of(&ask.question, keys), Stage::Granting);
        self.asking = Some(Asking {
            session,
            ask,
            ready: awake.unwrap_or(self.now),
            is_shown,
            remark: awake.map(|_| Remark::Typing),
            opened: None,
            fresh: None,
            held: None,
            is_drafting: false,
            answered: None,
            is_unfolded: false,
            is_expanded: false,
            seen: Seen::default(),
            turned: None,
            scroll: 0,
            stage,
            keys,
        });
    }

    /// How many questions wait.
    pub(super) fn waiting(&self) -> usize {
        self.tasks.iter().map(|task| task.reader.transcript().asks().len()).sum()
    }

    /// Takes a key while a question is put. False if it is none of the question's.
    pub(super) fn answer_key(&mut self, key: Key) -> bool {
        let action = self.keymap.action(key);
        let Some(asking) = &mut self.asking else { return false };
        if let Some(answered) = asking.answered {
            // It was pressed for too long, or twice to be sure.
            return key == answered;
        }
        if asking.rests(key, self.now) {
            return true;
        }
        // Stopping what runs never waits.
        if action == Some(Action::Cancel) {
            return self.step(key, action);
        }
        asking.wake(self.now);
        if let Some(is_taken) = self.text_key(key, action) {
            return is_taken;
        }
        let Some(asking) = &mut self.asking else { return false };
        match asking.stage {
            Stage::Choosing | Stage::Picking(_) | Stage::Replying(_) => {
                if !asking.is_shown || self.now < asking.ready {
                    // Whoever goes on typing still has not read it.
                    (asking.ready, asking.remark) = (self.now + PAUSE, Some(Remark::Typing));
                    return !Asking::writes_on(key, action);
                }
            }
            // The letter that led here may have been held down for too long.
            Stage::Granting(_) | Stage::Editing(_) | Stage::Confirming(_)
                if self.now < asking.ready && asking.opened == Some(key) =>
            {
                asking.ready = self.now + READ;
                return true;
            }
            Stage::Granting(_) | Stage::Telling(_) | Stage::Editing(_) | Stage::Confirming(_) => {}
        }
        asking.remark = None;
        self.step(key, action)
    }

    /// Lets keys answer again after a pause, and sends an answer that stood alone.
    pub(super) fn wake_question(&mut self) {
        let now = self.now;
        if let Some(asking) = &mut self.asking {
            asking.wake(now);
        }
        self.release_answer();
    }

    /// When keys answer again, or an answer is sent.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        let asking = self.asking.as_ref()?;
        let held = asking.held.as_ref().map(HeldAnswer::until);
        held.or_else(|| asking.is_asleep().then_some(asking.ready))
    }

    /// An answer was not taken, so another one can be given. True if the card says why.
    pub(super) fn answer_refused(&mut self, why: &str) -> bool {
        let Some(asking) = &mut self.asking else { return false };
        asking.answered = None;
        let Stage::Confirming(confirming) = &mut asking.stage else { return false };
        confirming.entry = Entry::new(asking.keys, "");
        confirming.refused = Some(why.to_owned());
        true
    }

    /// Takes note of what is on the screen of a question. True when with it the whole was.
    pub(super) fn note_painted(&mut self, part: Option<&QuestionPart>) -> bool {
        let Some(asking) = &mut self.asking else { return false };
        asking.is_shown = true;
        part.is_some_and(|part| asking.seen.note(part))
    }

    /// Shows more of a question that was not seen to its end.
    fn show_more(&mut self, key: Key) {
        let Some(asking) = &mut self.asking else { return };
        asking.turned = Some((key, self.now + READ_MORE));
        if asking.seen.is_folded() {
            (asking.is_unfolded, asking.scroll) = (true, 0);
            return;
        }
        let unseen = asking.seen.first_unseen().unwrap_or(0);
        let reach = self.asking.as_ref().map(|asking| reach(asking, &self.room(self.height)));
        if let (Some(asking), Some((furthest, lead))) = (&mut self.asking, reach) {
            asking.scroll = (lead + unseen).min(furthest);
        }
    }

    /// Does what a key does to the question. False if it is none of the question's.
    fn step(&mut self, key: Key, action: Option<Action>) -> bool {
        let Some(asking) = &mut self.asking else { return false };
        if asking.opens_yes(key) && !asking.seen.is_whole() {
            self.show_more(key);
            return true;
        }
        let was_written = asking.stage.entry().is_some();
        let step = asking.key(key, action);
        if !was_written && asking.stage.entry().is_some() {
            asking.open_line(key, self.now);
        }
        match step {
            Step::Stay => {}
            Step::Elsewhere => return false,
            Step::Unknown => {
                if !self.drafts(key)
                    && let Some(asking) = &mut self.asking
                {
                    asking.remark = Some(Remark::NoChoice(key.to_string()));
                }
            }
            Step::Back => {
                (asking.stage, asking.ready) = (Stage::of(&asking.ask.question, asking.keys), self.now);
            }
            Step::Scroll(rows) => self.scroll(rows),
            Step::Answer(answer) if answer.allows() && !asking.seen.is_whole() => self.show_more(key),
            Step::Answer(answer) if asking.lacks_word(&answer) => {
                let entry = Entry::new(asking.keys, "");
                asking.stage = Stage::Confirming(Confirming { entry, answer, refused: None });
                asking.open_line(key, self.now);
            }
            Step::Answer(answer) if !was_written && key.letter().is_some() => {
                asking.held = Some(HeldAnswer::new(key, answer, self.now));
            }
            Step::Answer(answer) => {
                let (session, ask) = (asking.session.clone(), asking.ask.id.clone());
                asking.answered = Some(key);
                self.answer(session, ask, answer);
            }
        }
        true
    }

    /// Takes a paste while words are written for a question. False if none are.
    pub(super) fn answer_paste(&mut self, text: &str) -> bool {
        let Some(asking) = &mut self.asking else { return false };
        if asking.is_drafting || self.held_is_text() {
            return false;
        }
        let Some(asking) = &mut self.asking else { return false };
        match &mut asking.stage {
            Stage::Replying(_) if self.now < asking.ready => return false,
            stage => match stage.entry_mut() {
                Some(entry) => entry.draft.insert_text(text),
                None => return false,
            },
        }
        true
    }

    fn scroll(&mut self, rows: isize) {
        let reach = self.asking.as_ref().map(|asking| reach(asking, &self.room(self.height)));
        if let (Some(asking), Some((furthest, _))) = (&mut self.asking, reach) {
            asking.scroll = asking.scroll.min(furthest).saturating_add_signed(rows).min(furthest);
        }
    }

    /// Answers, and goes on to the next question when the answer is known to count.
    pub(super) fn answer(&mut self, session: SessionId, ask: AskId, answer: Answer) {
        self.wished = match &answer {
            Answer::Allow { grant, .. } => grant.clone(),
            _ => None,
        };
        self.effect(Effect::Send(session, Command::Answer { ask, answer }));
    }
}

/// The effect of a key on a question.
enum Step {
    Stay,
    /// It means nothing here.
    Unknown,
    /// It is for somebody else.
    Elsewhere,
    /// So many rows further down, or up.
    Scroll(isize),
    Answer(Answer),
    /// Back to the choice that this came from.
    Back,
}

impl Stage {
    pub(super) fn of(question: &Question, keys: KeyStyle) -> Self {
        match question {
            Question::Approval(_) => Self::Choosing,
            Question::Batch { approvals } => Self::Picking(vec![true; approvals.len()]),
            Question::Text { .. } => Self::Replying(Entry::new(keys, "")),
        }
    }

    /// The line that is written, if one is.
    pub(super) fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Telling(entry) | Self::Editing(entry) | Self::Replying(entry) => Some(entry),
            Self::Granting(granting) => Some(&granting.entry),
            Self::Confirming(confirming) => Some(&confirming.entry),
            Self::Choosing | Self::Picking(_) => None,
        }
    }

    fn entry_mut(&mut self) -> Option<&mut Entry> {
        match self {
            Self::Telling(entry) | Self::Editing(entry) | Self::Replying(entry) => Some(entry),
            Self::Granting(granting) => Some(&mut granting.entry),
            Self::Confirming(confirming) => Some(&mut confirming.entry),
            Self::Choosing | Self::Picking(_) => None,
        }
    }
}

impl Asking {
    /// Whether keys do nothing yet, as somebody was typing.
    pub(super) fn is_asleep(&self) -> bool {
        self.remark == Some(Remark::Typing)
    }

    /// A key opened a line.
    fn open_line(&mut self, key: Key, now: Instant) {
        (self.ready, self.opened) = (now + READ, Some(key));
        self.fresh = key.letter().map(|_| (key, now));
    }

    fn wake(&mut self, now: Instant) {
        if now >= self.ready && self.is_asleep() {
            self.remark = None;
        }
    }

    /// The message about the last key, and a shorter one for a narrow window.
    pub(super) fn note(&self) -> Option<[String; 2]> {
        match self.remark.as_ref()? {
            Remark::Typing => Some([
                "You were typing. Keys count after a short pause.".to_owned(),
                "You were typing. Pause first.".to_owned(),
            ]),
            Remark::NoChoice(key) => Some([format!("{key} does nothing here."), format!("{key}: no effect")]),
        }
    }

    /// Whether a key that showed more rows is still pressed, or was pressed again before anybody can have read them.
    fn rests(&mut self, key: Key, now: Instant) -> bool {
        let Some((turned, until)) = &mut self.turned else { return false };
        let is_resting = *turned == key && now < *until;
        if is_resting {
            *until = (*until).max(now + READ);
        }
        is_resting
    }

    /// Whether a key leads to an answer that allows something, by itself or through a line.
    fn opens_yes(&self, key: Key) -> bool {
        match (&self.stage, &self.ask.question) {
            (Stage::Choosing, Question::Approval(approval)) => match key.letter() {
                Some('y' | '1') => true,
                Some('a' | '2' | 'p' | '3') => !approval.offers.is_empty(),
                Some('e' | '6') => approval.is_editable,
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether an answer allows something without the word that the question has.
    fn lacks_word(&self, answer: &Answer) -> bool {
        let has_word = matches!(answer, Answer::Allow { word: Some(_), .. });
        self.ask.question.word().is_some() && answer.allows() && !has_word
    }

    fn key(&mut self, key: Key, action: Option<Action>) -> Step {
        // These are about the terminal and what runs, whatever is asked.
        if matches!(action, Some(Action::Cancel | Action::Redraw | Action::Suspend)) {
            return Step::Elsewhere;
        }
        match key.code {
            KeyCode::PageUp => return Step::Scroll(-PAGE),
            KeyCode::PageDown => return Step::Scroll(PAGE),
            _ => {}
        }
        // Esc closes what is open: the details, before it says anything about the question.
        let is_looked_at = matches!(self.stage, Stage::Choosing | Stage::Picking(_));
        if action == Some(Action::Escape) && self.is_expanded && is_looked_at {
            (self.is_expanded, self.scroll) = (false, 0);
            return Step::Stay;
        }
        if matches!(self.stage, Stage::Picking(_))
            && let Some(step) = self.look_at(key, action)
        {
            return step;
        }
        if let (Stage::Replying(entry), Some(action)) = (&mut self.stage, action)
            && let Some(option) = turned(&self.ask.question, entry.draft.shown(), action)
        {
            entry.draft.set(&option);
            return Step::Stay;
        }
        match &mut self.stage {
            Stage::Choosing => self.choose(key, action),
            Stage::Telling(entry) => match entry.key(key, action) {
                Entered::Done(text) => Step::Answer(deny(&text)),
                Entered::Left => Step::Back,
                _ => Step::Stay,
            },
            Stage::Editing(entry) => match entry.key(key, action) {
                // An empty line runs nothing; it may have been cleared by mistake.
                Entered::Done(text) if text.trim().is_empty() => Step::Back,
                Entered::Done(text) => Step::Answer(Answer::edit(text.trim())),
                Entered::Left => Step::Back,
                _ => Step::Stay,
            },
            Stage::Confirming(confirming) => match confirming.entry.key(key, action) {
                Entered::Done(text) if text.trim().is_empty() => Step::Stay,
                Entered::Done(text) => {
                    Step::Answer(confirming.answer.clone().with_word(text.trim().to_ascii_lowercase()))
                }
                Entered::Left => Step::Back,
                _ => Step::Stay,
            },
            Stage::Replying(entry) => match entry.key(key, action) {
                Entered::Done(text) => Step::Answer(crate::asking::answer(&self.ask.question, &text)),
                Entered::Left => Step::Answer(Answer::Deny { reason: None }),
                _ => Step::Stay,
            },
            Stage::Granting(granting) => match &self.ask.question {
                Question::Approval(approval) => grant(granting, approval, key, action),
                _ => Step::Stay,
            },
            Stage::Picking(allowed) => match (action, key.letter()) {
                (Some(Action::Escape), _) | (None, Some('d')) => Step::Answer(Answer::Deny { reason: None }),
                (None, Some('y')) => Step::Answer(each(allowed)),
                (None, Some('n')) => {
                    self.stage = Stage::Telling(Entry::new(self.keys, ""));
                    Step::Stay
                }
                (None, Some(digit @ '1'..='9')) => {
                    if let Some(one) = place(digit).and_then(|place| allowed.get_mut(place)) {
                        *one = !*one;
                    }
                    Step::Stay
                }
                _ => Step::Unknown,
            },
        }
    }

    fn choose(&mut self, key: Key, action: Option<Action>) -> Step {
        let Question::Approval(approval) = &self.ask.question else { return Step::Stay };
        let has_offer = !approval.offers.is_empty();
        if action == Some(Action::Escape) {
            self.stage = Stage::Telling(Entry::new(self.keys, ""));
            return Step::Stay;
        }
        // Digits count the rows of a card of low risk with an offer. At high risk denying comes first, so they would say something else.
        if approval.risk == Risk::High && key.letter().is_some_and(|letter| letter.is_ascii_digit()) {
            return Step::Unknown;
        }
        // Only a key by itself answers: with another one held down it means something else.
        match key.letter() {
            Some('y' | '1') => Step::Answer(Answer::allow()),
            Some('a' | '2') if has_offer => {
                let grant =
                    GrantWish { offer: 0, words: None, scope: GrantScope::Session, seconds: SESSION_SECONDS };
                Step::Answer(Answer::grant(grant))
            }
            Some('p' | '3') if has_offer => {
                if let Some(granting) = Granting::new(approval, self.keys) {
                    self.stage = Stage::Granting(granting);
                }
                Step::Stay
            }
            Some('e' | '6') if approval.is_editable => {
                self.stage = Stage::Editing(Entry::new(self.keys, &approval.action));
                Step::Stay
            }
            Some('d' | '4') => Step::Answer(Answer::Deny { reason: None }),
            Some('n' | '5') => {
                self.stage = Stage::Telling(Entry::new(self.keys, ""));
                Step::Stay
            }
            _ => self.look_at(key, action).unwrap_or(Step::Unknown),
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
}

/// The place that a digit names, counted from nothing.
fn place(digit: char) -> Option<usize> {
    usize::try_from(digit.to_digit(10)?).ok()?.checked_sub(1)
}

/// The lasting grant that the user here wanted and did not get, to be written anew. A user who answers elsewhere continues there.
fn again(question: &Question, wished: Option<&GrantWish>, keys: KeyStyle) -> Option<Granting> {
    let Question::Approval(approval) = question else { return None };
    let unfit = approval.unfit.as_ref().filter(|unfit| Some(&unfit.wish) == wished);
    unfit.map(|unfit| Granting::again(unfit, keys))
}

/// A key in the line of what is to be allowed for longer.
fn grant(granting: &mut Granting, approval: &Approval, key: Key, action: Option<Action>) -> Step {
    if action == Some(Action::Complete) {
        granting.next_offer(approval);
        return Step::Stay;
    }
    match granting.entry.key(key, action) {
        Entered::Done(_) => return granting.answer(approval).map_or(Step::Stay, Step::Answer),
        Entered::Left => return Step::Back,
        Entered::Above => granting.turn(-1),
        Entered::Below => granting.turn(1),
        Entered::Going => {}
    }
    Step::Stay
}

fn deny(text: &str) -> Answer {
    Answer::Deny { reason: Some(text.trim().to_owned()).filter(|text| !text.is_empty()) }
}

fn each(allowed: &[bool]) -> Answer {
    if allowed.iter().all(|is_allowed| *is_allowed) {
        return Answer::allow();
    }
    let answer =
        |&is_allowed: &bool| if is_allowed { Answer::allow() } else { Answer::Deny { reason: None } };
    Answer::Each { answers: allowed.iter().map(answer).collect() }
}
