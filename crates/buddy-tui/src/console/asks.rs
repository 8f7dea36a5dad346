//! The question that is put, and which key answers it how.
//!
//! A key counts from the moment on that the question is on the screen. Who was typing in the half second before that has not
//! read it: then the question says so, and keys go on with the draft until the user has paused. A key answers only if it stands alone;
//! other letters are text (`card_text.rs`), and any other key that means nothing here is told.
//!
//! No key allows what was not on the screen: while rows of a question are folded or beyond the window, a key that would allow
//! it shows the next of them instead. A question with a word is allowed by writing that word, which no key does.

use std::time::{Duration, Instant};

use buddy_protocol::{Answer, Approval, Ask, GrantScope, GrantWish, Question, Risk, SessionId};
use crossterm::event::KeyCode;

use super::granting::{Granting, SESSION_SECONDS};
use super::held_answer::HeldAnswer;
use super::options::turn_option;
use crate::editor::{EditAction, EditorKey, Entered, KeyStyle, LineEntry};
use crate::screen::SeenRows;

/// How long a letter that opened a line may be held down before it is written into it.
pub(super) const READ: Duration = Duration::from_millis(150);
/// Rows that a page key goes.
const PAGE: isize = 10;

/// The question that is put.
#[derive(Debug)]
pub(super) struct Asking {
    pub(super) session: SessionId,
    pub(super) ask: Ask,
    /// From when on keys answer it.
    pub(super) ready: Instant,
    /// Whether it was on the screen.
    pub(super) is_shown: bool,
    /// The message about the last key.
    pub(super) remark: Option<Remark>,
    /// The key that opened the line that is written.
    pub(super) opened: Option<EditorKey>,
    /// The same and when, until another key is pressed.
    pub(super) fresh: Option<(EditorKey, Instant)>,
    /// The answer of a key that may yet be text.
    pub(super) held: Option<HeldAnswer>,
    /// Whether keys go to the draft.
    pub(super) is_drafting: bool,
    /// The key that it was answered with. What comes of that is still to be told.
    pub(super) answered: Option<EditorKey>,
    /// Whether all of a question that does not fit is shown, a part at a time.
    pub(super) is_unfolded: bool,
    /// Whether everything that is known is told with it.
    pub(super) is_expanded: bool,
    /// The rows of it that were on the screen.
    pub(super) seen: SeenRows,
    /// The key that showed more of it, and from when on it does something again.
    pub(super) turned: Option<(EditorKey, Instant)>,
    /// The first row of it that is shown where not all of it fits.
    pub(super) scroll: usize,
    pub(super) stage: AskStage,
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
pub(super) enum AskStage {
    /// One key decides.
    Choosing,
    /// Words for the agent, instead of a yes.
    Telling(LineEntry),
    /// Another command instead of this one.
    Editing(LineEntry),
    /// The word that makes an answer count.
    Confirming(Confirming),
    /// A lasting grant and its scope.
    Granting(Granting),
    /// An answer in words or by a number.
    Replying(LineEntry),
    /// Some of many: which are allowed.
    Picking(Vec<bool>),
}

/// An answer that waits for the word of its question.
#[derive(Debug)]
pub(super) struct Confirming {
    pub(super) entry: LineEntry,
    pub(super) answer: Answer,
    /// Why the last word did not count.
    pub(super) refused: Option<String>,
}

/// The effect of a key on a question.
pub(super) enum AskStep {
    Stay,
    /// It means nothing here.
    Unknown,
    /// It answers nothing, and begins no draft.
    NoChoice,
    /// It is for somebody else.
    Elsewhere,
    /// So many rows further down, or up.
    Scroll(isize),
    Answer(Answer),
    /// Back to the choice that this came from.
    Back,
}

impl AskStage {
    pub(super) fn of(question: &Question, keys: KeyStyle) -> Self {
        match question {
            Question::Approval(_) => Self::Choosing,
            Question::Batch { approvals } => Self::Picking(vec![true; approvals.len()]),
            Question::Text { .. } => Self::Replying(LineEntry::new(keys, "")),
        }
    }

    /// The line that is written, if one is.
    pub(super) fn entry(&self) -> Option<&LineEntry> {
        match self {
            Self::Telling(entry) | Self::Editing(entry) | Self::Replying(entry) => Some(entry),
            Self::Granting(granting) => Some(&granting.entry),
            Self::Confirming(confirming) => Some(&confirming.entry),
            Self::Choosing | Self::Picking(_) => None,
        }
    }

    pub(super) fn entry_mut(&mut self) -> Option<&mut LineEntry> {
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
    pub(super) fn open_line(&mut self, key: EditorKey, now: Instant) {
        (self.ready, self.opened) = (now + READ, Some(key));
        self.fresh = key.letter().map(|_| (key, now));
    }

    pub(super) fn wake(&mut self, now: Instant) {
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
    pub(super) fn rests(&mut self, key: EditorKey, now: Instant) -> bool {
        let Some((turned, until)) = &mut self.turned else { return false };
        let is_resting = *turned == key && now < *until;
        if is_resting {
            *until = (*until).max(now + READ);
        }
        is_resting
    }

    /// Whether a key leads to an answer that allows something, by itself or through a line.
    pub(super) fn opens_yes(&self, key: EditorKey) -> bool {
        match (&self.stage, &self.ask.question) {
            (AskStage::Choosing, Question::Approval(approval)) => match key.letter() {
                Some('y' | '1') => true,
                Some('a' | '2' | 'p' | '3') => !approval.offers.is_empty(),
                Some('e' | '6') => approval.is_editable,
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether an answer allows something without the word that the question has.
    pub(super) fn lacks_word(&self, answer: &Answer) -> bool {
        let has_word = matches!(answer, Answer::Allow { word: Some(_), .. });
        self.ask.question.word().is_some() && answer.allows() && !has_word
    }

    pub(super) fn key(&mut self, key: EditorKey, action: Option<EditAction>) -> AskStep {
        // These are about the terminal and what runs, whatever is asked.
        if matches!(action, Some(EditAction::Cancel | EditAction::Redraw | EditAction::Suspend)) {
            return AskStep::Elsewhere;
        }
        match key.code {
            KeyCode::PageUp => return AskStep::Scroll(-PAGE),
            KeyCode::PageDown => return AskStep::Scroll(PAGE),
            _ => {}
        }
        // Esc closes what is open: the details, before it says anything about the question.
        let is_looked_at = matches!(self.stage, AskStage::Choosing | AskStage::Picking(_));
        if action == Some(EditAction::Escape) && self.is_expanded && is_looked_at {
            (self.is_expanded, self.scroll) = (false, 0);
            return AskStep::Stay;
        }
        if matches!(self.stage, AskStage::Picking(_))
            && let Some(step) = self.look_at(key, action)
        {
            return step;
        }
        if let (AskStage::Replying(entry), Some(action)) = (&mut self.stage, action)
            && let Some(option) = turn_option(&self.ask.question, entry.draft.shown(), action)
        {
            entry.draft.set(&option);
            return AskStep::Stay;
        }
        match &mut self.stage {
            AskStage::Choosing => self.choose(key, action),
            AskStage::Telling(entry) => match entry.key(key, action) {
                Entered::Done(text) => AskStep::Answer(deny(&text)),
                Entered::Left => AskStep::Back,
                _ => AskStep::Stay,
            },
            AskStage::Editing(entry) => match entry.key(key, action) {
                // An empty line runs nothing; it may have been cleared by mistake.
                Entered::Done(text) if text.trim().is_empty() => AskStep::Back,
                Entered::Done(text) => AskStep::Answer(Answer::edit(text.trim())),
                Entered::Left => AskStep::Back,
                _ => AskStep::Stay,
            },
            AskStage::Confirming(confirming) => match confirming.entry.key(key, action) {
                Entered::Done(text) if text.trim().is_empty() => AskStep::Stay,
                Entered::Done(text) => {
                    AskStep::Answer(confirming.answer.clone().with_word(text.trim().to_ascii_lowercase()))
                }
                Entered::Left => AskStep::Back,
                _ => AskStep::Stay,
            },
            AskStage::Replying(entry) => match entry.key(key, action) {
                Entered::Done(text) => AskStep::Answer(crate::asking::read_reply(&self.ask.question, &text)),
                Entered::Left => AskStep::Answer(Answer::Deny { reason: None }),
                _ => AskStep::Stay,
            },
            AskStage::Granting(granting) => match &self.ask.question {
                Question::Approval(approval) => grant(granting, approval, key, action),
                _ => AskStep::Stay,
            },
            AskStage::Picking(allowed) => match (action, key.letter()) {
                (Some(EditAction::Escape), _) | (None, Some('d')) => {
                    AskStep::Answer(Answer::Deny { reason: None })
                }
                (None, Some('y')) => AskStep::Answer(each(allowed)),
                (None, Some('n')) => {
                    self.stage = AskStage::Telling(LineEntry::new(self.keys, ""));
                    AskStep::Stay
                }
                (None, Some(digit @ '1'..='9')) => {
                    if let Some(one) = place(digit).and_then(|place| allowed.get_mut(place)) {
                        *one = !*one;
                    }
                    AskStep::Stay
                }
                _ => AskStep::Unknown,
            },
        }
    }

    fn choose(&mut self, key: EditorKey, action: Option<EditAction>) -> AskStep {
        let Question::Approval(approval) = &self.ask.question else { return AskStep::Stay };
        let has_offer = !approval.offers.is_empty();
        if action == Some(EditAction::Escape) {
            self.stage = AskStage::Telling(LineEntry::new(self.keys, ""));
            return AskStep::Stay;
        }
        // Digits count the rows of a card of low risk with an offer. At high risk denying comes first, so they would say something else.
        if approval.risk == Risk::High && key.letter().is_some_and(|letter| letter.is_ascii_digit()) {
            return AskStep::NoChoice;
        }
        // Only a key by itself answers: with another one held down it means something else.
        match key.letter() {
            Some('y' | '1') => AskStep::Answer(Answer::allow()),
            Some('a' | '2') if has_offer => {
                let grant =
                    GrantWish { offer: 0, words: None, scope: GrantScope::Session, seconds: SESSION_SECONDS };
                AskStep::Answer(Answer::grant(grant))
            }
            Some('p' | '3') if has_offer => {
                if let Some(granting) = Granting::new(approval, self.keys) {
                    self.stage = AskStage::Granting(granting);
                }
                AskStep::Stay
            }
            Some('e' | '6') if approval.is_editable => {
                self.stage = AskStage::Editing(LineEntry::new(self.keys, &approval.action));
                AskStep::Stay
            }
            Some('d' | '4') => AskStep::Answer(Answer::Deny { reason: None }),
            Some('n' | '5') => {
                self.stage = AskStage::Telling(LineEntry::new(self.keys, ""));
                AskStep::Stay
            }
            _ => self.look_at(key, action).unwrap_or(AskStep::Unknown),
        }
    }

    /// A key that shows more of the question.
    fn look_at(&mut self, key: EditorKey, action: Option<EditAction>) -> Option<AskStep> {
        match (key.letter(), action) {
            (_, Some(EditAction::Up)) => Some(AskStep::Scroll(-1)),
            (_, Some(EditAction::Down)) => Some(AskStep::Scroll(1)),
            (Some('?'), _) | (_, Some(EditAction::LineStart | EditAction::Expand)) => {
                self.is_expanded = !self.is_expanded;
                self.scroll = 0;
                Some(AskStep::Stay)
            }
            _ => None,
        }
    }
}

/// The place that a digit names, counted from nothing.
fn place(digit: char) -> Option<usize> {
    usize::try_from(digit.to_digit(10)?).ok()?.checked_sub(1)
}

/// A key in the line of what is to be allowed for longer.
fn grant(
    granting: &mut Granting,
    approval: &Approval,
    key: EditorKey,
    action: Option<EditAction>,
) -> AskStep {
    if action == Some(EditAction::Complete) {
        granting.next_offer(approval);
        return AskStep::Stay;
    }
    match granting.entry.key(key, action) {
        Entered::Done(_) => return granting.answer(approval).map_or(AskStep::Stay, AskStep::Answer),
        Entered::Left => return AskStep::Back,
        Entered::Above => granting.turn(-1),
        Entered::Below => granting.turn(1),
        Entered::Going => {}
    }
    AskStep::Stay
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
