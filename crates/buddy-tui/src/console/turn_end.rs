//! The line below a turn: its time, its changes and its cost, and the commands that review or undo the changes.

use std::time::Duration;

use anstyle::Style;
use buddy_protocol::{Bill, Content, Item, ItemId, MicroUsd, ToolKind, Transcript, TurnId};

use super::effect::Errand;
use super::state::{Console, CountedTurn};
use crate::amounts::{describe_elapsed, describe_price};
use crate::counting::counted;
use crate::farewell::{FarewellRow, summarise_conversation};
use crate::file_changes::FileChanges;
use crate::text::{Paint, StyledLine};

/// From when on a time is told.
const TIMED: Duration = Duration::from_secs(2);
/// From when on a turn that changed nothing has such a line too.
const LONG: Duration = Duration::from_secs(10);

/// The effect of `/undo` in a hint. A turn can make several changes, and it reverts one.
const UNDOES: &str = "the last change";

/// The facts of a turn that has ended.
pub(crate) struct TurnSum {
    ran: Duration,
    changes: FileChanges,
    /// How many commands changed files, where no other call did.
    commands: u64,
    cost: Option<MicroUsd>,
}

impl TurnSum {
    /// The last turn of a conversation, which ran so long and began with this bill.
    pub(crate) fn of(transcript: &Transcript, ran: Duration, before: &Bill) -> Self {
        let turn = transcript.last_turn().map(|ended| &ended.turn);
        let is_own = |item: &&Item| turn.is_some() && item.turn.as_ref() == turn;
        let bill = transcript.bill();
        let is_priced = bill.calls > before.calls && bill.unpriced == before.unpriced;
        let cost = MicroUsd(bill.cost.0.saturating_sub(before.cost.0));
        Self {
            ran,
            changes: FileChanges::of(transcript.items().iter().filter(is_own)),
            commands: 0,
            cost: Some(cost).filter(|cost| is_priced && cost.0 > 0),
        }
    }

    pub(crate) fn has_changes(&self) -> bool {
        !self.changes.is_empty() || self.commands > 0
    }

    /// Whether `/diff` has something to show: a commit may have taken all changes in.
    fn is_uncommitted(&self) -> bool {
        !self.changes.is_empty() && !self.changes.has_commits()
    }

    /// Time, changes and cost, as far as they are known. Empty for a short turn without changes.
    pub(crate) fn parts(&self) -> Vec<String> {
        if !self.has_changes() && self.ran < LONG {
            return Vec::new();
        }
        let commands =
            (self.commands > 0).then(|| format!("{} changed files", counted(self.commands, "command")));
        let time = (self.ran >= TIMED).then(|| describe_elapsed(self.ran));
        let cost = self.cost.map(describe_price);
        time.into_iter().chain(self.changes.told_with_commits()).chain(commands).chain(cost).collect()
    }
}

/// The calls of the last turn that ran a command. Only the undo store knows what they changed.
pub(super) fn commands_of_turn(transcript: &Transcript) -> Vec<ItemId> {
    let turn = transcript.last_turn().map(|ended| &ended.turn);
    let is_command = |item: &&Item| {
        let ran = matches!(&item.content, Content::ToolCall(call) if call.kind == ToolKind::Execute && call.output.is_some());
        ran && turn.is_some() && item.turn.as_ref() == turn
    };
    transcript.items().iter().filter(is_command).map(|item| item.id.clone()).collect()
}

impl Console {
    /// Finishes the row that further reads would join.
    pub(super) fn settle_calls(&mut self) {
        let (look, columns) = (self.look.clone(), self.columns);
        self.front_mut().reader.settle_calls(&look, columns);
    }

    /// The summary of the conversation that is left.
    pub(super) fn farewell_rows(&self) -> Vec<StyledLine> {
        let front = self.front();
        let reader = &front.reader;
        let sat = self.now.saturating_duration_since(self.opened);
        let (dim, strong) = (self.look.style(Paint::Dim), self.look.style(Paint::Strong));
        let mark = self.look.sign("…", "~");
        let row = |(label, text): FarewellRow| match label {
            "" => StyledLine::styled(&format!("  {text}"), strong).cut(self.columns, mark),
            label => StyledLine::styled(&format!("  {label:<10}"), dim)
                .and(&text, Style::new())
                .cut(self.columns, mark),
        };
        let rows = summarise_conversation(reader.transcript(), sat, reader.work_time(), front.is_in_use);
        let rows = rows.into_iter().map(row);
        std::iter::once(StyledLine::default()).chain(rows).collect()
    }

    /// Asks what the commands of the last turn changed, where no other call changed a file. Returns whether the end of the
    /// turn is told with the answer.
    pub(super) fn ask_command_changes(&mut self, ran: Option<Duration>) -> bool {
        let front = self.front();
        let transcript = front.reader.transcript();
        let sum = TurnSum::of(transcript, Duration::ZERO, &front.billed);
        let calls = commands_of_turn(transcript);
        let Some(turn) = transcript.last_turn().map(|ended| ended.turn.clone()) else { return false };
        if sum.has_changes() || calls.is_empty() || !front.queue.is_empty() {
            return false;
        }
        self.counting = Some(CountedTurn { turn: turn.clone(), ran });
        self.errand(Errand::CountChanges(turn, calls));
        true
    }

    /// Tells the end of a turn with the number of its commands that changed files. Where another turn runs meanwhile, its end
    /// says what can be undone.
    pub(super) fn tell_command_changes(&mut self, turn: &TurnId, changes: Option<usize>) {
        let Some(counted) = self.counting.take_if(|counted| counted.turn == *turn) else { return };
        let front = self.front();
        let last = front.reader.transcript().last_turn().map(|ended| &ended.turn);
        if last == Some(turn) && front.is_idle() {
            let rows = self.turn_end_rows(counted.ran, changes.unwrap_or(0) as u64);
            self.show(rows);
        }
    }

    /// The rows below the last turn of the conversation, in which so many commands changed files.
    pub(super) fn turn_end_rows(&self, ran: Option<Duration>, commands: u64) -> Vec<StyledLine> {
        let front = self.front();
        let sum = TurnSum {
            commands,
            ..TurnSum::of(front.reader.transcript(), ran.unwrap_or_default(), &front.billed)
        };
        let parts = sum.parts();
        if parts.is_empty() {
            return Vec::new();
        }
        let (dim, strong) = (self.look.style(Paint::Dim), self.look.style(Paint::Strong));
        let mut line = StyledLine::plain(" ");
        for word in parts.join("   ").split(' ') {
            let style = match word.chars().next() {
                Some('+') => self.look.style(Paint::Good),
                Some('−') => self.look.style(Paint::Bad),
                _ => dim,
            };
            let word = if self.look.is_ascii { word.replace('−', "-") } else { word.to_owned() };
            line = line.and(" ", dim).and(&word, style);
        }
        let mut rows = vec![StyledLine::default()];
        let mark = self.look.sign("…", "~");
        if !sum.has_changes() {
            rows.push(line.cut(self.columns, mark));
            return rows;
        }
        // A narrow window has room for the commands alone, and `/undo` comes before the other one.
        let (diff, undo) = ((" review", ""), (format!(" {UNDOES}"), String::new()));
        let has_diff = self.surroundings.branch.is_some() && sum.is_uncommitted();
        let forms = [(Some(diff.0), &undo.0), (Some(diff.0), &undo.1), (Some(diff.1), &undo.1)];
        let forms = forms.into_iter().filter(|_| has_diff).chain([(None, &undo.0), (None, &undo.1)]);
        let written = forms.map(|(review, undoes)| {
            let before = match review {
                Some(review) => line.clone().and("   ", Style::new()).and("/diff", strong).and(review, dim),
                None => line.clone(),
            };
            before.and("   ", Style::new()).and("/undo", strong).and(undoes, dim)
        });
        if let Some(row) = written.into_iter().find(|row| row.width() <= self.columns) {
            rows.push(row);
        } else {
            let undo = StyledLine::plain("  ").and("/undo", strong).and(&undo.0, dim);
            rows.extend([line, undo].map(|row| row.cut(self.columns, mark)));
        }
        rows
    }
}
