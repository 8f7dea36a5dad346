//! Text that is typed while a question is open.
//!
//! A key answers only if it stands alone. An answer that a letter gives is held back for a moment: a letter that follows within it
//! makes both of them text. So does one right after a letter that opened a line. Text goes to the draft, which is shown below the card,
//! until it is sent or cleared, or until escape leads back to the question.

use crossterm::event::KeyCode;

use super::asks::{AskStage, Asking};
use super::held_answer::{ALONE, HeldAnswer};
use super::state::Console;
use crate::editor::{EditAction, EditorKey};

impl Console {
    /// Takes a key that may be text. None if it is not, and the question decides.
    pub(super) fn text_key(&mut self, key: EditorKey, action: Option<EditAction>) -> Option<bool> {
        let asking = self.asking.as_mut()?;
        asking.is_drafting &= !self.draft.is_empty();
        if asking.is_drafting {
            let is_left = action == Some(EditAction::Escape);
            if is_left {
                asking.is_drafting = false;
                self.completion = None;
            }
            return Some(is_left);
        }
        if let Some(held) = asking.held.take() {
            return Some(self.follow_held(held, key, action));
        }
        let opened = asking.fresh.take().filter(|(_, since)| self.now < *since + ALONE);
        if let (Some((opened, _)), Some(_)) = (opened, key.letter())
            && opened != key
        {
            asking.stage = AskStage::of(&asking.ask.question, asking.keys);
            self.begin_draft(&[opened, key]);
            return Some(true);
        }
        None
    }

    /// Takes the key after one that answers.
    fn follow_held(&mut self, held: HeldAnswer, key: EditorKey, action: Option<EditAction>) -> bool {
        let is_repeated = key == held.key;
        if key.letter().is_some() && !is_repeated {
            self.begin_draft(&[held.key, key]);
            return true;
        }
        if action == Some(EditAction::Escape) {
            return true;
        }
        self.send_held(held);
        is_repeated || action == Some(EditAction::Submit)
    }

    /// Makes a held answer text, as a paste follows it. False if none is held.
    pub(super) fn held_is_text(&mut self) -> bool {
        let held = self.asking.as_mut().and_then(|asking| asking.held.take());
        held.is_some_and(|held| {
            self.begin_draft(&[held.key]);
            true
        })
    }

    /// Sends an answer that stood alone for long enough.
    pub(super) fn release_answer(&mut self) {
        let now = self.now;
        let Some(asking) = &mut self.asking else { return };
        if asking.held.as_ref().is_some_and(|held| held.until <= now)
            && let Some(held) = asking.held.take()
        {
            self.send_held(held);
        }
    }

    fn send_held(&mut self, held: HeldAnswer) {
        let Some(asking) = &mut self.asking else { return };
        asking.answered = Some(held.key);
        let (session, ask) = (asking.session.clone(), asking.ask.id.clone());
        self.answer(session, ask, held.answer);
    }

    /// Whether a key that is none of the question's goes to the draft. A letter begins one.
    pub(super) fn drafts(&mut self, key: EditorKey) -> bool {
        if key.letter().is_some() {
            self.begin_draft(&[key]);
            return true;
        }
        let is_kept = !self.draft.is_empty() && key.code == KeyCode::Backspace;
        if is_kept && let Some(asking) = &mut self.asking {
            asking.is_drafting = true;
            self.draft.carry_out(EditAction::Backspace);
            self.changed_draft();
        }
        is_kept
    }

    /// Writes letters that were typed at a question into the draft.
    fn begin_draft(&mut self, keys: &[EditorKey]) {
        if let Some(vim) = &mut self.vim {
            vim.begin();
        }
        keys.iter().filter_map(|key| key.letter()).for_each(|letter| self.draft.insert(letter));
        self.changed_draft();
        if let Some(asking) = &mut self.asking {
            (asking.is_drafting, asking.remark) = (true, None);
        }
    }
}

impl Asking {
    /// Whether a key of somebody who was typing goes on with the draft.
    pub(super) fn writes_on(key: EditorKey, action: Option<EditAction>) -> bool {
        let edits = [
            EditAction::Submit,
            EditAction::Newline,
            EditAction::Left,
            EditAction::Right,
            EditAction::WordLeft,
            EditAction::WordRight,
            EditAction::LineStart,
            EditAction::LineEnd,
            EditAction::Backspace,
            EditAction::Delete,
            EditAction::CutWordLeft,
            EditAction::CutToSpace,
            EditAction::CutWordRight,
            EditAction::CutToLineStart,
            EditAction::CutToLineEnd,
            EditAction::PutBack,
        ];
        action.map_or(key.letter().is_some(), |action| edits.contains(&action))
    }
}
