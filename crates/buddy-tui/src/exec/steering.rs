//! The state of a run that is steered: what it waits for.

use buddy_protocol::{AskId, Content, Event, Fact, ItemId};

/// The state of a run that is steered.
#[derive(Debug, Default)]
pub(super) struct Steering {
    /// Whether commands may still come.
    pub(super) is_open: bool,
    /// Prompts, calls and commands of the user that were accepted and are not seen in the log yet. Until they are, nothing
    /// seems to run although something does.
    pub(super) unseen: usize,
    /// Questions that wait for an answer.
    pub(super) asks: Vec<AskId>,
    /// The command of the user's own and the calls of clients that run. An interrupt of the turn does not stop them.
    pub(super) beside: Vec<ItemId>,
    /// Whether the session has ended for good. What stopped with it is still told.
    pub(super) has_ended: bool,
}

impl Steering {
    /// At the start, with commands to come or without.
    pub(super) fn new(is_open: bool) -> Self {
        Self { is_open, ..Self::default() }
    }

    /// Takes note of what goes on.
    pub(super) fn note(&mut self, event: &Event) {
        match &event.fact {
            Fact::ItemStarted(started) if is_beside(&started.item.content) => {
                self.beside.push(started.item.id.clone());
            }
            Fact::ItemEnded(ended) if is_beside(&ended.item.content) => {
                self.unseen = self.unseen.saturating_sub(1);
                self.beside.retain(|item| *item != ended.item.id);
            }
            Fact::Asked(asked) => self.asks.push(asked.ask.id.clone()),
            Fact::Answered(answered) => self.asks.retain(|ask| *ask != answered.ask),
            Fact::SessionEnded(_) => {
                self.has_ended = true;
                self.is_open = false;
            }
            _ => {}
        }
    }
}

/// Whether the agent's turn has no part in it: words and commands of the user, and calls of clients.
fn is_beside(content: &Content) -> bool {
    match content {
        Content::UserMessage { .. } => true,
        Content::ToolCall(call) => call.caller.is_some(),
        _ => false,
    }
}
