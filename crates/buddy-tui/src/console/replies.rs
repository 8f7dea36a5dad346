//! Results of effects, and the ends of turns.

use std::collections::VecDeque;
use std::time::Duration;

use buddy_protocol::{Command, Content, SessionId, TurnOutcome};

use super::effect::{ConsoleEffect, EffectReply, Errand, Focus};
use super::items;
use super::past::describe_resume;
use super::state::{Console, Paths};
use super::tasks::{SHOWN, SessionTask, name_task};
use crate::markdown::Markdown;
use crate::mentions::write_mention;
use crate::text::{Paint, StyledLine, wrap_unindented};

/// From when on the end of a turn is told to somebody who looks elsewhere.
const LONG_SECONDS: u64 = 10;

impl Console {
    pub(super) fn reply(&mut self, reply: EffectReply) {
        match reply {
            EffectReply::Refused(text) => {
                let is_on_card = self.answer_refused(&text);
                self.reopen_question();
                (self.front_mut().unseen, self.front_mut().own_commands) = (0, 0);
                self.front_mut().steered.clear();
                if !is_on_card {
                    self.complain(&format!("buddy: {text}"));
                }
            }
            EffectReply::Sent(session) => {
                for task in self.tasks.iter_mut().filter(|task| task.session == session) {
                    task.is_in_use = false;
                }
            }
            EffectReply::Unsent { session, text, reason } => self.unsent(&session, &text, &reason),
            EffectReply::PastedImage(path) => {
                self.mention(&(write_mention(&path) + " "));
                self.changed_draft();
            }
            EffectReply::Failed(text) => self.complain(&text),
            EffectReply::OwnerGone { session, head } => self.owner_is_gone(&session, head),
            EffectReply::Begun { session, head, prompt } => self.begun(session, head, prompt),
            EffectReply::Opened { session, head, in_use } => {
                let left = self.front().session.clone();
                self.opened(session, head);
                self.tell_opened(head, &left);
                self.note_in_use(in_use);
            }
            EffectReply::Forked(branched) => self.forked(branched),
            EffectReply::Found(found) => self.offer_found(&found),
            EffectReply::Sessions { sessions, now } => self.offer_sessions(&sessions, now),
            EffectReply::Models(models) => self.offer_models(&models),
            EffectReply::Paths(paths) => {
                self.paths = Paths::Known(paths);
                self.changed_draft();
            }
            EffectReply::Surroundings(surroundings) => self.surroundings = surroundings,
            EffectReply::Status(said) => {
                if let Some(failure) = self.own_status.take_text(said) {
                    self.complain(&format!("display.status_command: {failure}"));
                }
            }
            EffectReply::Said(text) => {
                self.say_plain(&text);
                if !text.is_empty() {
                    // A command of buddy's own can change what holds, such as trust.
                    self.errand(Errand::LookAround);
                }
            }
            EffectReply::Changes(text) => self.show_changes(&text),
            EffectReply::CountedChanges(turn, changes) => self.tell_command_changes(&turn, changes),
            EffectReply::Undone(said) => self.undo_ended(said),
            EffectReply::LoggedIn(Some(model)) | EffectReply::ModelFound(model) => self.use_model(&model),
            EffectReply::LoggedIn(None) | EffectReply::OwnerWorks => {}
            EffectReply::Edited(text) => {
                let text = text.trim_end_matches('\n');
                // A draft that was only looked at stays as short as it was.
                if text != self.draft.whole().trim_end_matches('\n') {
                    self.draft.set(text);
                    self.changed_draft();
                }
            }
        }
    }

    /// A task of its own runs in a session.
    fn begun(&mut self, session: SessionId, head: u64, prompt: String) {
        self.count += 1;
        let mut task = SessionTask::new(self.count, session, prompt.clone());
        (task.unseen, task.skip_until) = (1, head);
        self.say(&format!("task {} runs in the background", self.count));
        self.effect(ConsoleEffect::Send(task.session.clone(), Command::prompt(prompt)));
        self.tasks.push(task);
    }

    /// A prompt was refused: it comes back into the draft, and a task that was to begin with it is gone.
    fn unsent(&mut self, session: &SessionId, text: &str, reason: &str) {
        self.complain(&format!("buddy: {reason}"));
        if self.draft.is_empty() {
            self.bring_back(text);
        }
        let Some(place) = self.tasks.iter().position(|task| task.session == *session) else { return };
        let task = &mut self.tasks[place];
        task.unseen = task.unseen.saturating_sub(1);
        task.forget_steer(text);
        if place > 0 && task.is_idle() {
            self.tasks.remove(place);
            self.effect(ConsoleEffect::Leave(session.clone()));
        }
    }

    /// Another conversation is shown from now on. The one before goes on as a task if it runs.
    pub(super) fn opened(&mut self, session: buddy_protocol::SessionId, head: u64) {
        // Finished rows of the one before are shown before it is left.
        self.settle_calls();
        let rows = self.take_rows();
        self.show(rows);
        let known = self.tasks.iter().position(|task| task.session == session);
        let queue = known.map_or_else(VecDeque::new, |place| self.tasks.remove(place).queue);
        let front =
            SessionTask { skip_until: head, queue, ..SessionTask::new(SHOWN, session, String::new()) };
        let mut left = std::mem::replace(&mut self.tasks, vec![front]);
        let mut waiting = Vec::new();
        for task in left.drain(..) {
            if task.is_idle() {
                self.effect(ConsoleEffect::Leave(task.session));
            } else {
                let prompt = if task.prompt.is_empty() {
                    "another conversation".to_owned()
                } else {
                    task.prompt.clone()
                };
                let number = if task.number == SHOWN { self.count + 1 } else { task.number };
                self.count = self.count.max(number);
                for line in &task.queue {
                    let line = line.lines().next().unwrap_or_default();
                    waiting
                        .push(format!("This prompt waits for {} and goes to it: {line}", name_task(number)));
                }
                self.tasks.push(SessionTask { number, prompt, ..task });
            }
        }
        for text in waiting {
            self.say(&text);
        }
        self.asking = None;
        self.paths = Paths::Unknown;
        self.forget_approvals();
        self.turn_over_lines();
    }

    /// Says which conversation is shown. Line by line nothing else shows it, nor the way back.
    fn tell_opened(&mut self, head: u64, left: &SessionId) {
        let what = if head == 0 { "This is a new conversation." } else { "This is another conversation." };
        if self.by_line.is_some() {
            self.say(&format!("{what} Return to the one before with {}", describe_resume(left)));
        } else if head == 0 {
            self.say(what);
        }
    }

    /// Says who works on the conversation that is shown, if another process does.
    pub(super) fn note_in_use(&mut self, in_use: Option<String>) {
        self.front_mut().is_in_use = in_use.is_some();
        self.owner_looked = None;
        if let Some(text) = in_use {
            self.say_on_arrival(text);
        }
    }

    /// A turn has ended: the next prompt in the queue is said; a task beside the conversation is told and gone.
    pub(super) fn turn_ended(&mut self, place: usize, ran: Option<Duration>) {
        let (look, columns) = (self.look.clone(), self.columns);
        if place == 0 && self.by_line.is_some() {
            return self.enter_queued();
        }
        let task = &mut self.tasks[place];
        if place == 0 {
            let used = look.details.tokens(&task.billed.usage, &task.reader.transcript().bill().usage);
            // Behind the end of the answer.
            let finished = task.reader.take_rows(&look, columns, 0);
            self.show(finished);
            self.show(used.map(|text| StyledLine::styled(&text, look.style(Paint::Dim))));
            if !self.ask_command_changes(ran) {
                let rows = self.turn_end_rows(ran, 0);
                self.show(rows);
            }
            // A line that is no prompt starts no turn, so the next one need not wait for its end.
            self.enter_queued();
            if !self.front().is_idle() {
                return;
            }
            self.errand(Errand::LookAround);
            // The agent may have made files.
            self.paths = Paths::Unknown;
            let is_elsewhere = self.focus == Focus::Elsewhere;
            self.is_done_unseen = is_elsewhere;
            if is_elsewhere || ran.is_some_and(|ran| ran.as_secs() >= LONG_SECONDS) {
                self.ring("buddy is done");
            }
            return;
        }
        let mut task = self.tasks.remove(place);
        self.tell_result(&task);
        if let Some(next) = task.queue.pop_front() {
            // Each answer stands below its own prompt.
            task.prompt.clone_from(&next);
            task.unseen += 1;
            let session = task.session.clone();
            self.tasks.insert(place, task);
            return self.effect(ConsoleEffect::Send(session, Command::prompt(next)));
        }
        self.say(&format!("Resume it with {}", describe_resume(&task.session)));
        self.effect(ConsoleEffect::Leave(task.session));
        self.ring(&format!("task {} is done", task.number));
    }

    fn tell_result(&mut self, task: &SessionTask) {
        // The command that stopped the task stands above its end.
        self.put_echo();
        let transcript = task.reader.transcript();
        let outcome = transcript.last_turn().map(|turn| turn.outcome);
        let how = match outcome {
            Some(TurnOutcome::Completed) => "done",
            Some(TurnOutcome::Interrupted) => "stopped",
            _ => "failed",
        };
        let line = task.prompt.lines().next().unwrap_or_default();
        let style = self.look.style(Paint::Strong);
        let head = StyledLine::styled(&format!("task {} {how}: {line}", task.number), style);
        let rows = wrap_unindented(&head, self.columns);
        self.show(std::iter::once(StyledLine::default()).chain(rows));
        if let Some(failure) = transcript.last_turn().and_then(|turn| turn.failure.clone()) {
            self.complain(&failure.message);
        }
        let turn = transcript.last_turn().map(|turn| &turn.turn);
        // A message from before the task is not its answer.
        let own = transcript.items().iter().rev().take_while(|item| item.turn.as_ref() == turn);
        let answer = own.into_iter().find_map(|item| match &item.content {
            Content::AgentMessage { text } => Some(text.as_str()),
            _ => None,
        });
        if let Some(text) = answer {
            let mut markdown = Markdown::default();
            markdown.push(text);
            let rows = markdown.finish(&self.look, items::prose_width(self.columns));
            let rows = items::put_behind_gutter(rows, items::Gutter::Lamp, &self.look);
            self.show(rows);
        }
    }
}
