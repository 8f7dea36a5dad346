//! Reads one session: folds its events, and says which rows are finished.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use buddy_protocol::{
    BACKGROUND_ENDED, Content, DeltaStream, Event, Fact, FoldError, GRANTED, Item, ItemDelta, ItemEnded,
    ItemId, ItemStarted, ItemStatus, NoticeLevel, PlanStep, PlanStepState, ToolCall, ToolKind, Transcript,
    TurnEnded, TurnOutcome,
};

use super::allowed::AllowedCalls;
use super::calls::Paper;
use super::finished_rows::{FinishedRows, FoldedText, RowKind};
use super::items::{self, Gutter, NoticeWeight, prose_width, put_behind_gutter};
use super::joined::JoinedCalls;
use super::plan_card::render_plan_rows;
use crate::changes::GO_AHEAD;
use crate::farewell::WorkTime;
use crate::left_running::LeftRunning;
use crate::markdown::Markdown;
use crate::output::ShownOutput;
use crate::retrying::{count_down, ends_retries, find_retry};
use crate::text::{Paint, StyledLine, TerminalLook, wrap_unindented};

/// How many lines of what a running item writes are held.
const LIVE_LINES: usize = 20;
/// How many folded texts are held, so that a long conversation does not hold all of them.
const MAX_FOLDED: usize = 50;

/// A session as it is read.
#[derive(Default)]
pub(crate) struct SessionReader {
    transcript: Transcript,
    /// The message that streams, as far as it is not finished.
    message: Option<StreamingMessage>,
    /// Items that were told before their end, because something else was said after them.
    told: HashSet<ItemId>,
    /// Whether some of what streamed was missed.
    has_hole: bool,
    /// The running items.
    running: HashMap<ItemId, RunningItem>,
    turn_began: Option<Instant>,
    /// How long its turns took since it is shown here.
    work_time: WorkTime,
    /// Commands in the background. Those of an earlier run of buddy ended with it.
    left_running: LeftRunning,
    /// Why the model is asked again, while it is.
    retry: Option<(String, Instant)>,
    /// Reads or searches that are told together once something else is finished.
    joined: Option<JoinedCalls>,
    /// The plan of the turn, which is told once it ends.
    plan: Option<Vec<PlanStep>>,
    /// Which item each question is about, and how the user allowed it.
    allowed: AllowedCalls,
    /// The kind of the last finished rows, so that different kinds are kept apart.
    last: Option<RowKind>,
    /// Folded texts, the newest last.
    folded: VecDeque<FoldedText>,
    /// How many of them, from the newest on, were shown since the newest came.
    unfolded: usize,
    /// Steering prompts that the agent has not read yet: they belong below the answer that it gives meanwhile.
    unread: VecDeque<Item>,
    /// Prompts that the agent has read since they were last asked for.
    read_prompts: Vec<String>,
    rows: Vec<StyledLine>,
    /// Whether nothing is shown, as at the taking up of a session.
    is_silent: bool,
}

/// A message that streams.
struct StreamingMessage {
    id: ItemId,
    markdown: Markdown,
    /// Bytes of it that were heard.
    length: usize,
    /// Whether rows of it are finished, and stay whatever becomes of it.
    is_begun: bool,
}

impl StreamingMessage {
    fn gutter(&self) -> Gutter {
        if self.is_begun { Gutter::Empty } else { Gutter::Lamp }
    }

    /// All rows that are left.
    fn finish(self, look: &TerminalLook, width: usize) -> Vec<StyledLine> {
        let gutter = self.gutter();
        put_behind_gutter(self.markdown.finish(look, prose_width(width)), gutter, look)
    }
}

/// An item that runs.
struct RunningItem {
    since: Instant,
    /// When it last wrote something.
    heard: Instant,
    /// Its output so far.
    output: ShownOutput,
}

impl RunningItem {
    fn new(since: Instant) -> Self {
        Self { since, heard: since, output: ShownOutput::new(0, LIVE_LINES) }
    }
}

impl SessionReader {
    pub(crate) fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    pub(super) fn turn_began(&self) -> Option<Instant> {
        self.turn_began
    }

    /// How long its turns took since it is shown here.
    pub(crate) fn work_time(&self) -> &WorkTime {
        &self.work_time
    }

    /// The command that the user runs.
    pub(crate) fn own_command(&self) -> Option<&Item> {
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
    pub(super) fn tail(
        &self,
        item: &ItemId,
        look: &TerminalLook,
        width: usize,
        limit: usize,
    ) -> Vec<StyledLine> {
        self.running.get(item).map(|running| running.output.tail(look, width, limit)).unwrap_or_default()
    }

    /// Why the model is asked again, while it is.
    pub(super) fn retry(&self, now: Instant) -> Option<String> {
        let (text, told) = self.retry.as_ref()?;
        Some(count_down(text, now.saturating_duration_since(*told)))
    }

    /// The message that streams.
    pub(super) fn message(&self) -> Option<&Markdown> {
        self.message.as_ref().map(|message| &message.markdown)
    }

    /// Whether the first rows of a message are finished. The open ones then begin with the empty row that belongs there.
    pub(super) fn goes_on_with_message(&self) -> bool {
        self.message.as_ref().is_some_and(|message| message.is_begun)
    }

    /// The rows of it that may still change, `limit` at most.
    pub(super) fn open_message(&self, look: &TerminalLook, width: usize, limit: usize) -> Vec<StyledLine> {
        let Some(message) = &self.message else { return Vec::new() };
        let rows = message.markdown.open(look, prose_width(width), limit);
        put_behind_gutter(rows, message.gutter(), look)
    }

    /// Where the session works.
    pub(super) fn cwd(&self) -> String {
        self.transcript.started().map(|started| started.cwd.clone()).unwrap_or_default()
    }

    /// Whether an item that has not ended was told already.
    pub(super) fn is_told(&self, item: &ItemId) -> bool {
        self.told.contains(item)
    }

    /// Some of what streamed was missed: a message is shown again at its end if it was one of those.
    pub(super) fn miss(&mut self) {
        self.has_hole = true;
    }

    /// How many commands run in the background.
    pub(super) fn left_running(&self) -> usize {
        self.left_running.count()
    }

    /// The newest folded text, and with each further call the one before it; none after the oldest, and then the newest again.
    pub(super) fn unfold(&mut self) -> Option<FoldedText> {
        let text = self.folded.iter().rev().nth(self.unfolded).cloned();
        self.unfolded = if text.is_some() { self.unfolded + 1 } else { 0 };
        text
    }

    /// Whether there is a folded text.
    pub(super) fn has_folded(&self) -> bool {
        !self.folded.is_empty()
    }

    /// Whether a prompt waits for the agent to read it.
    pub(super) fn is_unread(&self, prompt: &ItemId) -> bool {
        self.unread.iter().any(|item| item.id == *prompt)
    }

    /// The prompts that the agent has read since the last call.
    pub(super) fn take_read_prompts(&mut self) -> Vec<String> {
        std::mem::take(&mut self.read_prompts)
    }

    /// Folds an event that the face shows in a way of its own.
    pub(crate) fn fold(&mut self, event: &Event, now: Instant) -> Result<(), FoldError> {
        self.left_running.note(&event.fact);
        self.work_time.note(event);
        self.skip(event, now)
    }

    /// How calls were allowed.
    pub(super) fn allowed(&self) -> &AllowedCalls {
        &self.allowed
    }

    /// Folds an event without showing it.
    pub(crate) fn skip(&mut self, event: &Event, now: Instant) -> Result<(), FoldError> {
        (self.is_silent, self.has_hole) = (true, true);
        let done = self.apply(event, &TerminalLook::plain(), 80, now);
        self.is_silent = false;
        self.rows.clear();
        self.last = None;
        done
    }

    /// Folds an event. What it finishes can be taken afterwards.
    pub(super) fn apply(
        &mut self,
        event: &Event,
        look: &TerminalLook,
        width: usize,
        now: Instant,
    ) -> Result<(), FoldError> {
        self.transcript.apply(event)?;
        if ends_retries(&event.fact) {
            self.retry = None;
        }
        if !self.is_silent {
            self.left_running.note(&event.fact);
            self.work_time.note(event);
        }
        self.allowed.note(&event.fact);
        self.note_step(&event.fact, look, width);
        match &event.fact {
            fact if find_retry(fact).is_some() => {
                self.retry = find_retry(fact).map(|notice| (notice.text.clone(), now));
            }
            Fact::TurnStarted(_) => {
                self.turn_began = Some(now);
                self.has_hole &= self.is_silent;
            }
            Fact::TurnEnded(ended) => self.end_turn(ended, look, width),
            Fact::ItemStarted(started) => self.note(&started.item, now),
            // A call that waited for an approval begins when it has one; half an answer starts over.
            Fact::ItemChanged(changed) => {
                self.start_over(&changed.item, look, width);
                self.running.insert(changed.item.id.clone(), RunningItem::new(now));
            }
            Fact::ItemDelta(delta) => self.grow(delta, look, width, now),
            Fact::ItemEnded(ended) => self.end_item(&ended.item, look, width, now),
            Fact::Notice(notice) if notice.level != NoticeLevel::Info => {
                self.settle_calls(look, width);
                self.put(
                    RowKind::Notice,
                    items::render_notice(&notice.text, NoticeWeight::Careful, look, width),
                );
            }
            Fact::Notice(notice) if [GRANTED, BACKGROUND_ENDED].contains(&notice.code.as_str()) => {
                self.settle_calls(look, width);
                self.put(RowKind::Note, items::render_notice(&notice.text, NoticeWeight::Aside, look, width));
            }
            _ => {}
        }
        Ok(())
    }

    /// The rows that will not change any more. Of a long line that is still being written no more than `keep` rows stay open
    /// where that is possible.
    pub(super) fn take_rows(&mut self, look: &TerminalLook, width: usize, keep: usize) -> Vec<StyledLine> {
        if let Some(message) = &mut self.message {
            let room = prose_width(width);
            let mut rows = message.markdown.finished(look, room);
            rows.extend(message.markdown.settled(look, room, keep));
            if !rows.is_empty() {
                let rows = put_behind_gutter(rows, message.gutter(), look);
                message.is_begun = true;
                self.put(RowKind::Message, rows);
            }
        }
        std::mem::take(&mut self.rows)
    }

    fn note(&mut self, item: &Item, now: Instant) {
        self.running.entry(item.id.clone()).or_insert_with(|| RunningItem::new(now));
    }

    fn grow(&mut self, delta: &ItemDelta, look: &TerminalLook, width: usize, now: Instant) {
        // Rows that nobody sees are not prepared.
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
        let item = self.transcript.item(&delta.item);
        let is_message = matches!(item.map(|item| &item.content), Some(Content::AgentMessage { .. }));
        if self.message.as_ref().is_some_and(|message| message.id != delta.item) {
            self.close_message(look, width);
        }
        if !is_message || self.told.contains(&delta.item) {
            return;
        }
        if self.message.is_none() {
            self.tell_thoughts(look, width, now);
            self.settle_calls(look, width);
        }
        let message = self.message.get_or_insert_with(|| StreamingMessage {
            id: delta.item.clone(),
            markdown: Markdown::default(),
            length: 0,
            is_begun: false,
        });
        message.length += delta.text.len();
        message.markdown.push(&delta.text);
    }

    /// Tells the thoughts that came before a message: they end only with the whole answer.
    fn tell_thoughts(&mut self, look: &TerminalLook, width: usize, now: Instant) {
        let is_new =
            |item: &&Item| matches!(item.content, Content::Reasoning { .. }) && !self.told.contains(&item.id);
        let thoughts: Vec<Item> = self.transcript.open_items().filter(is_new).cloned().collect();
        for thought in thoughts {
            let shown = items::render_item(
                &thought,
                self.ran(&thought.id, now),
                &Paper { look, width, cwd: "", answered: "" },
            );
            self.told.insert(thought.id);
            self.tell(shown, look, width);
        }
    }

    /// Finishes a message after which something else is said.
    fn close_message(&mut self, look: &TerminalLook, width: usize) {
        if let Some(message) = self.message.take() {
            self.told.insert(message.id.clone());
            self.put(RowKind::Message, message.finish(look, width));
        }
    }

    /// An answer that broke off is given anew. What stands above of it stays there.
    fn start_over(&mut self, item: &Item, look: &TerminalLook, width: usize) {
        let is_open = self.message.as_ref().is_some_and(|message| message.id == item.id);
        let mut is_begun = self.told.remove(&item.id) && matches!(item.content, Content::AgentMessage { .. });
        if let Some(message) = self.message.take_if(|_| is_open)
            && message.is_begun
        {
            is_begun = true;
            self.put(RowKind::Message, message.finish(look, width));
        }
        if is_begun {
            self.remark("The answer was cut off here and starts again.", look);
        }
    }

    fn remark(&mut self, text: &str, look: &TerminalLook) {
        self.put(RowKind::Note, vec![StyledLine::styled(text, look.style(Paint::Dim))]);
    }

    fn tell(&mut self, shown: FinishedRows, look: &TerminalLook, width: usize) {
        if !shown.rows.is_empty() {
            self.settle_calls(look, width);
        }
        if let Some(folded) = shown.folded {
            if self.folded.len() >= MAX_FOLDED {
                self.folded.pop_front();
            }
            self.folded.push_back(folded);
            self.unfolded = 0;
        }
        self.put(shown.kind, shown.rows);
    }

    /// Shows prompts that the agent has read: something of the step before which it reads them has begun.
    fn note_step(&mut self, fact: &Fact, look: &TerminalLook, width: usize) {
        let (Fact::ItemStarted(ItemStarted { item }) | Fact::ItemEnded(ItemEnded { item })) = fact else {
            return;
        };
        // These come from the agent; others may come at any time.
        let is_answer = matches!(
            item.content,
            Content::AgentMessage { .. } | Content::Reasoning { .. } | Content::ToolCall(_)
        );
        let is_read = |prompt: &Item| prompt.turn != item.turn || prompt.step <= item.step;
        if is_answer && self.unread.front().is_some_and(is_read) {
            self.show_prompts(look, width);
        }
    }

    fn show_prompts(&mut self, look: &TerminalLook, width: usize) {
        let cwd = self.cwd();
        let paper = Paper { look, width, cwd: &cwd, answered: "" };
        for prompt in std::mem::take(&mut self.unread) {
            self.note_read(&prompt);
            self.tell(items::render_item(&prompt, Duration::ZERO, &paper), look, width);
        }
    }

    fn note_read(&mut self, prompt: &Item) {
        if let Content::UserMessage { text, ran: None, .. } = &prompt.content {
            self.read_prompts.push(text.clone());
        }
    }

    /// Whether a prompt steers a turn that runs: the turn began with another one.
    fn is_steer(&self, prompt: &Item) -> bool {
        let is_typed = |item: &Item| matches!(item.content, Content::UserMessage { ran: None, .. });
        let is_other = |item: &&Item| item.id != prompt.id && item.turn == prompt.turn && is_typed(item);
        is_typed(prompt)
            && prompt.step.is_some()
            && self.transcript.turn().is_some_and(|turn| Some(turn) == prompt.turn.as_ref())
            && self.transcript.items().iter().rev().any(|item| is_other(&item))
    }

    fn join(&mut self, calls: JoinedCalls, look: &TerminalLook, width: usize) {
        let Some(joined) = &mut self.joined else {
            self.joined = Some(calls);
            return;
        };
        if let Some(other) = joined.join(calls) {
            self.settle_calls(look, width);
            self.joined = Some(other);
        }
    }

    /// The row of the reads or searches that others may still join.
    pub(super) fn joined_row(&self, look: &TerminalLook, width: usize) -> Option<StyledLine> {
        self.joined.as_ref().map(|joined| joined.row(look, width))
    }

    /// Whether that row follows others of calls.
    pub(super) fn goes_on_with_calls(&self) -> bool {
        self.joined.is_some() && self.last == Some(RowKind::Call)
    }

    /// Finishes that row.
    pub(super) fn settle_calls(&mut self, look: &TerminalLook, width: usize) {
        if let Some(joined) = self.joined.take() {
            self.put(RowKind::Call, vec![joined.row(look, width)]);
        }
    }

    /// The plan that is being carried out.
    pub(super) fn plan(&self) -> Option<&[PlanStep]> {
        self.plan.as_deref()
    }

    /// Takes a plan. One that is done is finished.
    fn take_plan(&mut self, steps: Vec<PlanStep>, look: &TerminalLook, width: usize) {
        let is_done = steps.iter().all(|step| step.state == PlanStepState::Done);
        self.plan = Some(steps);
        if is_done {
            self.settle_plan(look, width);
        }
    }

    fn settle_plan(&mut self, look: &TerminalLook, width: usize) {
        if let Some(steps) = self.plan.take().filter(|steps| !steps.is_empty()) {
            self.settle_calls(look, width);
            self.put(RowKind::Note, render_plan_rows(&steps, look, width));
        }
    }

    fn end_item(&mut self, item: &Item, look: &TerminalLook, width: usize, now: Instant) {
        let ran = self.ran(&item.id, now);
        self.running.remove(&item.id);
        if self.is_silent {
            return self.note_read(item);
        }
        if self.is_steer(item) {
            return self.unread.push_back(item.clone());
        }
        self.note_read(item);
        let was_told = self.told.remove(&item.id);
        let cwd = self.cwd();
        let answered = self.allowed.find(&item.id).unwrap_or_default().to_owned();
        let paper = Paper { look, width, cwd: &cwd, answered: &answered };
        let message = self.message.take_if(|message| message.id == item.id);
        match (&item.content, message) {
            (Content::AgentMessage { text }, Some(message))
                if self.has_hole && message.length != text.len() =>
            {
                if message.is_begun {
                    self.remark("Part of this was missed. Here is all of it.", look);
                }
                self.tell(items::render_item(item, ran, &paper), look, width);
            }
            (_, Some(message)) => self.put(RowKind::Message, message.finish(look, width)),
            (_, None) if was_told => {}
            (Content::Plan { steps }, None) => self.take_plan(steps.clone(), look, width),
            // The plan itself is shown.
            (Content::ToolCall(call), None) if is_plan_call(call, item) => {}
            (Content::ToolCall(call), None) => match JoinedCalls::of(call, item.status, ran, &paper) {
                Some(calls) => self.join(calls, look, width),
                None => self.tell(items::render_item(item, ran, &paper), look, width),
            },
            (_, None) => self.tell(items::render_item(item, ran, &paper), look, width),
        }
    }

    fn end_turn(&mut self, ended: &TurnEnded, look: &TerminalLook, width: usize) {
        self.turn_began = None;
        // A command that the user runs is no part of the turn.
        let transcript = &self.transcript;
        self.running.retain(|id, _| transcript.item(id).is_some_and(|item| !item.status.is_final()));
        self.settle_calls(look, width);
        self.close_message(look, width);
        self.show_prompts(look, width);
        self.settle_plan(look, width);
        self.told.clear();
        let rows = match (&ended.failure, ended.outcome) {
            (Some(failure), _) => {
                let mut rows = items::render_notice(&failure.message, NoticeWeight::Failed, look, width);
                if let Some(hint) = &failure.hint {
                    rows.extend(items::render_notice(hint, NoticeWeight::Aside, look, width));
                }
                rows
            }
            (None, TurnOutcome::Interrupted) => {
                items::render_notice("interrupted", NoticeWeight::Careful, look, width)
            }
            (None, TurnOutcome::Completed) if self.transcript.is_plan_only() => {
                let question = StyledLine::styled(GO_AHEAD, look.style(Paint::Strong));
                return self.put(RowKind::Question, wrap_unindented(&question, width));
            }
            _ => Vec::new(),
        };
        self.put(RowKind::Notice, rows);
    }

    /// Adds rows, apart from what is of another kind.
    fn put(&mut self, kind: RowKind, rows: Vec<StyledLine>) {
        if rows.is_empty() || self.is_silent {
            return;
        }
        if self.last.is_some_and(|last| last.is_apart_from(kind)) {
            self.rows.push(StyledLine::default());
        }
        self.last = Some(kind);
        self.rows.extend(rows);
    }
}

/// Whether a call only tells of the plan, which is shown by itself.
fn is_plan_call(call: &ToolCall, item: &Item) -> bool {
    call.kind == ToolKind::Think && call.title.starts_with("plan: ") && item.status == ItemStatus::Completed
}
