//! Which question is put, and the keys and pastes that go to it.

use std::time::{Duration, Instant};

use buddy_protocol::{Answer, AskId, Command, GrantWish, Question, SessionId};

use super::approval::measure_reach;
use super::asks::{AskStage, AskStep, Asking, Confirming, READ, Remark};
use super::effect::ConsoleEffect;
use super::granting::Granting;
use super::held_answer::HeldAnswer;
use super::state::Console;
use crate::editor::{EditAction, EditorKey, KeyStyle, LineEntry};
use crate::screen::{QuestionPart, SeenRows};

/// How long somebody who types must pause before a key answers.
const PAUSE: Duration = Duration::from_millis(500);
/// How long the key that showed more rows must rest before it does so again or allows: longer than keys wait before they repeat.
const READ_MORE: Duration = Duration::from_millis(600);

impl Console {
    /// Takes up the oldest question if none is put, and drops one that was answered elsewhere.
    pub(super) fn put_question(&mut self) {
        self.find_question();
        self.put_question_in_lines();
    }

    fn find_question(&mut self) {
        if self.answers_all() {
            self.asking = None;
            return;
        }
        if let Some(asking) = &self.asking {
            let id = &asking.ask.id;
            if self.tasks.iter().any(|task| task.reader.transcript().is_waiting(id)) {
                return;
            }
            self.asking = None;
        }
        let waiting = self.tasks.iter().find_map(|task| {
            // A question of the past is answered further on in the past.
            let transcript = Some(task.reader.transcript()).filter(|_| task.is_taken_up())?;
            let ask = transcript.asks().first()?;
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
        let stage = again.map_or_else(|| AskStage::of(&ask.question, keys), AskStage::Granting);
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
            seen: SeenRows::default(),
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
    pub(super) fn answer_key(&mut self, key: EditorKey) -> bool {
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
        if action == Some(EditAction::Cancel) {
            return self.step(key, action);
        }
        asking.wake(self.now);
        if let Some(is_taken) = self.text_key(key, action) {
            return is_taken;
        }
        let Some(asking) = &mut self.asking else { return false };
        match asking.stage {
            AskStage::Choosing | AskStage::Picking(_) | AskStage::Replying(_) => {
                if !asking.is_shown || self.now < asking.ready {
                    // A user who goes on typing still has not read it.
                    (asking.ready, asking.remark) = (self.now + PAUSE, Some(Remark::Typing));
                    return !Asking::writes_on(key, action);
                }
            }
            // The letter that led here may have been held down for too long.
            AskStage::Granting(_) | AskStage::Editing(_) | AskStage::Confirming(_)
                if self.now < asking.ready && asking.opened == Some(key) =>
            {
                asking.ready = self.now + READ;
                return true;
            }
            AskStage::Granting(_) | AskStage::Telling(_) | AskStage::Editing(_) | AskStage::Confirming(_) => {
            }
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
        let AskStage::Confirming(confirming) = &mut asking.stage else { return false };
        confirming.entry = LineEntry::new(asking.keys, "");
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
    fn show_more(&mut self, key: EditorKey) {
        let Some(asking) = &mut self.asking else { return };
        asking.turned = Some((key, self.now + READ_MORE));
        if asking.seen.is_folded() {
            (asking.is_unfolded, asking.scroll) = (true, 0);
            return;
        }
        let unseen = asking.seen.first_unseen().unwrap_or(0);
        let reach = self.asking.as_ref().map(|asking| measure_reach(asking, &self.room(self.height)));
        if let (Some(asking), Some((furthest, lead))) = (&mut self.asking, reach) {
            asking.scroll = (lead + unseen).min(furthest);
        }
    }

    /// Does what a key does to the question. False if it is none of the question's.
    fn step(&mut self, key: EditorKey, action: Option<EditAction>) -> bool {
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
            AskStep::Stay => {}
            AskStep::Elsewhere => return false,
            AskStep::Unknown => {
                if !self.drafts(key)
                    && let Some(asking) = &mut self.asking
                {
                    asking.remark = Some(Remark::NoChoice(key.to_string()));
                }
            }
            AskStep::NoChoice => asking.remark = Some(Remark::NoChoice(key.to_string())),
            AskStep::Back => {
                (asking.stage, asking.ready) = (AskStage::of(&asking.ask.question, asking.keys), self.now);
            }
            AskStep::Scroll(rows) => self.scroll(rows),
            AskStep::Answer(answer) if answer.allows() && !asking.seen.is_whole() => self.show_more(key),
            AskStep::Answer(answer) if asking.lacks_word(&answer) => {
                let entry = LineEntry::new(asking.keys, "");
                asking.stage = AskStage::Confirming(Confirming { entry, answer, refused: None });
                asking.open_line(key, self.now);
            }
            AskStep::Answer(answer) if !was_written && key.letter().is_some() => {
                asking.held = Some(HeldAnswer::new(key, answer, self.now));
            }
            AskStep::Answer(answer) => {
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
            AskStage::Replying(_) if self.now < asking.ready => return false,
            stage => match stage.entry_mut() {
                Some(entry) => entry.draft.insert_text(text),
                None => return false,
            },
        }
        true
    }

    fn scroll(&mut self, rows: isize) {
        let reach = self.asking.as_ref().map(|asking| measure_reach(asking, &self.room(self.height)));
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
        self.effect(ConsoleEffect::Send(session, Command::Answer { ask, answer }));
    }
}

/// The lasting grant that the user here wanted and did not get, to be written anew. A user who answers elsewhere continues there.
fn again(question: &Question, wished: Option<&GrantWish>, keys: KeyStyle) -> Option<Granting> {
    let Question::Approval(approval) = question else { return None };
    let unfit = approval.unfit.as_ref().filter(|unfit| Some(&unfit.wish) == wished);
    unfit.map(|unfit| Granting::again(unfit, keys))
}
