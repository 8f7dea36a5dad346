//! Sending what runs to the background, so that the prompt is free.
//!
//! A command of the user's own runs beside the turn anyhow; in the background it takes one row and is stopped by its number.
//! A turn goes on in its session as a task, and the conversation goes on in a fork that ends before that turn.

use buddy_protocol::{Command, Content, ForkPoint, SessionId};

use super::branch::{Branch, Purpose};
use super::effect::{ConsoleEffect, Errand};
use super::state::Console;
use super::tasks::OwnAside;
use crate::overview::BeforeCopy;

impl Console {
    /// Sends what runs to the background. False if nothing does.
    pub(super) fn send_to_background(&mut self) -> bool {
        if let Some(item) = self.front().attended_command().map(|item| item.id.clone()) {
            self.count += 1;
            let number = self.count;
            self.front_mut().own_aside = Some(OwnAside { item, number });
            self.say(&format!("task {number} runs in the background: /ps lists it, /kill {number} ends it"));
            return true;
        }
        if self.front().is_idle() {
            return false;
        }
        let session = self.front().session.clone();
        let (point, purpose) = (ForkPoint::Now, Purpose::Background);
        self.errand(Errand::Fork(Branch { session, point, purpose }));
        true
    }

    /// The conversation goes on in a fork; the turn of the one before runs on.
    pub(super) fn left_running(
        &mut self,
        (session, head): (SessionId, u64),
        left: &SessionId,
        before: BeforeCopy,
    ) {
        if self.front().session != *left || self.front().is_idle() {
            // It has ended meanwhile, so there is nothing to make room for.
            self.effect(ConsoleEffect::Leave(session.clone()));
            self.effect(ConsoleEffect::Send(session, Command::End));
            return self.say("it has ended");
        }
        let prompts = self.front().reader.transcript().items().iter().rev();
        let prompt = prompts.into_iter().find_map(|item| match &item.content {
            Content::UserMessage { text, ran: None, .. } => Some(text.clone()),
            _ => None,
        });
        self.count += 1;
        let number = self.count;
        self.front_mut().number = number;
        self.front_mut().prompt = prompt.unwrap_or_default();
        self.opened(session, head);
        (self.front_mut().is_known, self.front_mut().before_copy) = (true, before);
        self.say(&format!(
            "task {number} continues in the background: /ps lists it, /kill {number} ends it\nHere the conversation continues without it"
        ));
    }
}
