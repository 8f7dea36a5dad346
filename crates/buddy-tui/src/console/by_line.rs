//! A conversation line by line: the same console as on a screen. It takes lines instead of keys and tells in sentences instead of
//! rows.
//!
//! Each line of input is one prompt. While a turn runs, a line steers it; while a question waits, a line answers it.

mod driver;
mod lists;
mod printer;
mod streamed;
#[cfg(test)]
mod tests;

use std::time::Duration;

use buddy_protocol::{Command, Event, Fact, Question};

use super::effect::ConsoleEffect;
use super::line_face::{LineFace, LineInput, Pages};
use super::state::{Armed, Console, SECOND_PRESS};
use crate::asking::{ReadLine, read_answer, render_question};
use crate::exit::Exit;
use crate::slash_commands::is_slash_command;
pub use driver::{LineRequest, run_lines};

/// How long a question must have been there before a line allows what it asks for: one that comes sooner was typed before.
const READ: Duration = Duration::from_millis(150);
/// The line that denies everything that waits.
const DENY_ALL: &str = "deny all";
impl Console {
    /// Takes lines and tells in sentences from now on.
    pub(super) fn go_by_line(&mut self, input: LineInput) {
        self.by_line = Some(LineFace::new(input));
    }

    /// Takes a line of input.
    pub(super) fn take_line(&mut self, line: &str) {
        self.armed = None;
        let takes_words =
            self.asking.as_ref().map(|asking| matches!(asking.ask.question, Question::Text { .. }));
        match (takes_words, line) {
            (Some(takes_words), line) if takes_words || !is_slash_command(line) => {
                return self.answer_line(line);
            }
            (_, "") => {}
            (_, "?") => self.show_help(),
            (_, line) => {
                self.note_mentions(line);
                self.enter(line);
            }
        }
        self.put_again();
    }

    /// Takes an interrupt that came as a signal.
    pub(super) fn take_interrupt(&mut self) {
        let armed = self.armed.take().filter(|(_, since)| self.now.duration_since(*since) < SECOND_PRESS);
        let armed = armed.map(|(armed, _)| armed);
        let is_pipe = self.by_line.as_ref().is_some_and(LineFace::is_pipe);
        self.cancel(armed);
        match self.armed {
            Some((Armed::Quit, _)) if is_pipe => self.effect(ConsoleEffect::Quit(Exit::Interrupted)),
            Some((Armed::Quit, _)) => self.say("Press ctrl-c again to leave."),
            _ => {}
        }
    }

    /// No more lines come. Running turns go on to their end, and nobody answers.
    pub(super) fn end_input(&mut self) {
        if let Some(face) = &mut self.by_line {
            face.has_ended = true;
        }
    }

    /// Whether a line can be taken: the past of the conversation is known, and the last answer has been seen.
    pub(super) fn takes_lines(&self) -> bool {
        let is_answering = self.by_line.as_ref().is_some_and(|face| face.answered.is_some());
        self.front().is_taken_up() && !is_answering
    }

    /// Whether nothing runs in the conversation that is shown.
    fn is_quiet(&self) -> bool {
        let front = self.front();
        front.is_idle() && front.own_commands == 0 && (front.is_left || front.reader.own_command().is_none())
    }

    /// The sentences that were not printed yet.
    pub(super) fn take_told(&mut self) -> Vec<String> {
        self.by_line.as_mut().map(|face| std::mem::take(&mut face.told)).unwrap_or_default()
    }

    /// The question that is put, if one is.
    pub(super) fn question(&self) -> Option<&Pages> {
        self.by_line.as_ref()?.pages.as_ref()
    }

    /// The question that is to be printed now.
    pub(super) fn take_question(&mut self) -> Option<String> {
        let face = self.by_line.as_mut()?;
        let is_due = std::mem::take(&mut face.is_question_due);
        face.pages.as_ref().filter(|_| is_due).map(Pages::text)
    }

    /// Whether everything that waits gets the same answer, so that no question is put.
    pub(super) fn answers_all(&self) -> bool {
        self.by_line.as_ref().is_some_and(|face| face.common_answer().is_some())
    }

    /// Puts the question that is asked, or none.
    pub(super) fn put_question_in_lines(&mut self) {
        let Some(face) = &mut self.by_line else { return };
        let Some(asking) = &self.asking else {
            face.pages = None;
            return;
        };
        let ask = &asking.ask;
        if face.pages.as_ref().is_some_and(|pages| pages.ask == ask.id) {
            return;
        }
        let text = render_question(ask, &self.tasks[0].reader.cwd());
        face.pages = Some(match face.input {
            LineInput::Pipe => Pages::whole(ask.id.clone(), text, self.now),
            LineInput::Terminal { .. } => {
                Pages::new(ask.id.clone(), &text, (self.columns, self.height), self.now)
            }
        });
        face.is_question_due = true;
    }

    /// Prints the question again, if one waits.
    fn put_again(&mut self) {
        if let Some(face) = &mut self.by_line {
            face.is_question_due = true;
        }
    }

    fn answer_line(&mut self, line: &str) {
        let (Some(asking), Some(face)) = (&self.asking, &mut self.by_line) else { return };
        if line == DENY_ALL {
            face.is_denying = true;
            return;
        }
        let is_yes = matches!(line, "y" | "Y" | "yes");
        let (session, ask) = (asking.session.clone(), asking.ask.id.clone());
        let answer = match read_answer(&asking.ask.question, line) {
            // Also where a yes needs a word, which stands at the end.
            _ if is_yes && face.pages.as_ref().is_some_and(Pages::has_more) => None,
            ReadLine::Answer(answer) => Some(answer),
            ReadLine::Help(text) => {
                face.tell(&text);
                return self.put_again();
            }
        };
        match answer {
            Some(answer) if !answer.allows() || self.may_allow() => {
                if let Some(face) = &mut self.by_line {
                    face.answered = Some(ask.clone());
                }
                self.answer(session, ask, answer);
            }
            Some(_) => self.put_again(),
            None => {
                self.may_allow();
                self.put_again();
            }
        }
    }

    /// Whether the question was shown to its end, and long enough ago to be read. Turns to its next rows where it was not.
    fn may_allow(&mut self) -> bool {
        let now = self.now;
        let Some(face) = &mut self.by_line else { return false };
        if face.is_pipe() {
            return true;
        }
        let Some(pages) = &mut face.pages else { return false };
        if now.saturating_duration_since(pages.since) < READ {
            face.tell("You typed that before the question appeared, so it allows nothing.");
            return false;
        }
        !pages.turn(now)
    }

    /// An answer was refused: the question waits on.
    pub(super) fn reopen_question(&mut self) {
        let Some(face) = &mut self.by_line else { return };
        (face.answered, face.is_question_due) = (None, true);
        if std::mem::take(&mut face.is_denying) {
            face.settled.clear();
        }
    }

    /// Another conversation is shown.
    pub(super) fn turn_over_lines(&mut self) {
        if let Some(face) = &mut self.by_line {
            (face.answered, face.is_denying) = (None, false);
            face.settled.clear();
        }
    }

    /// Takes note of an event in the conversation that is shown.
    pub(super) fn note_in_lines(&mut self, event: &Event) {
        let Some(face) = &mut self.by_line else { return };
        match &event.fact {
            // The model has answered anew, or is done: what it wants now was not denied yet.
            Fact::UsageReported(_) | Fact::TurnEnded(_) => face.is_denying = false,
            Fact::Answered(answered) => {
                face.answered.take_if(|ask| *ask == answered.ask);
            }
            _ => {}
        }
    }

    /// Gives everything that waits its common answer, and leaves when the input has ended and nothing runs any more.
    pub(super) fn settle_lines(&mut self) {
        let Some(face) = &mut self.by_line else { return };
        if let Some(answer) = face.common_answer() {
            let waiting = self.tasks.iter().filter(|task| face.is_denying || !task.is_in_use);
            let waiting = waiting.flat_map(|task| {
                task.reader.transcript().asks().iter().map(|ask| (task.session.clone(), ask.id.clone()))
            });
            let waiting: Vec<_> = waiting.filter(|(_, ask)| face.settled.insert(ask.clone())).collect();
            for (session, ask) in waiting {
                self.effect(ConsoleEffect::Send(session, Command::Answer { ask, answer: answer.clone() }));
            }
        }
        let has_ended = self.by_line.as_ref().is_some_and(|face| face.has_ended);
        // The work of another process is not waited for.
        let is_done = self.tasks.iter().all(|task| task.is_in_use || task.is_idle());
        if has_ended && is_done && self.takes_lines() && (self.is_quiet() || self.front().is_in_use) {
            self.effect(ConsoleEffect::Quit(Exit::Ok));
        }
    }
}
