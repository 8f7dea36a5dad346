//! The live rows: the open end of the answer, what runs, what waits, the input and the status.

use std::time::Duration;

use anstyle::Style;
use buddy_protocol::{Content, Item, ItemStatus, ToolKind};

use super::approval::{self, CardRoom};
use super::calls::{self, CallWords};
use super::items;
use super::plan_card::render_plan_card;
use super::slot::is_framed;
use super::state::{Armed, Completes, Console};
use super::status;
use super::tasks::SessionTask;
use crate::amounts::describe_elapsed;
use crate::editor::{InputView, MENU_ROWS, render_input, render_menu};
use crate::picker_rows::render_keys;
use crate::retrying::read_retry;
use crate::screen::{QuestionPart, ScreenFrame};
use crate::text::{Paint, Span, StyledLine};

/// Rows of the live output of a call.
const TAIL_ROWS: usize = 2;
/// The same of a command that the user runs.
const OWN_TAIL_ROWS: usize = 8;
/// Rows of a thought under way.
const THOUGHT_ROWS: usize = 2;
/// Calls that are shown at the same time.
const CALLS: usize = 6;
/// From when on the time that something takes is told.
const TIMED: Duration = Duration::from_secs(2);
/// From when on it is said that something prints nothing.
const QUIET: Duration = Duration::from_secs(10);
/// From when on it is said how a command is sent to the background.
const SLOW: Duration = Duration::from_secs(5);
/// The placeholder of the input in a new conversation, and in one that goes on.
const NEW_HINT: &str = "Ask buddy anything, or press ? for keys";
const HINT: &str = "Ask buddy anything";
/// In a narrower window hints are short.
const WIDE: usize = 60;
/// The same while buddy works, in a wide window and in a narrow one.
const WORKING_HINT: &str = "Steer with Enter, queue with Tab, stop with Esc";
const SHORT_HINT: &str = "Esc stops";
/// The same while another process works.
const READING_HINT: &str = "You read along";
/// The hint beside text that is typed while a question is open, in words that fit.
const DRAFT_HINTS: [&str; 3] =
    ["  enter sends it, esc goes back to the question", "  enter sends it, esc goes back", "  esc: back"];
/// From this height on a menu has its keys below it.
const KEYED: usize = 14;
/// From this height on they are kept apart by an empty row.
const ROOMY: usize = 19;
/// Frames of the lamp, and how long each stands.
const LAMP: [&str; 4] = ["·", "•", "●", "•"];
pub(super) const LAMP_MS: u64 = 300;

impl Console {
    /// The rows below the finished ones.
    pub(super) fn frame(&self, height: usize) -> ScreenFrame {
        let (input, question) = self.input(height);
        let is_framed = is_framed(height) && self.asking.is_none() && self.picker.is_none();
        let status = status::render_status(self, self.columns, !is_framed);
        let rules = if is_framed { 2 } else { 0 };
        let room = height.saturating_sub(input.rows.len() + 2 + rules);
        let (mut rows, has_message) = self.work(room, is_framed);
        let excess = rows.len().saturating_sub(room);
        rows.drain(..excess);
        // The conversation is kept apart from the input where there is room for that, and where it does not go on.
        let goes_on = has_message && self.front().reader.goes_on_with_message()
            || self.front().reader.goes_on_with_calls();
        let is_apart = rows.first().is_some_and(|row| row.width() == 0);
        if height > input.rows.len() + 1 + rules && !goes_on && !is_apart {
            rows.insert(0, StyledLine::default());
        }
        if rows.len() > 1 && rows.last().is_some_and(|row| !row.is_empty()) {
            // A card stands apart from what is above it, if need be rather than that from what was said.
            let is_card = self.asking.is_some();
            if is_card && rows.len() > room && rows.first().is_some_and(|row| row.width() == 0) {
                rows.remove(0);
            }
            if rows.len() < room || is_card && rows.len() == room {
                rows.push(StyledLine::default());
            }
        }
        rows.extend(is_framed.then(|| self.top_rule()));
        let first = rows.len();
        let menu = if is_framed { self.completion_rows(height).len() } else { 0 };
        let mut above = input.rows;
        let below = above.split_off(above.len().saturating_sub(menu));
        rows.extend(above);
        rows.extend(is_framed.then(|| self.bottom_rule()));
        rows.extend(below);
        rows.push(status);
        let question =
            question.map(|part| QuestionPart { at: part.at.start + first..part.at.end + first, ..part });
        ScreenFrame { rows, cursor: (first + input.cursor.0, input.cursor.1), question }
    }

    /// The sign for work.
    pub(super) fn lamp(&self) -> &'static str {
        let Some(began) = self.front().reader.turn_began() else { return self.look.sign("●", "*") };
        if !self.look.has_motion || self.look.is_ascii {
            return self.look.sign("●", "*");
        }
        let passed = self.now.saturating_duration_since(began).as_millis() / u128::from(LAMP_MS);
        let count = LAMP.len() as u128;
        LAMP.get(usize::try_from(passed % count).unwrap_or(0)).copied().unwrap_or("●")
    }

    /// The rows of running work, and whether they begin with a message.
    fn work(&self, room: usize, is_framed: bool) -> (Vec<StyledLine>, bool) {
        let front = self.front();
        let dim = self.look.style(Paint::Dim);
        let mut rows = Vec::new();
        let mut below = Vec::new();
        // Nothing runs any more of what a dead process left open.
        let open = front.reader.transcript().open_items().filter(|_| !front.is_left);
        let open: Vec<&Item> = open.collect();
        let joined = front.reader.joined_row(&self.look, self.columns);
        if joined.is_some() {
            below.extend(joined);
            below.extend((!open.is_empty()).then(StyledLine::default));
        }
        for item in open.iter().take(CALLS) {
            below.extend(self.open_item(item));
        }
        if open.len() > CALLS {
            below.push(StyledLine::styled(&format!("    and {} more", open.len() - CALLS), dim));
        }
        below.extend(self.plan());
        below.extend(self.waiting_rows());
        below.extend(self.tasks.iter().skip(1).map(|task| self.task_row(task)));
        if let Some(text) = front.reader.retry(self.now) {
            let row = StyledLine::styled(self.look.sign("▲ ", "! "), self.look.style(Paint::Warning));
            // The time and the attempt are on the rule.
            let why = read_retry(&text).map_or(text.as_str(), |retry| retry.why);
            below.push(row.and(why, Style::new()).cut(self.columns, self.look.sign("…", "~")));
        }
        below.extend(self.liveness(is_framed));
        let left = room.saturating_sub(below.len()).min(Self::open_rows(room));
        rows.extend(front.reader.open_message(&self.look, self.columns, left));
        let has_message = !rows.is_empty();
        rows.extend(below);
        (rows, has_message)
    }

    /// How much of an answer stays open. More would leave the screen when a window gets narrower, where nothing can be
    /// painted any more.
    fn open_rows(room: usize) -> usize {
        (room / 2).max(1)
    }

    fn open_item(&self, item: &Item) -> Vec<StyledLine> {
        let dim = self.look.style(Paint::Dim);
        match &item.content {
            Content::ToolCall(call) if item.status == ItemStatus::Running => {
                let ran = self.front().reader.ran(&item.id, self.now);
                let silence = self.front().reader.silence(&item.id, self.now);
                let mut result = if ran >= TIMED { describe_elapsed(ran) } else { String::new() };
                // While it waits for an answer, nothing is to be heard of it.
                if silence >= QUIET && self.front().reader.transcript().asks().is_empty() {
                    result = format!("{result}, quiet {}", describe_elapsed(silence));
                }
                let mut result = StyledLine::styled(&result, dim);
                let is_own = !self.front().is_in_use;
                if is_own && ran >= SLOW && call.kind == ToolKind::Execute && self.columns >= WIDE {
                    let strong = self.look.style(Paint::Strong);
                    result = result.and("   ctrl+b", strong).and(" background", dim);
                }
                let mark = Span::new(self.look.sign("●", "*"), self.look.style(Paint::Agent));
                let words = CallWords::of(call, false, &self.look, &self.front().reader.cwd());
                let head =
                    calls::render_call_row(mark, &words, &result, Style::new(), &self.look, self.columns);
                let room = calls::room_below(self.columns);
                let tail = self.front().reader.tail(&item.id, &self.look, room, TAIL_ROWS);
                let tail = tail.iter().map(|row| StyledLine::styled(row.text().trim_start(), dim));
                std::iter::once(head).chain(calls::indent_below(tail, self.columns)).collect()
            }
            Content::UserMessage { ran: Some(ran), .. } => {
                if let Some(own) = self.front().own_aside.as_ref().filter(|own| own.item == item.id) {
                    let time = describe_elapsed(self.front().reader.ran(&item.id, self.now));
                    let lead = StyledLine::styled(&format!("task {} {time}: ", own.number), dim);
                    let line = lead.and(&items::render_own_title(ran, &self.look).text(), dim);
                    return vec![line.cut(self.columns, self.look.sign("…", "~"))];
                }
                let time = describe_elapsed(self.front().reader.ran(&item.id, self.now));
                let keys = if self.front().is_in_use { "" } else { "  esc stops it, ctrl+b background" };
                let end = format!("  {time}{keys}");
                let room = self.columns.saturating_sub(end.len());
                let head = items::render_own_title(ran, &self.look).cut(room, self.look.sign("…", "~"));
                let room = self.columns.saturating_sub(2);
                let tail = self.front().reader.tail(&item.id, &self.look, room, OWN_TAIL_ROWS);
                let tail = tail.iter().map(|row| StyledLine::plain("  ").and(&row.text(), dim));
                std::iter::once(head.and(&end, dim)).chain(tail).chain(self.quiet(item)).collect()
            }
            Content::Reasoning { .. } if self.front().reader.is_told(&item.id) => Vec::new(),
            Content::Reasoning { text } => {
                let lines: Vec<&str> =
                    text.lines().rev().filter(|line| !line.trim().is_empty()).take(THOUGHT_ROWS).collect();
                let rows = lines.into_iter().rev().map(|line| StyledLine::styled(line, dim.italic()));
                rows.map(|row| row.cut(self.columns, self.look.sign("…", "~"))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The note about running work that has printed nothing for a while: it may be stuck, or only busy.
    fn quiet(&self, item: &Item) -> Option<StyledLine> {
        let silence = self.front().reader.silence(&item.id, self.now);
        let text = format!("  quiet {}", describe_elapsed(silence));
        (silence >= QUIET).then(|| StyledLine::styled(&text, self.look.style(Paint::Dim)))
    }

    fn plan(&self) -> Vec<StyledLine> {
        let reader = &self.front().reader;
        let rows = match (reader.plan(), self.is_plan_toggled) {
            (Some(_), true) | (None, false) => return Vec::new(),
            (Some(steps), false) => render_plan_card(steps, &self.look, self.columns),
            (None, true) => {
                let steps = reader.transcript().items().iter().rev().find_map(|item| match &item.content {
                    Content::Plan { steps } => Some(steps),
                    _ => None,
                });
                let none =
                    || vec![StyledLine::styled("  There is no plan yet.", self.look.style(Paint::Dim))];
                steps.map_or_else(none, |steps| render_plan_card(steps, &self.look, self.columns))
            }
        };
        std::iter::once(StyledLine::default()).chain(rows).collect()
    }

    /// Prompts from while buddy works: it reads them after this step, or gets them when the turn has ended.
    fn waiting_rows(&self) -> Vec<StyledLine> {
        let (front, look) = (self.front(), &self.look);
        let (dim, strong) = (look.style(Paint::Dim), look.style(Paint::Strong));
        let steer = StyledLine::styled("   buddy reads it after this step", dim);
        let queued = StyledLine::styled("   queued", dim);
        let last = queued.clone().and("   ", dim).and(look.sign("↑", "up"), strong).and(" edit", dim);
        let row = |word: &str, text: &str, hint: &StyledLine| {
            let line = text.lines().next().unwrap_or_default();
            let hint = if self.columns < WIDE { StyledLine::default() } else { hint.clone() };
            let head = StyledLine::styled(&format!("  {word:<8}"), strong);
            let room = self.columns.saturating_sub(head.width() + hint.width());
            head.and_line(StyledLine::plain(line).cut(room, look.sign("…", "~"))).and_line(hint)
        };
        let steers = front.steered.iter().map(|text| row("steer", text, &steer));
        let count = front.queue.len();
        let nexts = front.queue.iter().enumerate();
        let nexts = nexts.map(|(at, text)| row("next", text, if at + 1 == count { &last } else { &queued }));
        let rows: Vec<StyledLine> = steers.chain(nexts).collect();
        if rows.is_empty() { rows } else { std::iter::once(StyledLine::default()).chain(rows).collect() }
    }

    /// The row of a task beside the conversation.
    fn task_row(&self, task: &SessionTask) -> StyledLine {
        let look = &self.look;
        let (dim, warning) = (look.style(Paint::Dim), look.style(Paint::Warning));
        let time = || task.elapsed(self.now).map(describe_elapsed).unwrap_or_default();
        let (mark, ink, state) = match (task.reader.transcript().asks().is_empty(), task.is_idle()) {
            (false, _) => (look.sign("▲", "!"), warning, "waits for you".to_owned()),
            (true, true) => (look.sign("✓", "+"), dim, "done".to_owned()),
            (true, false) => (look.sign("●", "*"), look.style(Paint::Agent), time()),
        };
        let state = StyledLine::styled(&format!("  {state}"), if ink == warning { warning } else { dim });
        let line = task.prompt.lines().next().unwrap_or_default();
        let name = StyledLine::plain("  ")
            .and(mark, ink)
            .and(&format!(" task {}  {line}", task.number), Style::new());
        let room = self.columns.saturating_sub(state.width());
        name.cut(room, look.sign("…", "~")).and_line(state).cut(self.columns, "")
    }

    /// The line that says that something goes on, where no rule says it.
    fn liveness(&self, is_framed: bool) -> Option<StyledLine> {
        let dim = self.look.style(Paint::Dim);
        if let Some((armed, _)) = self.armed {
            return match armed {
                Armed::Quit => Some(StyledLine::styled("  Press ctrl+c again to leave.", dim)),
                Armed::Rewind => None,
            };
        }
        let (what, time) = self.activity().filter(|_| !is_framed)?;
        let mut row = StyledLine::styled(self.lamp(), self.look.style(Paint::Agent)).and(" ", Style::new());
        row = row.and(&what, self.look.style(Paint::Strong));
        row.push(Span::new(&time.map(|time| format!("  {time}")).unwrap_or_default(), dim));
        Some(row.cut(self.columns, self.look.sign("…", "~")))
    }

    fn input(&self, height: usize) -> (InputView, Option<QuestionPart>) {
        let Some(asking) = &self.asking else { return (self.own_input(height), None) };
        let (mut shown, part) = approval::render_card(asking, &self.room(height));
        if asking.is_drafting && !self.draft.is_empty() {
            let (row, column) = self.typed_draft();
            shown.cursor = (shown.rows.len(), column);
            shown.rows.push(row);
        } else {
            shown.rows.extend(self.kept_draft());
        }
        (shown, Some(part))
    }

    /// The input, while no question is open.
    fn own_input(&self, height: usize) -> InputView {
        let width = self.columns;
        if let Some(picker) = &self.picker {
            return picker.view(&self.look, width, height);
        }
        if let Some(search) = &self.search {
            let prompt =
                StyledLine::styled(&format!("(search) {}: ", search.wish()), self.look.style(Paint::Warning));
            let hit = search.hit(&self.history).unwrap_or_default();
            return render_input(&prompt, hit, hit.len(), width);
        }
        let mut input = render_input(&self.prompt_line(), self.draft.shown(), self.draft.cursor(), width);
        if let (true, [row]) = (self.draft.is_empty(), input.rows.as_mut_slice()) {
            let own = self.surroundings.hint.as_ref().map(|hint| format!("{hint} or press ? for keys"));
            let hint = match (self.front().is_idle(), self.is_new()) {
                (false, _) if self.front().is_in_use => READING_HINT,
                (false, _) if width < WIDE => SHORT_HINT,
                (false, _) => WORKING_HINT,
                (true, true) => own.as_deref().unwrap_or(if width < WIDE { HINT } else { NEW_HINT }),
                (true, false) => HINT,
            };
            let hinted = row.clone().and(hint, self.look.style(Paint::Dim));
            *row = hinted.cut(width, self.look.sign("…", "~"));
        }
        input.rows.extend(self.completion_rows(height));
        input
    }

    /// The menu below the input, and its keys where there is room for them.
    fn completion_rows(&self, height: usize) -> Vec<StyledLine> {
        let Some(completion) = &self.completion else { return Vec::new() };
        let (look, width) = (&self.look, self.columns);
        let mut rows = render_menu(&completion.menu, MENU_ROWS, look, width);
        let takes = match completion.kind {
            Completes::Command => [("tab", "complete"), ("enter", "run"), ("esc", "close")],
            Completes::Path if completion.menu.is_complete() => {
                [("tab", "insert"), ("enter", "send"), ("esc", "close")]
            }
            Completes::Path => [("enter", "insert"), ("↑↓", "choose"), ("esc", "close")],
        };
        if height >= ROOMY {
            rows.push(StyledLine::default());
        }
        if height >= KEYED {
            rows.push(render_keys(&takes, look, width));
        }
        rows
    }

    /// The room for a question on a screen of this height. One row is left for the status.
    pub(super) fn room(&self, height: usize) -> CardRoom<'_> {
        let started = self.front().reader.transcript().started();
        let asks = self.asking.as_ref().map(|asking| &asking.session);
        CardRoom {
            task: self.tasks.iter().skip(1).find(|task| Some(&task.session) == asks),
            cwd: started.map(|started| started.cwd.as_str()).unwrap_or_default(),
            others: self.waiting().saturating_sub(1),
            look: &self.look,
            width: self.columns,
            height: height.saturating_sub(1 + usize::from(!self.draft.is_empty())),
        }
    }

    /// The row of the draft that is typed while a question is open, and the column of the cursor.
    fn typed_draft(&self) -> (StyledLine, usize) {
        let InputView { rows, cursor } =
            render_input(&self.prompt_line(), self.draft.shown(), self.draft.cursor(), self.columns);
        let row = rows.into_iter().nth(cursor.0).unwrap_or_default();
        let room = self.columns.saturating_sub(row.width());
        let hint = DRAFT_HINTS.into_iter().find(|hint| hint.len() <= room).unwrap_or_default();
        (row.and(hint, self.look.style(Paint::Dim)), cursor.1)
    }

    /// The draft that waits while a question is open.
    fn kept_draft(&self) -> Option<StyledLine> {
        let line = self.draft.shown().lines().last().filter(|line| !line.is_empty())?;
        let row = StyledLine::styled(self.look.sign("› ", "> "), self.look.style(Paint::Dim))
            .and(line, self.look.style(Paint::Soft))
            .and("  your draft, kept", self.look.style(Paint::Dim));
        Some(row.cut(self.columns, self.look.sign("…", "~")))
    }

    /// Whether nothing was said or typed yet.
    fn is_new(&self) -> bool {
        let front = self.front();
        self.draft.is_empty() && front.is_idle() && front.reader.transcript().items().is_empty()
    }

    fn prompt_line(&self) -> StyledLine {
        let style = self.look.style(Paint::Person);
        let place = match &self.surroundings.host {
            Some(host) => StyledLine::styled(&format!("({host})"), Style::new()),
            None => StyledLine::default(),
        };
        place.and(self.look.sign("› ", "> "), style)
    }
}
