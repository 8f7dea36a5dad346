//! The slot at the bottom of the screen: the frame of the input, with what goes on and the mode on its top rule.

use buddy_protocol::{ApprovalPolicy, Content, ItemStatus, PlanStepState, ToolKind};

use super::card::WIDEST;
use super::state::Console;
use crate::amounts::{describe_elapsed, describe_span};
use crate::retrying::read_retry;
use crate::text::{Paint, StyledLine, TerminalLook};

/// In a lower window the input has no frame.
const FRAMED: usize = 9;
/// In a narrower window the mode is one word.
const NARROW: usize = 60;
/// From when on it is told how long something takes.
const TIMED_SECONDS: u64 = 2;

/// The approval mode, as people say it.
pub(super) struct ModeLabel {
    pub(super) text: String,
    /// In one word.
    pub(super) short: String,
    kind: ModeKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ModeKind {
    Usual,
    Other,
    Plan,
    Everything,
}

/// Whether the input has a frame in a window of this height.
pub(super) fn is_framed(height: usize) -> bool {
    height >= FRAMED
}

impl Console {
    /// The mode.
    pub(super) fn mode_label(&self) -> ModeLabel {
        let (text, short, kind) = match (self.front().reader.transcript().is_plan_only(), self.approvals()) {
            (true, _) => ("Plan only", "Plan", ModeKind::Plan),
            _ if self.surroundings.is_untrusted => ("Read-only (untrusted)", "Read-only", ModeKind::Usual),
            (false, ApprovalPolicy::Ask) => ("Ask before changes", "Ask", ModeKind::Usual),
            (false, ApprovalPolicy::Edits) => ("Accept edits", "Accept", ModeKind::Other),
            (false, ApprovalPolicy::Auto) => ("Auto", "Auto", ModeKind::Usual),
            (false, ApprovalPolicy::None) => ("Deny what needs approval", "Deny", ModeKind::Other),
            (false, ApprovalPolicy::All) => ("Allow everything", "Allow", ModeKind::Everything),
            (false, ApprovalPolicy::Window { .. }) => ("Allow for a while", "Allow", ModeKind::Everything),
        };
        let left =
            self.window_left().map(|left| format!(", {} left", describe_span(left))).unwrap_or_default();
        let is_production = self.surroundings.is_production && kind != ModeKind::Plan;
        let whole = |mode: &str| if is_production { format!("production, {mode}") } else { mode.to_owned() };
        ModeLabel { text: whole(text) + &left, short: whole(short), kind }
    }

    fn slot_width(&self) -> usize {
        self.columns.min(WIDEST)
    }

    /// The rule above the input: what goes on, and the mode.
    pub(super) fn top_rule(&self) -> StyledLine {
        let (look, width) = (&self.look, self.slot_width());
        let mode = self.mode_label();
        let (line, edge) = (mode.line(look), mode.edge(look));
        let text = if width < NARROW { mode.short.clone() } else { mode.text.clone() };
        let label = match mode.kind {
            ModeKind::Usual => StyledLine::styled(&text, look.style(Paint::Soft)),
            ModeKind::Other | ModeKind::Plan => StyledLine::styled(&text, look.style(Paint::Strong)),
            ModeKind::Everything => StyledLine::styled(
                &format!("{} {text}", look.sign("▲", "!")),
                look.style(Paint::Warning).bold(),
            ),
        };
        let right = label.width() + 4;
        let mut row = StyledLine::default();
        if let Some((what, time)) = self.activity() {
            let paint =
                if self.front().reader.retry(self.now).is_some() { Paint::Warning } else { Paint::Agent };
            let time = time.map(|time| format!("  {time}")).unwrap_or_default();
            let room = width.saturating_sub(right + time.len() + 6);
            let what = StyledLine::styled(&what, look.style(Paint::Strong)).cut(room, look.sign("…", "~"));
            row = StyledLine::styled(self.lamp(), look.style(paint)).and(" ", anstyle::Style::new());
            row.append(what);
            row = row.and(&format!("{time} "), look.style(Paint::Dim));
        }
        let gap = width.saturating_sub(row.width() + right);
        row = row.and(&line.repeat(gap), edge).and(" ", anstyle::Style::new());
        row.append(label);
        row.and(" ", anstyle::Style::new()).and(&line.repeat(2), edge).cut(width, "")
    }

    /// The rule below the input.
    pub(super) fn bottom_rule(&self) -> StyledLine {
        let mode = self.mode_label();
        StyledLine::styled(&mode.line(&self.look).repeat(self.slot_width()), mode.edge(&self.look))
    }

    /// The current activity and its time; none if nothing runs.
    pub(super) fn activity(&self) -> Option<(String, Option<String>)> {
        let front = self.front();
        if let Some(undoing) = &self.undoing {
            let time = self.now.saturating_duration_since(undoing.began);
            let is_timed = time.as_secs() >= TIMED_SECONDS;
            return Some((undoing.text.to_owned(), is_timed.then(|| describe_elapsed(time))));
        }
        if front.is_idle() && self.counting.is_some() && self.asking.is_none() {
            return Some(("Looking at the changes".to_owned(), None));
        }
        if front.is_idle() || self.asking.is_some() {
            return None;
        }
        let time = front.elapsed(self.now).unwrap_or_default();
        let left = front.deadline.map(|deadline| deadline.saturating_duration_since(self.now));
        let left = left.map(|left| format!(", {} left", describe_elapsed(left))).unwrap_or_default();
        let is_timed = time.as_secs() >= TIMED_SECONDS || !left.is_empty();
        Some((self.doing(), is_timed.then(|| format!("{}{left}", describe_elapsed(time)))))
    }

    fn doing(&self) -> String {
        let reader = &self.front().reader;
        if let Some(text) = reader.retry(self.now) {
            let retry = read_retry(&text);
            let left = retry.as_ref().and_then(|retry| retry.seconds);
            let left = left.map(|seconds| format!(" in {seconds}s")).unwrap_or_default();
            let attempt = retry.filter(|_| self.columns >= NARROW);
            let attempt = attempt.map(|retry| format!(", {}", retry.attempt)).unwrap_or_default();
            return format!("Trying again{left}{attempt}");
        }
        let items = reader.transcript().items();
        // The plan of an earlier turn says nothing about this one.
        let turn = reader.transcript().turn();
        let own = items.iter().rev().filter(|item| turn.is_some() && item.turn.as_ref() == turn);
        let plan = own.into_iter().find_map(|item| match &item.content {
            Content::Plan { steps } => Some(steps),
            _ => None,
        });
        let step = plan.and_then(|steps| steps.iter().find(|step| step.state == PlanStepState::Active));
        if let Some(step) = step {
            return step.text.clone();
        }
        let running = reader.transcript().open_items().find_map(|item| match &item.content {
            Content::ToolCall(call) if item.status == ItemStatus::Running => Some(call.kind),
            _ => None,
        });
        let text = match running {
            Some(ToolKind::Execute) => "Running a command",
            Some(ToolKind::Edit | ToolKind::Delete | ToolKind::Move) => "Changing files",
            Some(ToolKind::Read) => "Reading",
            Some(ToolKind::Search) => "Searching",
            Some(ToolKind::Fetch) => "Fetching",
            Some(ToolKind::Think | ToolKind::Other) => "Working",
            None if reader.message().is_some() => "Writing",
            None => "Thinking",
        };
        text.to_owned()
    }
}

impl ModeLabel {
    fn line(&self, look: &TerminalLook) -> &'static str {
        match self.kind {
            ModeKind::Everything => look.sign("━", "="),
            ModeKind::Plan => look.sign("╌", "-"),
            ModeKind::Usual | ModeKind::Other => look.sign("─", "-"),
        }
    }

    fn edge(&self, look: &TerminalLook) -> anstyle::Style {
        look.style(if self.kind == ModeKind::Everything { Paint::Warning } else { Paint::Edge })
    }
}
