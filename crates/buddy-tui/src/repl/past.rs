//! Commands that lead to other conversations, and those of buddy's own that the desk carries out.

use std::collections::HashSet;
use std::fmt::Write;

use buddy_protocol::{ForkKind, ForkPoint, SessionId, SessionQuery, SessionsError, Subscription, Transcript};

use super::Repl;
use crate::branches::{self, Another, Opened, calls_since, forked, prompts};
use crate::console::DeskCommand;
use crate::show::{found_lines, session_lines};
use crate::targets::default_target;
use crate::text::to_copy;
use crate::visible::one_line;

/// Conversations in a list.
const LISTED: usize = 50;
/// Characters of a prompt in a list.
const PROMPT: usize = 100;

impl Repl<'_> {
    /// Carries out a command that is not for this session. False if it is none.
    pub(super) async fn go_elsewhere(&mut self, name: &str, argument: &str) -> Result<bool, SessionsError> {
        if matches!(name, "fork" | "rewind" | "new" | "resume") && !self.is_idle() {
            self.tell("buddy is working. Interrupt it with ctrl-c.");
            return Ok(true);
        }
        match (name, argument.split_once(' ').unwrap_or((argument, ""))) {
            ("quit", _) => self.is_leaving = true,
            ("fork", _) => self.fork(ForkPoint::Now, "This is a copy of the conversation").await?,
            ("rewind", _) => self.rewind(argument).await?,
            ("new", _) | ("session", ("new", "")) => self.begin_anew().await?,
            ("resume", (id, "")) | ("session", ("resume", id)) if !id.is_empty() => self.resume(id).await?,
            ("session", ("" | "list", "")) | ("resume", _) => self.list().await?,
            ("session", ("search", words)) if !words.is_empty() => self.search(words).await?,
            _ => return self.ask_desk(name, argument).await,
        }
        Ok(true)
    }

    /// Goes on in another conversation.
    pub(super) async fn open(&mut self, opened: Opened) -> Result<Subscription, SessionsError> {
        let Opened { session, head, mut events } = opened;
        (self.session, self.transcript) = (session, Transcript::default());
        (self.unseen, self.denied, self.is_denying) = (0, HashSet::new(), false);
        self.catch_up(&mut events, head).await?;
        Ok(events)
    }

    /// Has the desk carry out one of buddy's own commands. False if it is none.
    async fn ask_desk(&mut self, name: &str, argument: &str) -> Result<bool, SessionsError> {
        let Some(command) = DeskCommand::read(name, argument) else {
            return Ok(false);
        };
        let target = default_target(&self.transcript);
        if let Some(progress) = command.progress() {
            self.tell(progress);
        }
        match self.desk.run(&self.session, &target, command).await {
            Ok(text) | Err(text) => self.tell(text.trim_end()),
        }
        Ok(true)
    }

    async fn fork(&mut self, point: ForkPoint, what: &str) -> Result<(), SessionsError> {
        match forked(&*self.sessions, &self.who, &self.session, point, ForkKind::Beside).await {
            Ok(opened) => self.leave_for(opened, what),
            Err(error) => self.tell(&format!("buddy: {error}")),
        }
        Ok(())
    }

    fn leave_for(&mut self, opened: Opened, what: &str) {
        let back = to_copy(&format!("/resume {}", self.session));
        self.tell(&format!("{what}. Return to the one before with {back}"));
        self.next = Some(opened);
    }

    /// Lists the prompts, or goes back before one of them.
    async fn rewind(&mut self, number: &str) -> Result<(), SessionsError> {
        let all: Vec<_> = prompts(&self.transcript)
            .map(|(at, item, text)| (at, item.id.clone(), text.to_owned()))
            .collect();
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        if let Some((at, prompt, text)) = place.and_then(|place| all.get(place).cloned()) {
            let calls = calls_since(&self.transcript, at);
            let changes = self.desk.changes(&calls).await;
            let what = format!("back before: {text}\n{}files stay as they are", branches::changed(changes));
            return self.fork(ForkPoint::Before { prompt }, &what).await;
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
        Ok(())
    }

    async fn begin_anew(&mut self) -> Result<(), SessionsError> {
        let Some(another) = Another::like(&self.transcript) else { return Ok(()) };
        let session = another.begin(&*self.sessions, &self.who).await?;
        let opened = branches::opened(&*self.sessions, &self.who, session).await?;
        self.leave_for(opened, "This is a new conversation");
        Ok(())
    }

    async fn resume(&mut self, id: &str) -> Result<(), SessionsError> {
        let opened = match id.parse::<SessionId>() {
            Ok(session) => branches::opened(&*self.sessions, &self.who, session).await,
            Err(error) => {
                self.tell(&format!("{error}; /session lists them"));
                return Ok(());
            }
        };
        match opened {
            Ok(opened) => self.leave_for(opened, "another conversation"),
            Err(error) => self.tell(&format!("buddy: {error}")),
        }
        Ok(())
    }

    async fn list(&mut self) -> Result<(), SessionsError> {
        let owner = Some(self.who.id.clone());
        let query = SessionQuery { owner, limit: LISTED, ..SessionQuery::default() };
        let sessions = self.sessions.list(&self.who, query).await?.sessions;
        self.tell(session_lines(&sessions).trim_end());
        Ok(())
    }

    async fn search(&mut self, words: &str) -> Result<(), SessionsError> {
        match self.sessions.search(&self.who, words, LISTED).await {
            Ok(found) if found.is_empty() => self.tell("No conversation contains these words."),
            Ok(found) => self.tell(found_lines(&found).trim_end()),
            Err(error) => self.tell(&format!("buddy: {error}")),
        }
        Ok(())
    }
}
