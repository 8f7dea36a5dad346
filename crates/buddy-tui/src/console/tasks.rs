//! Tasks: the conversation that is shown, and those that run beside it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use buddy_protocol::{Bill, Command, Content, Event, Fact, Item, ItemId, SessionId};

use super::reader::SessionReader;
use crate::overview::BeforeCopy;

/// The most prompts that wait for the end of a turn.
pub(crate) const MAX_QUEUED: usize = 50;

/// The number of the conversation that is shown. Those that run beside it count from 1.
pub(crate) const SHOWN: usize = 0;

/// The name of a task.
pub(super) fn name_task(number: usize) -> String {
    if number == SHOWN { "the turn".to_owned() } else { format!("task {number}") }
}

/// A command of the user's own in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnAside {
    pub(super) item: ItemId,
    /// The number that users call it by.
    pub(super) number: usize,
}

/// One session that is followed.
pub(crate) struct SessionTask {
    /// The number that users call it by; `SHOWN` for the conversation.
    pub(super) number: usize,
    pub(crate) session: SessionId,
    /// Its first prompt; empty for the conversation.
    pub(super) prompt: String,
    pub(crate) reader: SessionReader,
    /// Prompts that were accepted and are not seen yet. Until they are, no turn seems to run although one does.
    pub(crate) unseen: usize,
    /// Commands of the user's own that were sent and have not ended.
    pub(super) own_commands: usize,
    /// Steering prompts that the agent has not read yet.
    pub(super) steered: VecDeque<String>,
    /// Up to which event it is taken up without being shown.
    pub(crate) skip_until: u64,
    /// Prompts that are sent when the turn has ended.
    pub(crate) queue: VecDeque<String>,
    /// When it is stopped.
    pub(crate) deadline: Option<Instant>,
    /// The bill when its turn began.
    pub(crate) billed: Bill,
    /// Whether its past is on the screen already.
    pub(super) is_known: bool,
    /// The text that buddy shows once its past is on the screen.
    pub(super) arrival: Option<String>,
    /// The command of the user's own that runs in the background.
    pub(super) own_aside: Option<OwnAside>,
    /// Whether it was stopped because its time was over.
    pub(super) is_stopped: bool,
    /// Whether another process worked on it when it was opened here, and no command was accepted since.
    pub(crate) is_in_use: bool,
    /// The facts about the conversation that it is a copy of.
    pub(super) before_copy: BeforeCopy,
    /// Whether that process has ended since and left its work open.
    pub(super) is_left: bool,
}

impl SessionTask {
    pub(crate) fn new(number: usize, session: SessionId, prompt: String) -> Self {
        Self {
            number,
            session,
            prompt,
            reader: SessionReader::default(),
            unseen: 0,
            own_commands: 0,
            steered: VecDeque::new(),
            skip_until: 0,
            queue: VecDeque::new(),
            deadline: None,
            billed: Bill::default(),
            is_known: false,
            arrival: None,
            own_aside: None,
            is_stopped: false,
            is_in_use: false,
            before_copy: BeforeCopy::default(),
            is_left: false,
        }
    }

    /// Takes note of an event that was folded.
    pub(crate) fn note(&mut self, event: &Event) {
        // Taking it over closes the turn that was left.
        self.is_left &= !matches!(event.fact, Fact::TurnEnded(_) | Fact::TurnStarted(_));
        match &event.fact {
            Fact::ItemEnded(ended)
                if matches!(ended.item.content, Content::UserMessage { ran: None, .. }) =>
            {
                self.unseen = self.unseen.saturating_sub(1);
            }
            Fact::ItemEnded(ended) if matches!(&ended.item.content, Content::UserMessage { ran: Some(ran), .. } if ran.background.is_none()) =>
            {
                self.own_commands = self.own_commands.saturating_sub(1);
            }
            Fact::TurnStarted(_) => self.billed = *self.reader.transcript().bill(),
            Fact::TurnEnded(_) => self.deadline = None,
            _ => {}
        }
    }

    /// Holds a steering prompt, unless it was sent from here.
    pub(super) fn note_steer(&mut self, text: &str) {
        if !self.steered.iter().any(|steer| steer.trim() == text.trim()) {
            self.steered.push_back(text.to_owned());
        }
    }

    /// Forgets a steering prompt that was read or refused.
    pub(super) fn forget_steer(&mut self, text: &str) {
        if let Some(place) = self.steered.iter().position(|steer| steer.trim() == text.trim()) {
            self.steered.remove(place);
        }
    }

    /// Whether its past is known.
    pub(super) fn is_taken_up(&self) -> bool {
        self.reader.transcript().head() >= self.skip_until
    }

    pub(crate) fn is_idle(&self) -> bool {
        (self.reader.transcript().turn().is_none() || self.is_left) && self.unseen == 0
    }

    /// Whether leaving it would stop something.
    pub(super) fn is_working_here(&self) -> bool {
        !self.is_idle() && !self.is_in_use
    }

    /// The command that stops its turn: the one that is shown, or any while a prompt may have begun another one.
    pub(crate) fn interrupt(&self) -> Command {
        let turn = self.reader.transcript().turn().filter(|_| self.unseen == 0);
        Command::Interrupt { turn: turn.cloned() }
    }

    /// The command of the user's own that runs in the foreground.
    pub(super) fn attended_command(&self) -> Option<&Item> {
        let aside = self.own_aside.as_ref().map(|aside| &aside.item);
        self.reader.own_command().filter(|item| Some(&item.id) != aside && !self.is_left)
    }

    /// How long its turn has run.
    pub(super) fn elapsed(&self, now: Instant) -> Option<Duration> {
        self.reader.turn_began().map(|began| now.saturating_duration_since(began))
    }
}
