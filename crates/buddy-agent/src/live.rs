//! The text that a model has given so far in an answer that still streams.

use buddy_model::{Reply, ReplyItem};
use buddy_protocol::{
    Content, DeltaStream, Fact, Ids, Item, ItemChanged, ItemDelta, ItemEnded, ItemId, ItemStarted,
    ItemStatus, TurnId,
};

/// The two kinds of text that stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    Message,
    Reasoning,
}

impl Voice {
    fn content(self, text: String) -> Content {
        match self {
            Self::Message => Content::AgentMessage { text },
            Self::Reasoning => Content::Reasoning { text },
        }
    }
}

struct Growing {
    id: ItemId,
    voice: Voice,
    text: String,
}

/// The items of an answer that still streams.
pub(crate) struct LiveAnswer {
    turn: TurnId,
    step: u32,
    growing: Vec<Growing>,
    /// Whether another part of the answer speaks next.
    is_apart: bool,
}

impl LiveAnswer {
    pub(crate) fn new(turn: TurnId, step: u32) -> Self {
        Self { turn, step, growing: Vec::new(), is_apart: false }
    }

    /// An item of this answer.
    pub(crate) fn item(&self, id: ItemId, status: ItemStatus, content: Content) -> Item {
        let (turn, step) = (Some(self.turn.clone()), Some(self.step));
        Item { id, turn, step, place: None, parent: None, status, content, private: None }
    }

    /// The next text belongs to another part of the answer.
    pub(crate) fn part(&mut self) {
        self.is_apart = true;
    }

    /// Takes in a piece of text.
    pub(crate) fn grow(&mut self, voice: Voice, text: String, ids: &dyn Ids) -> Vec<Fact> {
        let mut facts = Vec::new();
        let is_apart = std::mem::take(&mut self.is_apart);
        if is_apart || self.growing.last().is_none_or(|last| last.voice != voice) {
            let id = ItemId::new(ids);
            let item = self.item(id.clone(), ItemStatus::Running, voice.content(String::new()));
            facts.push(Fact::ItemStarted(ItemStarted { item }));
            self.growing.push(Growing { id, voice, text: String::new() });
        }
        if let Some(last) = self.growing.last_mut() {
            last.text.push_str(&text);
            let delta = ItemDelta { item: last.id.clone(), stream: DeltaStream::Text, text };
            facts.push(Fact::ItemDelta(delta));
        }
        facts
    }

    /// Voids what was said: the answer starts over. Items keep their place and lose their text.
    pub(crate) fn restart(&mut self) -> Vec<Fact> {
        self.is_apart = false;
        let Some(first) = self.growing.first() else { return Vec::new() };
        let mut facts = Vec::new();
        for growing in &self.growing {
            let item =
                self.item(growing.id.clone(), ItemStatus::Running, growing.voice.content(String::new()));
            facts.push(Fact::ItemChanged(ItemChanged { item }));
        }
        // Only the first item is kept for the next try; the rest would not come in the same order.
        let kept = Growing { id: first.id.clone(), voice: first.voice, text: String::new() };
        let dropped: Vec<Growing> = self.growing.drain(..).skip(1).collect();
        facts.extend(dropped.into_iter().map(|growing| {
            let content = growing.voice.content(String::new());
            Fact::ItemEnded(ItemEnded { item: self.item(growing.id, ItemStatus::Interrupted, content) })
        }));
        self.growing.push(kept);
        facts
    }

    /// Ends what was said so far as cut off.
    pub(crate) fn interrupt(&mut self) -> Vec<Item> {
        let growing: Vec<Growing> = self.growing.drain(..).collect();
        let cut = |growing: Growing| {
            let content = growing.voice.content(growing.text);
            self.item(growing.id, ItemStatus::Interrupted, content)
        };
        growing.into_iter().map(cut).collect()
    }

    /// Ends the texts of a whole answer, each under the id it streamed under.
    pub(crate) fn finish(&mut self, reply: &Reply, ids: &dyn Ids) -> Vec<Item> {
        let mut growing: Vec<Growing> = self.growing.drain(..).collect();
        let mut items = Vec::new();
        for (place, said) in (1..).zip(&reply.items) {
            let (voice, text, private) = match said {
                ReplyItem::Text { text, private } => (Voice::Message, text, private.clone()),
                ReplyItem::Reasoning { text, private } => (Voice::Reasoning, text, private.clone()),
                ReplyItem::ToolCall { .. } => continue,
            };
            // An item without words did not stream.
            let is_it = |growing: &Growing| growing.voice == voice && !text.is_empty();
            let known = growing.iter().position(is_it);
            let id = known.map_or_else(|| ItemId::new(ids), |known| growing.remove(known).id);
            let mut item = self.item(id, ItemStatus::Completed, voice.content(text.clone()));
            (item.place, item.private) = (Some(place), private);
            items.push(item);
        }
        let orphans = growing.into_iter().map(|growing| {
            self.item(growing.id, ItemStatus::Interrupted, growing.voice.content(String::new()))
        });
        items.extend(orphans);
        items
    }
}
