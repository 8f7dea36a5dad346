//! Commands that lead to other conversations, and those of buddy's own that the desk carries out.

use std::collections::HashSet;
use std::fmt::Write;

use buddy_protocol::{ForkKind, ForkPoint, SessionId, SessionQuery, SessionSummary, SessionsError};

use super::Repl;
use super::streamed::StreamedAnswers;
use crate::branches::{self, Another, OpenedSession, fork_session, list_calls_since, list_prompts};
use crate::console::{DeskCommand, SHOWN, SessionTask};
use crate::event_feed::EventFeed;
use crate::show::{render_found_lines, render_session_lines};
use crate::targets::find_default_target;
use crate::text::to_copy;
use crate::visible::one_line;

/// Conversations in a list.
const LISTED: usize = 50;
/// Characters of a prompt in a list.
const PROMPT: usize = 100;

impl Repl<'_> {
    /// Goes on in another conversation.
    pub(super) async fn open(&mut self, opened: OpenedSession) -> Result<EventFeed, SessionsError> {
        let OpenedSession { session, head, mut events, in_use } = opened;
        self.task = SessionTask::new(SHOWN, session, String::new());
        (self.own_commands, self.denied, self.is_denying) = (0, HashSet::new(), false);
        self.answers = StreamedAnswers::default();
        self.catch_up(&mut events, head).await?;
        self.arrive(in_use);
        Ok(events)
    }

    /// Has the desk carry out one of buddy's own commands.
    pub(super) async fn ask_desk(&mut self, command: DeskCommand) {
        let target = find_default_target(self.transcript());
        if let Some(progress) = command.progress() {
            self.tell(progress);
        }
        match self.desk.run(&self.task.session, &target, command).await {
            Ok(text) | Err(text) => self.tell(text.trim_end()),
        }
    }

    /// Whether another conversation can be gone to. Says so if not.
    fn may_leave(&mut self) -> bool {
        if !self.is_idle() {
            self.tell("buddy is working. Interrupt it with ctrl-c.");
        }
        self.is_idle()
    }

    pub(super) async fn fork(&mut self) {
        if self.may_leave() {
            self.fork_at(ForkPoint::Now, "This is a copy of the conversation").await;
        }
    }

    async fn fork_at(&mut self, point: ForkPoint, what: &str) {
        match fork_session(&self.sessions, &self.who, &self.task.session, point, ForkKind::Beside).await {
            Ok(opened) => self.leave_for(opened, what),
            Err(error) => self.tell(&format!("buddy: {error}")),
        }
    }

    fn leave_for(&mut self, opened: OpenedSession, what: &str) {
        let back = to_copy(&format!("/resume {}", self.task.session));
        self.tell(&format!("{what}. Return to the one before with {back}"));
        self.next = Some(opened);
    }

    /// Lists the prompts, or goes back before one of them.
    pub(super) async fn rewind(&mut self, number: &str) {
        if !self.may_leave() {
            return;
        }
        let all: Vec<_> = list_prompts(self.transcript())
            .map(|(at, item, text)| (at, item.id.clone(), text.to_owned()))
            .collect();
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        if let Some((at, prompt, text)) = place.and_then(|place| all.get(place).cloned()) {
            let calls = list_calls_since(self.transcript(), at);
            let changes = self.desk.changes(&calls).await;
            let what = format!(
                "back before: {text}\n{}files stay as they are",
                branches::describe_changed_since(changes)
            );
            return self.fork_at(ForkPoint::Before { prompt }, &what).await;
        }
        let mut text = String::new();
        for (number, (_, _, prompt)) in (1..).zip(&all) {
            let _ = writeln!(text, "{number:>3}. {}", one_line(prompt, PROMPT));
        }
        text.push_str(if all.is_empty() {
            "There is no prompt yet."
        } else {
            "/rewind and a number goes back before it"
        });
        self.tell(&text);
    }

    pub(super) async fn begin_anew(&mut self) -> Result<(), SessionsError> {
        if !self.may_leave() {
            return Ok(());
        }
        let Some(another) = Another::like(self.transcript()) else { return Ok(()) };
        let session = another.begin(&*self.sessions, &self.who).await?;
        let opened = branches::open_session(&self.sessions, &self.who, session).await?;
        self.leave_for(opened, "This is a new conversation");
        Ok(())
    }

    pub(super) async fn resume(&mut self, session: SessionId) {
        if !self.may_leave() {
            return;
        }
        match branches::open_session(&self.sessions, &self.who, session).await {
            Ok(opened) => self.leave_for(opened, "another conversation"),
            Err(error) => self.tell(&format!("buddy: {error}")),
        }
    }

    /// Resumes the conversation that was used last beside this one.
    pub(super) async fn resume_last(&mut self) -> Result<(), SessionsError> {
        let last =
            self.listed().await?.into_iter().map(|summary| summary.id).find(|id| *id != self.task.session);
        match last {
            Some(session) => self.resume(session).await,
            None => self.tell("There is no other conversation."),
        }
        Ok(())
    }

    async fn listed(&self) -> Result<Vec<SessionSummary>, SessionsError> {
        let owner = Some(self.who.id.clone());
        let query = SessionQuery { owner, limit: LISTED, ..SessionQuery::default() };
        Ok(self.sessions.list(&self.who, query).await?.sessions)
    }

    pub(super) async fn list(&mut self) -> Result<(), SessionsError> {
        let sessions = self.listed().await?;
        self.tell(render_session_lines(&sessions).trim_end());
        Ok(())
    }

    pub(super) async fn search(&mut self, words: &str) {
        match self.sessions.search(&self.who, words, LISTED).await {
            Ok(found) if found.is_empty() => self.tell("No conversation contains these words."),
            Ok(found) => self.tell(render_found_lines(&found).trim_end()),
            Err(error) => self.tell(&format!("buddy: {error}")),
        }
    }
}
