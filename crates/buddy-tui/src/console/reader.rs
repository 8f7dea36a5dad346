//! Reads one session: folds its events, and says which rows are finished.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use buddy_protocol::{
    Content, DeltaStream, Event, Fact, FoldError, Item, ItemDelta, ItemId, NoticeLevel, Transcript,
    TurnEnded, TurnOutcome,
};

use super::items::{self, Kind};
use crate::markdown::Markdown;
use crate::output::Output;
use crate::text::{Line, Look, Paint};

/// How many lines of what a running item writes are held.
const LIVE_LINES: usize = 20;

/// A session as it is read.
#[derive(Default)]
pub(super) struct Reader {
    transcript: Transcript,
    /// The message that streams, as far as it is not finished.
    message: Option<(ItemId, Markdown)>,
    /// What runs.
    running: HashMap<ItemId, Running>,
    turn_began: Option<Instant>,
    /// What was finished last, so that different things are kept apart.
    last: Option<Kind>,
    /// What was shown folded, the newest last.
    folded: Option<String>,
    rows: Vec<Line>,
    /// Whether nothing is shown, as at the taking up of a session.
    is_silent: bool,
}

/// An item that runs.
struct Running {
    since: Instant,
    /// When it last wrote something.
    heard: Instant,
    /// What it has written so far.
    output: Output,
}

impl Running {
    fn new(since: Instant) -> Self {
        Self { since, heard: since, output: Output::new(0, LIVE_LINES) }
    }
}

impl Reader {
    pub(super) fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    pub(super) fn turn_began(&self) -> Option<Instant> {
        self.turn_began
    }

    /// The command that the person runs.
    pub(super) fn own_command(&self) -> Option<&Item> {
        let is_own = |item: &&Item| matches!(item.content, Content::UserMessage { ran: Some(_), .. });
        self.transcript.open_items().find(is_own)
    }

    /// How long an item has run.
    pub(super) fn ran(&self, item: &ItemId, now: Instant) -> Duration {
        self.running.get(item).map_or(Duration::ZERO, |running| now.saturating_duration_since(running.since))
    }

    /// How long a running item has written nothing.
    pub(super) fn silence(&self, item: &ItemId, now: Instant) -> Duration {
        self.running.get(item).map_or(Duration::ZERO, |running| now.saturating_duration_since(running.heard))
    }

    /// The last rows that a running item wrote.
    pub(super) fn tail(&self, item: &ItemId, look: &Look, width: usize, limit: usize) -> Vec<Line> {
        self.running.get(item).map(|running| running.output.tail(look, width, limit)).unwrap_or_default()
    }

    /// The message that streams.
    pub(super) fn message(&self) -> Option<&Markdown> {
        self.message.as_ref().map(|(_, markdown)| markdown)
    }

    /// Everything of what was shown folded last.
    pub(super) fn folded(&self) -> Option<&str> {
        self.folded.as_deref()
    }

    /// Folds an event without showing it.
    pub(super) fn skip(&mut self, event: &Event, now: Instant) -> Result<(), FoldError> {
        self.is_silent = true;
        let done = self.apply(event, &Look::plain(), 80, now);
        self.is_silent = false;
        self.rows.clear();
        self.last = None;
        done
    }

    /// Folds an event. What it finishes can be taken afterwards.
    pub(super) fn apply(
        &mut self,
        event: &Event,
        look: &Look,
        width: usize,
        now: Instant,
    ) -> Result<(), FoldError> {
        self.transcript.apply(event)?;
        match &event.fact {
            Fact::TurnStarted(_) => self.turn_began = Some(now),
            Fact::TurnEnded(ended) => self.end_turn(ended, look, width),
            Fact::ItemStarted(started) => self.note(&started.item, now),
            // What waited for an approval begins when it has one.
            Fact::ItemChanged(changed) => {
                self.running.insert(changed.item.id.clone(), Running::new(now));
            }
            Fact::ItemDelta(delta) => self.grow(delta, now),
            Fact::ItemEnded(ended) => self.end_item(&ended.item, look, width, now),
            Fact::Notice(notice) if notice.level != NoticeLevel::Info => {
                let row = Line::styled(&notice.text, look.theme.style(Paint::Warning));
                self.put(Kind::Note, items::wrapped(&row, width));
            }
            _ => {}
        }
        Ok(())
    }

    /// The rows that will not change any more. Of a long line that is still being written no more than `keep` rows stay open
    /// where that is possible.
    pub(super) fn take_rows(&mut self, look: &Look, width: usize, keep: usize) -> Vec<Line> {
        if let Some((_, markdown)) = &mut self.message {
            let mut rows = markdown.finished(look, width);
            rows.extend(markdown.settled(look, width, keep));
            if !rows.is_empty() {
                self.put(Kind::Message, rows);
            }
        }
        std::mem::take(&mut self.rows)
    }

    fn note(&mut self, item: &Item, now: Instant) {
        self.running.entry(item.id.clone()).or_insert_with(|| Running::new(now));
    }

    fn grow(&mut self, delta: &ItemDelta, now: Instant) {
        let item = self.transcript.item(&delta.item);
        let is_message = matches!(item.map(|item| &item.content), Some(Content::AgentMessage { .. }));
        // What nobody sees is not prepared.
        if self.is_silent {
            return;
        }
        if delta.stream != DeltaStream::Text {
            if let Some(running) = self.running.get_mut(&delta.item) {
                running.output.push(&delta.text);
                running.heard = now;
            }
            return;
        }
        if !is_message {
            return;
        }
        let message = self.message.get_or_insert_with(|| (delta.item.clone(), Markdown::default()));
        if message.0 == delta.item {
            message.1.push(&delta.text);
        }
    }

    fn end_item(&mut self, item: &Item, look: &Look, width: usize, now: Instant) {
        let ran = self.ran(&item.id, now);
        self.running.remove(&item.id);
        if self.is_silent {
            return;
        }
        match (&item.content, self.message.take()) {
            (Content::AgentMessage { .. }, Some((id, markdown))) if id == item.id => {
                self.put(Kind::Message, markdown.finish(look, width));
            }
            (_, other) => {
                self.message = other;
                let shown = items::finished(item, ran, look, width);
                self.folded = shown.folded.or(self.folded.take());
                self.put(shown.kind, shown.rows);
            }
        }
    }

    fn end_turn(&mut self, ended: &TurnEnded, look: &Look, width: usize) {
        self.turn_began = None;
        // A command that the person runs is no part of the turn.
        let transcript = &self.transcript;
        self.running.retain(|id, _| transcript.item(id).is_some_and(|item| !item.status.is_final()));
        if let Some((_, markdown)) = self.message.take() {
            self.put(Kind::Message, markdown.finish(look, width));
        }
        let rows = match (&ended.failure, ended.outcome) {
            (Some(failure), _) => {
                let mut rows =
                    items::wrapped(&Line::styled(&failure.message, look.theme.style(Paint::Bad)), width);
                if let Some(hint) = &failure.hint {
                    rows.extend(items::wrapped(&Line::styled(hint, look.theme.style(Paint::Dim)), width));
                }
                rows
            }
            (None, TurnOutcome::Interrupted) => {
                vec![Line::styled("interrupted", look.theme.style(Paint::Warning))]
            }
            _ => Vec::new(),
        };
        self.put(Kind::Note, rows);
    }

    /// Adds rows, apart from what is of another kind.
    fn put(&mut self, kind: Kind, rows: Vec<Line>) {
        if rows.is_empty() || self.is_silent {
            return;
        }
        if self.last.is_some_and(|last| last.is_apart_from(kind)) {
            self.rows.push(Line::default());
        }
        self.last = Some(kind);
        self.rows.extend(rows);
    }
}
